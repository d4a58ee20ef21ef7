//! A local stand-in for AWS Lambda: runs the real function binaries behind the real Runtime API.
//!
//! Faithful where a function can notice: one call at a time a process, warm processes reused, true deadlines, a kill at
//! the timeout, payload limits, the client context byte for byte. Deliberately absent: the memory limit, freezing
//! between calls, extensions, response streaming. Nothing ties a process to a gateway that was killed: it ends by itself
//! when its next poll, or its answer, finds nobody.

mod call;
mod environment;
mod link;
mod pool;
mod process;
mod runtime_api;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::binaries::Function;
use link::Links;
use pool::Pool;
use process::Launcher;

/// The region that functions and events name; nothing here leaves the machine.
pub const REGION: &str = "us-east-1";

/// The account that ARNs name: AWS never issues it.
pub const ACCOUNT: &str = "000000000000";

/// The most bytes a synchronous call may carry, either way: 6 MB and some allowance for the envelope.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
pub const MAX_PAYLOAD_BYTES: usize = 6_291_556;

/// The most bytes of client context: 3,583 once encoded in base64.
/// <https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>
pub const MAX_CLIENT_CONTEXT_BYTES: usize = 3_583 / 4 * 3;

/// How many processes one function may have; further calls queue in order of arrival.
pub const MAX_PROCESSES: usize = 8;

/// Takes every line that a function writes: the function's name, then the line without its end.
pub type LogSink = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invoked {
    /// The handler's answer, byte for byte.
    Answered(Bytes),
    /// The function failed, as Lambda reports with `X-Amz-Function-Error`.
    FunctionError {
        /// The error's type: the handler's own, or one of Lambda's, such as `Runtime.ExitError`, `Sandbox.Timedout`,
        /// `Function.ResponseSizeTooLarge`, `Runtime.InvalidEntrypoint`.
        kind: String,
        /// The error's message: the handler's own, or Lambda's.
        message: String,
    },
    /// The call never reached a process.
    Refused(Refusal),
}

/// Why a call never reached a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No function has this name.
    #[error("there is no function `{0}`")]
    UnknownFunction(String),
    /// The payload is over [`MAX_PAYLOAD_BYTES`].
    #[error("the request payload has {0} bytes; Lambda takes 6291556")]
    PayloadTooLarge(usize),
    /// The client context is over [`MAX_CLIENT_CONTEXT_BYTES`].
    #[error("the client context has {0} bytes; Lambda takes 3583 of its base64 form")]
    ClientContextTooLarge(usize),
    /// The client context holds control characters, which no header can carry.
    #[error("the client context holds control characters; send it as one line of JSON")]
    ClientContextNotOneLine,
    /// [`Lambda::shutdown`] was called.
    #[error("the local gateway is shutting down")]
    ShuttingDown,
}

/// Why the stand-in could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No loopback port could be bound.
    #[error("cannot listen on 127.0.0.1 for the functions; allow this program to open local ports")]
    Listen(#[source] std::io::Error),
}

/// The functions, their processes and the Runtime API that they poll. Clones share one set of processes, which end with
/// the last clone or at [`Lambda::shutdown`].
#[derive(Clone)]
pub struct Lambda {
    shared: Arc<Shared>,
}

struct Shared {
    pools: BTreeMap<String, Arc<Pool>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl Lambda {
    /// Serves the Runtime API on a free loopback port; processes start with the first calls.
    ///
    /// `environment` is asked once a function. Of the `COUNTERSIGN_` variables that it gives, only those that the
    /// function declares get through.
    ///
    /// # Errors
    /// [`StartError::Listen`] when no loopback port can be bound.
    pub async fn start(
        functions: Vec<Function>,
        environment: impl Fn(&Function) -> Vec<(String, String)>,
        log: LogSink,
    ) -> Result<Self, StartError> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(StartError::Listen)?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let (tasks, stop, links) = (TaskTracker::new(), CancellationToken::new(), Arc::new(Links::default()));
        tokio::spawn(runtime_api::serve(listener, Arc::clone(&links), stop.clone()));

        let pools = functions.into_iter().map(|function| {
            let variables = environment::variables(&function, environment(&function));
            let launcher = Launcher {
                name: function.name.clone(),
                path: function.path.clone(),
                variables,
                runtime_api: format!("http://{address}"),
                links: Arc::clone(&links),
                log: Arc::clone(&log),
                tasks: tasks.clone(),
                stop: stop.clone(),
                live: Arc::default(),
            };
            (function.name, Arc::new(Pool::new(function.timeout, launcher)))
        });
        let (pools, stop_on_drop) = (pools.collect(), stop.clone().drop_guard());
        Ok(Self { shared: Arc::new(Shared { pools, tasks, stop, _stop_on_drop: stop_on_drop }) })
    }

    /// Calls a function and waits for what becomes of the call.
    ///
    /// `client_context` is the raw JSON text. Dropping the future gives up a queued call; a call that reached a process
    /// runs on, as in Lambda.
    pub async fn invoke(&self, name: &str, payload: Bytes, client_context: Option<Bytes>) -> Invoked {
        let Some(pool) = self.shared.pools.get(name) else {
            return Invoked::Refused(Refusal::UnknownFunction(name.to_owned()));
        };
        match call::Call::new(payload, client_context) {
            Ok(call) => Arc::clone(pool).invoke(call).await,
            Err(refusal) => Invoked::Refused(refusal),
        }
    }

    /// The process ids of a function's live processes, oldest first; empty for an unknown name.
    #[must_use]
    pub fn processes(&self, name: &str) -> Vec<u32> {
        self.shared.pools.get(name).map(|pool| pool.process_ids()).unwrap_or_default()
    }

    /// How many processes were ever started for a function.
    #[must_use]
    pub fn cold_starts(&self, name: &str) -> usize {
        self.shared.pools.get(name).map_or(0, |pool| pool.cold_starts())
    }

    /// Refuses further calls, kills every process and waits until all are gone. Calls under way end with an error.
    pub async fn shutdown(&self) {
        self.shared.pools.values().for_each(|pool| pool.close());
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}
