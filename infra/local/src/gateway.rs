//! The local gateway: starts every part, tells each where the others are, and stops them all.

mod environment;
mod triggers;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use axum::Router;
use countersign::clock::{Timestamp, wall_clock};
use countersign::config::dynamodb;
use countersign::consent::Owners;
use countersign::failure::Failure;
use countersign::keys::KeySet;
use countersign::ledger::{Dynamo, TableNames, create_tables};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::approvals::Approvals;
use crate::binaries::{self, BuildError, Function, Trigger};
use crate::control::{self, Control};
use crate::database::{Database, DatabaseError, Storage};
use crate::issuer::{Client, Issuer, IssuerError, Persona};
use crate::keys::{Keys, KeysError};
use crate::lambda::{Lambda, LogSink, REGION, StartError};
use crate::listener::{ListenError, listen, serve};
use crate::mcp::{self, CatalogError, ListedTool};
use crate::provider::{Endpoint, JournalError, Provider};
use crate::schedule::Schedule;
use crate::stream::StreamPoller;
use crate::tap::{Door, Tap};
use crate::web::Addresses;
use crate::world;

use environment::{Environment, own};
use triggers::{schedules, streams};

/// The gateway's id, as tools are told it.
pub const GATEWAY_ID: &str = "countersign-local";
/// Who vouches for everybody in the local world. It is a name, and the same on every port: a proposal is bound to it.
pub const ISSUER: &str = "http://127.0.0.1:8700";
const LEDGER: &str = "ledger";
const CONSENTS: &str = "consents";
/// The function that the provider's events are for.
const WEBHOOK: &str = "refund_webhook";
/// The function that takes an operator's word.
const RESOLVE: &str = "resolve_refund";
/// The function where people decide, and what the issuer calls it.
pub const PAGE: &str = "approval_page";
/// The audience of the ID tokens with which people sign in there.
pub const PAGE_CLIENT: &str = "countersign-approvals";

/// How to start.
pub struct Options {
    /// The functions, built.
    pub functions: Vec<Function>,
    /// Where everything is kept; `None` for a gateway that forgets.
    pub folder: Option<PathBuf>,
    /// The port of the MCP endpoint, which those of the pages follow; 0 for any free ones.
    pub port: u16,
    /// Where the functions' log lines go.
    pub log: LogSink,
    /// How often what is due is swept up, where the function's manifest says otherwise.
    pub sweep: Option<Duration>,
    /// Whether the provider tells of what happens to refunds, unasked.
    pub webhooks: bool,
    /// Whether the functions reach the database and the provider through taps.
    pub tapped: bool,
}

/// The taps between the functions and what they speak to.
pub struct Taps {
    /// Before the database.
    pub database: Tap,
    /// Before the payment provider.
    pub provider: Tap,
    /// Where that one is reached: closed, there is no connection to the provider.
    pub door: Door,
}

