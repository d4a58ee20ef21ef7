//! The functions of a gateway once more, apart from it: with its keys, and circumstances of their own.

use std::sync::Arc;
use std::time::Duration;

use countersign::caller::Caller;
use local::binaries;
use local::gateway::GATEWAY_ID;
use local::lambda::{Invoked, Lambda};
use serde_json::Value;

use crate::App;
use crate::direct::client_context;

/// Functions with circumstances of their own.
pub struct Apart<'a> {
    app: &'a App,
    lambda: Lambda,
}

impl App {
    /// The tools with this database and this much time a call, where the manifest says otherwise.
    pub async fn apart(&self, database: String, timeout: Option<Duration>) -> Apart<'_> {
        let mut functions = binaries::build(|_| ()).await.unwrap();
        for function in &mut functions {
            function.timeout = timeout.unwrap_or(function.timeout);
        }
        let keys = self.gateway.keys();
        let variables = [
            ("AWS_ENDPOINT_URL_DYNAMODB", database),
            ("COUNTERSIGN_LEDGER_TABLE", "ledger".to_owned()),
            ("COUNTERSIGN_CONSENTS_TABLE", "consents".to_owned()),
            ("COUNTERSIGN_GATEWAY_ID", GATEWAY_ID.to_owned()),
            ("COUNTERSIGN_CALLER_KEYS", keys.caller_set().unwrap()),
            ("COUNTERSIGN_CONSENT_KEYS", keys.consent_set().unwrap()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let lambda = Lambda::start(functions, |_| variables.to_vec(), Arc::new(|_: &str, _: &str| ())).await.unwrap();
        Apart { app: self, lambda }
    }
}

impl Apart<'_> {
    /// Calls a tool as a caller. A function error fails the test.
    pub async fn call(&self, by: &Caller, tool: &str, arguments: &Value) -> Value {
        let context = client_context(tool, &self.app.assertion(by, tool));
        match self.lambda.invoke(tool, arguments.to_string().into(), Some(context)).await {
            Invoked::Answered(answer) => serde_json::from_slice(&answer).unwrap(),
            other => panic!("{tool} did not answer: {other:?}"),
        }
    }

    /// Ends the processes.
    pub async fn shutdown(self) {
        self.lambda.shutdown().await;
    }
}
