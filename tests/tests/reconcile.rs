//! Reconciliation: what is not known is found out, by evidence alone; and what a person decides where there is none.

#[path = "reconcile/absence.rs"]
mod absence;
#[path = "reconcile/attention.rs"]
mod attention;
#[path = "reconcile/cancel.rs"]
mod cancel;
#[path = "reconcile/conflict.rs"]
mod conflict;
#[path = "reconcile/found.rs"]
mod found;
#[path = "reconcile/meanwhile.rs"]
mod meanwhile;
#[path = "reconcile/operator.rs"]
mod operator;
#[path = "reconcile/provider.rs"]
mod provider;
#[path = "reconcile/resolve.rs"]
mod resolve;
#[path = "reconcile/scene.rs"]
mod scene;
#[path = "reconcile/webhook.rs"]
mod webhook;