/// Why the gateway did not start. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// No port can be had.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The database did not start.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database does not answer.
    #[error("the database does not answer; see the message above, or start with --memory")]
    Tables(#[source] Box<aws_sdk_dynamodb::Error>),
    /// The world could not be made.
    #[error("the local world could not be seeded: {0}")]
    World(#[from] Failure),
    /// There are no keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// There is no issuer.
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    /// The provider's journal cannot be used.
    #[error(transparent)]
    Provider(#[from] JournalError),
    /// The provider cannot tell of anything.
    #[error("the provider's webhooks cannot be sent; see the message above")]
    Webhook(#[source] reqwest::Error),
    /// The functions cannot be run.
    #[error(transparent)]
    Lambda(#[from] StartError),
    /// A tool does not say what it is.
    #[error(transparent)]
    Contract(#[from] BuildError),
    /// A tool's contract cannot be listed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// A gateway that runs.
pub struct Gateway {
    url: String,
    web_urls: BTreeMap<String, String>,
    provider_url: String,
    control_token: String,
    lambda: Lambda,
    ledger: Dynamo,
    provider: Provider,
    taps: Option<Taps>,
    control: Arc<Control>,
    keys: Keys,
    database: Database,
    streams: Vec<StreamPoller>,
    late: watch::Sender<bool>,
    schedules: Vec<Schedule>,
    stop: CancellationToken,
}

impl Gateway {
    /// Starts everything. It answers once this returns.
    ///
    /// # Errors
    /// When a part cannot start; the parts that had started are stopped.
    pub async fn start(options: Options) -> Result<Self, GatewayError> {
        let stop = CancellationToken::new();
        let (listener, url) = listen(options.port).await?;
        let addresses = Addresses::take(&options.functions, options.port).await?;
        let web_urls = addresses.urls();
        let in_folder = |name: &str| options.folder.as_ref().map(|folder| folder.join(name));
        let keys = in_folder("keys").map_or_else(Keys::new, |folder| Keys::open(&folder))?;
        let issuer = keys.issuer(ISSUER)?;

        let database = Database::start(&in_folder("ledger.db").map_or(Storage::Memory, Storage::File))?;
        let client =
            dynamodb(REGION, Credentials::new("local", "local", None, None, "local"), Some(&database.endpoint()));
        let tables = TableNames { ledger: LEDGER.to_owned(), consents: CONSENTS.to_owned() };
        create_tables(&client, &tables).await.map_err(|error| GatewayError::Tables(Box::new(error)))?;
        let ledger = Dynamo::new(client, tables);
        let provider = Provider::open(in_folder("provider.jsonl"))?;
        world::seed(&ledger, &provider, Timestamp::now()).await?;

        let (provider_listener, provider_url) = listen(0).await?;
        let (mut reached, mut taps) = ((database.endpoint(), provider_url.clone()), None);
        if options.tapped {
            let (database, provider) = (Tap::new(reached.0), Tap::new(reached.1));
            let (listener, database_url) = listen(0).await?;
            serve(listener, database.router(), stop.clone());
            let (door, provider_url) = Door::open_at_any_port(provider.router(), stop.clone()).await?;
            (reached, taps) = ((database_url, provider_url), Some(Taps { database, provider, door }));
        }
        serve(provider_listener, provider.router(), stop.clone());
        let environment =
            Environment { keys: &keys, issuer: &issuer, url: &url, database_url: reached.0, provider_url: reached.1 };
        let variables = environment.variables()?;
        let contracts = contracts(&options.functions).await?;
        let lambda =
            Lambda::start(options.functions.clone(), |function| own(&variables, &web_urls, function), options.log)
                .await?;

        addresses.serve(&lambda, &stop);
        if let Some(url) = web_urls.get(WEBHOOK).filter(|_| options.webhooks) {
            let endpoint = Endpoint { url: url.clone(), secret: world::WEBHOOK_SECRET.to_owned() };
            provider.register_webhook(endpoint).map_err(GatewayError::Webhook)?;
        }

        let control_token = countersign::random::nonce()?.to_string();
        let (signer, consent_keys) = (keys.consent()?, keys.consent_keys()?);
        let owners = Owners::parse(world::CLIENT_OWNERS).map_err(Failure::internal)?;
        let issuer_name = ISSUER.to_owned();
        let approvals = Approvals { ledger: ledger.clone(), signer, keys: consent_keys, owners, issuer: issuer_name };
        let control = Arc::new(Control {
            approvals,
            issuer,
            resolve_url: web_urls.get(RESOLVE).cloned(),
            token: control_token.clone(),
        });
        let router = endpoint(contracts, &lambda, &control.issuer, &url, web_urls.get(PAGE), stop.clone())?;
        serve(listener, router.merge(control::router(Arc::clone(&control))), stop.clone());

        let (late, lateness) = watch::channel(false);
        let streams = streams(&options.functions, &database, &lambda, &lateness);
        let schedules = schedules(&options.functions, options.sweep, &lambda);
        Ok(Self {
            url,
            web_urls,
            provider_url,
            control_token,
            lambda,
            ledger,
            provider,
            taps,
            control,
            keys,
            database,
            streams,
            late,
            schedules,
            stop,
        })
    }

    /// Where it listens, such as `http://127.0.0.1:8700`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The MCP endpoint.
    #[must_use]
    pub fn mcp_url(&self) -> String {
        format!("{}{}", self.url, mcp::PATH)
    }

    /// The address of a function that is called by web requests, such as `http://127.0.0.1:8701`.
    #[must_use]
    pub fn http_url(&self, function: &str) -> Option<&str> {
        self.web_urls.get(function).map(String::as_str)
    }

    /// What the provider has done, as JSON for people.
    #[must_use]
    pub fn provider_url(&self) -> String {
        format!("{}/_countersign/refunds", self.provider_url)
    }

    /// Where the database listens, for `AWS_ENDPOINT_URL_DYNAMODB`.
    #[must_use]
    pub fn database_url(&self) -> String {
        self.database.endpoint()
    }

    /// What the control routes want to see.
    #[must_use]
    pub fn control_token(&self) -> &str {
        &self.control_token
    }

    /// A token for a persona, for eight hours.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn token(&self, persona: &Persona) -> Result<String, IssuerError> {
        self.control.issuer.token(persona, wall_clock(), crate::issuer::DEFAULT_TTL)
    }

    /// Where people decide.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.control.approvals
    }

    /// The ledger, seen with an administrator's rights.
    #[must_use]
    pub const fn ledger(&self) -> &Dynamo {
        &self.ledger
    }

    /// The payment provider.
    #[must_use]
    pub const fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The taps, where the gateway was started with them.
    #[must_use]
    pub const fn taps(&self) -> Option<&Taps> {
        self.taps.as_ref()
    }

    /// The functions.
    #[must_use]
    pub const fn lambda(&self) -> &Lambda {
        &self.lambda
    }

    /// The private keys.
    #[must_use]
    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The public keys by which consents are known.
    #[must_use]
    pub fn consent_keys(&self) -> &KeySet {
        &self.control.approvals.keys
    }

    /// Makes the streams late, as they may be by seconds in production, or lets them go on.
    pub fn delay_streams(&self, late: bool) {
        self.late.send_replace(late);
    }

    /// Runs every schedule once, now.
    pub async fn sweep(&self) {
        for schedule in &self.schedules {
            schedule.fire().await;
        }
    }

    /// Stops everything that was started.
    pub async fn shutdown(self) {
        let Self { lambda, database, streams, schedules, stop, .. } = self;
        drop(schedules);
        for stream in streams {
            stream.stop().await;
        }
        stop.cancel();
        lambda.shutdown().await;
        database.shutdown().await;
    }
}

/// Asks every tool's binary for its contract.
async fn contracts(functions: &[Function]) -> Result<Vec<ListedTool>, GatewayError> {
    let tools = functions.iter().filter(|function| function.trigger == Trigger::Tool);
    futures::future::try_join_all(tools.map(async |function| {
        let text = binaries::contract(function).await?;
        let contract = serde_json::from_str(&text).map_err(|_| BuildError::Contract(function.name.clone()))?;
        Ok(ListedTool { target: countersign::tool::target(&function.name), contract })
    }))
    .await
}

fn endpoint(
    tools: Vec<ListedTool>,
    lambda: &Lambda,
    issuer: &Issuer,
    url: &str,
    page: Option<&String>,
    shutdown: CancellationToken,
) -> Result<Router, GatewayError> {
    let verifier = issuer.clone();
    let settings = mcp::Settings {
        gateway_id: GATEWAY_ID.to_owned(),
        issuer: url.to_owned(),
        authorizer: Arc::new(move |token| verifier.accepts(token, wall_clock())),
        shutdown,
    };
    let router = mcp::router(tools, Arc::new(lambda.clone()), settings)?;
    let page = page.map(|page| Client { id: PAGE_CLIENT.to_owned(), redirect_uris: vec![format!("{page}/callback")] });
    let clients = page.into_iter().collect();
    Ok(router.merge(issuer.router(url, &format!("{url}{}", mcp::PATH), clients)))
}
