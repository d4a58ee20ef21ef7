//! What calls the functions: the MCP endpoint, the ledger's stream and the schedules.

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::binaries::{Function, Trigger};
use crate::database::Database;
use crate::lambda::{Invoked, Lambda};
use crate::mcp::Functions;
use crate::schedule::Schedule;
use crate::stream::{self, StreamPoller};

use super::LEDGER;

impl Functions for Lambda {
    fn invoke<'a>(
        &'a self,
        function: &'a str,
        payload: Bytes,
        client_context: Option<Bytes>,
    ) -> BoxFuture<'a, Result<Bytes, String>> {
        async move {
            match Self::invoke(self, function, payload, client_context).await {
                Invoked::Answered(answer) => Ok(answer),
                Invoked::FunctionError { kind, message } => Err(format!("{kind}: {message}")),
                Invoked::Refused(refusal) => Err(refusal.to_string()),
            }
        }
        .boxed()
    }
}

/// Carries the ledger's stream to each function that is triggered by it, but while it is `late`.
pub(super) fn streams(
    functions: &[Function],
    database: &Database,
    lambda: &Lambda,
    late: &watch::Receiver<bool>,
) -> Vec<StreamPoller> {
    let triggered = functions.iter().filter(|function| function.trigger == Trigger::Stream);
    let start = |function: &Function| {
        let settings = stream::Settings {
            key_prefix: countersign::operation::OPERATION.prefix(),
            ..stream::Settings::new(LEDGER)
        };
        let (lambda, name, late) = (lambda.clone(), function.name.clone(), late.clone());
        StreamPoller::start(database.engine(), settings, move |event| {
            let (lambda, name, mut late) = (lambda.clone(), name.clone(), late.clone());
            async move {
                // Nobody who could end the delay is left once this fails.
                let _ = late.wait_for(|late| !late).await;
                lambda.invoke(&name, event, None).await
            }
        })
    };
    triggered.map(start).collect()
}

pub(super) fn schedules(functions: &[Function], every: Option<Duration>, lambda: &Lambda) -> Vec<Schedule> {
    let scheduled = functions.iter().filter_map(|function| Some((function, function.schedule?)));
    let start = |(function, declared): (&Function, Duration)| {
        let (lambda, name) = (lambda.clone(), function.name.clone());
        Schedule::start(function.name.clone(), every.unwrap_or(declared), move |event| {
            let (lambda, name) = (lambda.clone(), name.clone());
            async move { lambda.invoke(&name, event, None).await }
        })
    };
    scheduled.map(start).collect()
}
