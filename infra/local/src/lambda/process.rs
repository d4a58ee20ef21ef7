//! One process of a function: started, given calls one at a time, killed.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::Fuse;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::call::{Call, Offer, platform_error};
use super::link::Links;
use super::{Invoked, LogSink};

/// How long a process may take from its start to its first poll. Lambda gives 10 seconds; unoptimized builds on a busy
/// machine get more. It counts toward no call's timeout.
/// <https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html>
const INIT_LIMIT: Duration = Duration::from_secs(30);

/// Where a longer line is cut: the most that CloudWatch takes of one event.
const MAX_LINE_BYTES: u64 = 256 * 1024;

/// How long an exit waits for the last lines, should another process still hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Starts the processes of one function.
pub(super) struct Launcher {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) runtime_api: String,
    pub(super) links: Arc<Links>,
    pub(super) log: LogSink,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    /// The ids of the processes that run now, oldest first.
    pub(super) live: Arc<Mutex<Vec<u32>>>,
}

/// A started process. Dropping it kills it.
pub(super) struct Process {
    offers: mpsc::Sender<Offer>,
    init_failed: Fuse<oneshot::Receiver<Invoked>>,
    exit: watch::Receiver<Option<String>>,
    kill: CancellationToken,
    _kill_on_drop: DropGuard,
}

/// How a call ended, and what that means for the process.
pub(super) enum Ended {
    /// The process is ready for another call.
    Ready(Invoked),
    /// The process is gone, and the call with it.
    Lost(Invoked),
    /// The process is gone; it never saw the call.
    Unseen(Invoked),
}

impl Launcher {
    /// Starts a process with an address of its own, which is how the Runtime API knows who polls.
    pub(super) fn launch(&self) -> io::Result<Process> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret)?;
        let token = data_encoding::HEXLOWER.encode(&secret);
        // Its address is there before the process is: a poll of an address that nobody knows would end it.
        let (offers, init_failed) = self.links.open(token.clone(), &self.name);
        let mut child = self.command(&token).spawn().inspect_err(|_| self.links.close(&token))?;
        let id = child.id().unwrap_or_default();
        let lines = [self.forward(child.stdout.take()), self.forward(child.stderr.take())];

        let (exited, exit) = watch::channel(None);
        let kill = self.stop.child_token();
        let (links, live, killed) = (Arc::clone(&self.links), Arc::clone(&self.live), kill.clone());
        live.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        self.tasks.spawn(async move {
            let status = end_of(&mut child, killed).await;
            live.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != id);
            let _bounded = timeout(LAST_WORDS, futures::future::join_all(lines)).await;
            links.close(&token);
            exited.send_replace(Some(in_words(status)));
        });
        let kill_on_drop = kill.clone().drop_guard();
        Ok(Process { offers, init_failed: init_failed.fuse(), exit, kill, _kill_on_drop: kill_on_drop })
    }

    fn command(&self, token: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear().envs(&self.variables);
        command.env("AWS_LAMBDA_RUNTIME_API", format!("{}/{token}", self.runtime_api));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // A group of its own: Ctrl-C in the terminal is for the gateway, which then ends its functions in order.
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    /// Passes on what a process writes, line by line.
    fn forward(&self, pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> tokio::task::JoinHandle<()> {
        let (log, name) = (Arc::clone(&self.log), self.name.clone());
        tokio::spawn(async move {
            let Some(pipe) = pipe else { return };
            let mut lines = BufReader::new(pipe);
            let mut line = Vec::new();
            while let Ok(1..) = (&mut lines).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await {
                log(&name, String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
                line.clear();
            }
        })
    }
}

impl Process {
    /// Whether the process still runs, as far as is known.
    pub(super) fn is_alive(&self) -> bool {
        self.exit.borrow().is_none()
    }

    /// Gives the process a call and waits for the call's end. `limit` counts from the moment the process takes it.
    pub(super) async fn call(&mut self, call: Call, limit: Duration) -> Ended {
        let id = call.id.clone();
        let (taken, was_taken) = oneshot::channel();
        let (reply, replied) = oneshot::channel();
        if self.offers.try_send(Offer { call, timeout: limit, taken, reply }).is_err() {
            return Ended::Unseen(self.exit_error(&id).await);
        }
        let deadline = tokio::select! {
            biased;
            Ok(deadline) = was_taken => deadline,
            Ok(failure) = &mut self.init_failed => {
                self.kill().await;
                return Ended::Unseen(failure);
            }
            how = exit_of(&mut self.exit) => return Ended::Unseen(platform_error("Runtime.ExitError", &id, how)),
            () = sleep(INIT_LIMIT) => {
                self.kill().await;
                let message = format!("the process did not ask for a call within {} seconds", INIT_LIMIT.as_secs());
                return Ended::Unseen(platform_error("Sandbox.Timedout", &id, message));
            }
        };
        tokio::select! {
            biased;
            Ok(outcome) = replied => Ended::Ready(outcome),
            how = exit_of(&mut self.exit) => Ended::Lost(platform_error("Runtime.ExitError", &id, how)),
            () = sleep_until(deadline) => {
                self.kill().await;
                let message = format!("Task timed out after {:.2} seconds", limit.as_secs_f64());
                Ended::Lost(platform_error("Sandbox.Timedout", &id, message))
            }
        }
    }

    async fn exit_error(&mut self, id: &str) -> Invoked {
        platform_error("Runtime.ExitError", id, exit_of(&mut self.exit).await)
    }

    /// SIGKILL; returns when the process is gone.
    async fn kill(&mut self) {
        self.kill.cancel();
        exit_of(&mut self.exit).await;
    }
}

async fn end_of(child: &mut Child, killed: CancellationToken) -> io::Result<ExitStatus> {
    tokio::select! {
        status = child.wait() => return status,
        () = killed.cancelled() => {}
    }
    child.start_kill()?;
    child.wait().await
}

async fn exit_of(exit: &mut watch::Receiver<Option<String>>) -> String {
    // The sender goes only after it told; an error would mean that the whole runtime is going.
    exit.wait_for(Option::is_some).await.ok().and_then(|how| how.clone()).unwrap_or_default()
}

fn in_words(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) if status.success() => "Runtime exited without providing a reason".to_owned(),
        Ok(status) => format!("Runtime exited with error: {status}"),
        Err(error) => format!("Runtime exited in an unknown way: {error}"),
    }
}
