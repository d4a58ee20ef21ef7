//! The page once more, apart from the gateway: with settings and an issuer of a test's own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use local::binaries;
use local::gateway::{ISSUER, PAGE, PAGE_CLIENT};
use local::lambda::Lambda;
use local::{web, world};
use tests::App;
use tokio::net::TcpListener;

pub(crate) type Settings = BTreeMap<&'static str, String>;

/// A page with settings of its own.
pub(crate) struct Apart {
    pub(crate) url: String,
    pub(crate) lambda: Lambda,
    logs: Arc<Mutex<Vec<String>>>,
}

/// Serves a router on a port of its own.
pub(crate) async fn served(router: impl FnOnce(&str) -> Router) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = router(&url);
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

impl Apart {
    /// The page beside a gateway's records, with the settings that the gateway would give it, but for these.
    pub(crate) async fn start(app: &App, edit: impl FnOnce(&mut Settings)) -> Self {
        let keys = app.gateway.keys();
        let mut settings: Settings = BTreeMap::from([
            ("AWS_ENDPOINT_URL_DYNAMODB", app.gateway.database_url()),
            ("COUNTERSIGN_LEDGER_TABLE", "ledger".to_owned()),
            ("COUNTERSIGN_CONSENTS_TABLE", "consents".to_owned()),
            ("COUNTERSIGN_CONSENT_KEYS", keys.consent_set().unwrap()),
            ("COUNTERSIGN_CONSENT_SIGNING_KEY", keys.consent_jwk().to_owned()),
            ("COUNTERSIGN_CLIENT_OWNERS", world::CLIENT_OWNERS.to_owned()),
            ("COUNTERSIGN_STATE_KEY", keys.state().to_owned()),
            ("COUNTERSIGN_ISSUER", ISSUER.to_owned()),
            ("COUNTERSIGN_PAGE_ISSUER", ISSUER.to_owned()),
            ("COUNTERSIGN_PAGE_CLIENT_ID", PAGE_CLIENT.to_owned()),
            ("COUNTERSIGN_PAGE_ISSUER_DOCUMENT", format!("{}/.well-known/openid-configuration", app.gateway.url())),
        ]);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        settings.insert("COUNTERSIGN_PAGE_URL", url.clone());
        edit(&mut settings);
        let functions = binaries::build(|_| ()).await.unwrap();
        let logs = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&logs);
        let log = Arc::new(move |_: &str, line: &str| sink.lock().unwrap().push(line.to_owned()));
        let given: Vec<(String, String)> = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let lambda = Lambda::start(functions, |_| given.clone(), log).await.unwrap();
        let router = web::router(lambda.clone(), PAGE, &url);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, lambda, logs }
    }

    pub(crate) fn logs(&self) -> Vec<String> {
        self.logs.lock().unwrap().clone()
    }
}
