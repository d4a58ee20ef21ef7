//! The local gateway as its users meet it: the command line, the files it keeps, and the protocol it speaks.

#[path = "gateway/disk.rs"]
mod disk;
#[path = "gateway/door.rs"]
mod door;
#[path = "gateway/errors.rs"]
mod errors;
#[path = "gateway/life.rs"]
mod life;
#[path = "gateway/operators.rs"]
mod operators;
#[path = "gateway/people.rs"]
mod people;
#[path = "gateway/protocol.rs"]
mod protocol;
#[path = "gateway/sessions.rs"]
mod sessions;
#[path = "gateway/siege.rs"]
mod siege;
