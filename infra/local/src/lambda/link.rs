//! What joins a process that polls the Runtime API with the pool that gave it a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::Invoked;
use super::call::{Call, Offer};

/// The links of all live processes, by the token that makes up each one's address.
#[derive(Default)]
pub(super) struct Links {
    by_token: Mutex<HashMap<String, Arc<Link>>>,
}

impl Links {
    /// Opens the address `token` for a process of `function`: where to put its calls, and where to learn why it cannot
    /// start.
    pub(super) fn open(&self, token: String, function: &str) -> (mpsc::Sender<Offer>, oneshot::Receiver<Invoked>) {
        // Room for one: a process is given its next call only after it answered the last.
        let (offer, offers) = mpsc::channel(1);
        let (init, init_failed) = oneshot::channel();
        let link = Link {
            function: function.to_owned(),
            offers: tokio::sync::Mutex::new(offers),
            running: Mutex::new(None),
            init: Mutex::new(Some(init)),
        };
        self.locked().insert(token, Arc::new(link));
        (offer, init_failed)
    }

    pub(super) fn find(&self, token: &str) -> Option<Arc<Link>> {
        self.locked().get(token).cloned()
    }

    pub(super) fn close(&self, token: &str) {
        self.locked().remove(token);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Arc<Link>>> {
        self.by_token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The Runtime API's side of one process.
pub(super) struct Link {
    function: String,
    offers: tokio::sync::Mutex<mpsc::Receiver<Offer>>,
    running: Mutex<Option<Running>>,
    init: Mutex<Option<oneshot::Sender<Invoked>>>,
}

struct Running {
    id: String,
    reply: oneshot::Sender<Invoked>,
}

/// A call that was taken: it may run for `timeout` from now.
pub(super) struct Taken {
    pub(super) function: String,
    pub(super) call: Call,
    pub(super) timeout: Duration,
}

/// The process asked for a call while it still owes the answer to one.
#[derive(Debug)]
pub(super) struct StillRunning;

impl Link {
    /// Waits for the next call. `Ok(None)` once there will be none.
    pub(super) async fn next(&self) -> Result<Option<Taken>, StillRunning> {
        if self.running().is_some() {
            return Err(StillRunning);
        }
        let Some(offer) = self.offers.lock().await.recv().await else { return Ok(None) };
        // INVARIANT: no await from here on. A poll whose connection breaks is dropped at an await, and must not take a
        // call with it.
        let Offer { call, timeout, taken, reply } = offer;
        *self.running() = Some(Running { id: call.id.clone(), reply });
        // Nobody listens any more when the gateway stopped meanwhile; the process is about to be killed.
        let _unheard = taken.send(Instant::now() + timeout);
        Ok(Some(Taken { function: self.function.clone(), call, timeout }))
    }

    /// Hands over what came back for the running call; false when `id` is not it.
    pub(super) fn finish(&self, id: &str, outcome: Invoked) -> bool {
        match self.running().take_if(|running| running.id == id) {
            Some(running) => {
                let _unheard = running.reply.send(outcome);
                true
            }
            None => false,
        }
    }

    /// Hands over why the process cannot start.
    pub(super) fn fail_init(&self, outcome: Invoked) {
        let init = self.init.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(init) = init {
            let _unheard = init.send(outcome);
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
