//! Invocations: the real functions with the bytes and the client contexts that a gateway, a model or an intruder could
//! send, and what they answer.

#[path = "invoke/alike.rs"]
mod alike;
#[path = "invoke/arguments.rs"]
mod arguments;
#[path = "invoke/case.rs"]
mod case;
#[path = "invoke/consents.rs"]
mod consents;
#[path = "invoke/contexts.rs"]
mod contexts;
#[path = "invoke/failures.rs"]
mod failures;
#[path = "invoke/forgeries.rs"]
mod forgeries;
#[path = "invoke/hostile.rs"]
mod hostile;
#[path = "invoke/interceptor.rs"]
mod interceptor;
#[path = "invoke/issuer.rs"]
mod issuer;
#[path = "invoke/preparing.rs"]
mod preparing;
#[path = "invoke/responses.rs"]
mod responses;
#[path = "invoke/situations.rs"]
mod situations;
#[path = "invoke/tenants.rs"]
mod tenants;
