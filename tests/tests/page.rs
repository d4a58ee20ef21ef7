//! The approval page over the real function: who gets in, what is shown, what a form may do, and what nobody can.

#[path = "page/apart.rs"]
mod apart;
#[path = "page/became.rs"]
mod became;
#[path = "page/blocked.rs"]
mod blocked;
#[path = "page/deciding.rs"]
mod deciding;
#[path = "page/forms.rs"]
mod forms;
#[path = "page/issuers.rs"]
mod issuers;
#[path = "page/open.rs"]
mod open;
#[path = "page/outlook.rs"]
mod outlook;
#[path = "page/person.rs"]
mod person;
#[path = "page/refusals.rs"]
mod refusals;
#[path = "page/sessions.rs"]
mod sessions;
#[path = "page/showing.rs"]
mod showing;
#[path = "page/starting.rs"]
mod starting;
