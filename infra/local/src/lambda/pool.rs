//! The processes of one function: started on demand, kept warm, bounded in number.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::call::{Call, platform_error};
use super::process::{Ended, Launcher, Process};
use super::{Invoked, MAX_PROCESSES, Refusal};

/// One function's processes and the calls that wait for them.
pub(super) struct Pool {
    timeout: Duration,
    launcher: Launcher,
    /// One permit a process; waiting calls get them in order of arrival.
    places: Arc<Semaphore>,
    /// The most recently used last, and first to be used again.
    idle: Mutex<Vec<Process>>,
    cold_starts: AtomicUsize,
}

impl Pool {
    pub(super) fn new(timeout: Duration, launcher: Launcher) -> Self {
        let places = Arc::new(Semaphore::new(MAX_PROCESSES));
        Self { timeout, launcher, places, idle: Mutex::default(), cold_starts: AtomicUsize::new(0) }
    }

    /// Waits for a place, then for the call. From then on the call is a task of its own: it ends even if nobody waits.
    pub(super) async fn invoke(self: Arc<Self>, call: Call) -> Invoked {
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return Invoked::Refused(Refusal::ShuttingDown);
        };
        let tasks = self.launcher.tasks.clone();
        let running = tasks.spawn(async move {
            let invoked = self.run(call).await;
            drop(place);
            invoked
        });
        running.await.unwrap_or(Invoked::Refused(Refusal::ShuttingDown))
    }

    async fn run(&self, call: Call) -> Invoked {
        while let Some(mut process) = self.most_recently_used() {
            match process.call(call.clone(), self.timeout).await {
                Ended::Ready(invoked) => return self.keep(process, invoked),
                Ended::Lost(invoked) => return invoked,
                // It died after its last call; this call is not to blame and goes to another.
                Ended::Unseen(_) => {}
            }
        }
        match self.launch() {
            Ok(mut process) => match process.call(call, self.timeout).await {
                Ended::Ready(invoked) => self.keep(process, invoked),
                Ended::Lost(invoked) | Ended::Unseen(invoked) => invoked,
            },
            Err(error) => platform_error("Runtime.InvalidEntrypoint", &call.id, error),
        }
    }

    fn launch(&self) -> io::Result<Process> {
        let process = self.launcher.launch()?;
        self.cold_starts.fetch_add(1, Ordering::Relaxed);
        Ok(process)
    }

    fn keep(&self, process: Process, invoked: Invoked) -> Invoked {
        self.idle().push(process);
        invoked
    }

    fn most_recently_used(&self) -> Option<Process> {
        let mut idle = self.idle();
        idle.retain(Process::is_alive);
        idle.pop()
    }

    pub(super) fn process_ids(&self) -> Vec<u32> {
        self.launcher.live.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn cold_starts(&self) -> usize {
        self.cold_starts.load(Ordering::Relaxed)
    }

    /// Turns away the calls that wait and those to come.
    pub(super) fn close(&self) {
        self.places.close();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
