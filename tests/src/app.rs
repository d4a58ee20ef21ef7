//! A gateway under test, and what tests do with it.

use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex};

use countersign::bounded::{Currency, Tenant};
use countersign::caller::Caller;
use countersign::change::{Change, Step};
use countersign::clock::Timestamp;
use countersign::consent::{Decided, Verdict};
use countersign::failure::Failure;
use countersign::ledger::{Commit, Ledger};
use local::binaries::{self, Function, Trigger};
use local::client::{Answer, Client};
use local::gateway::{Gateway, ISSUER, Options};
use local::issuer::Persona;
use local::world;
use refunds::{Order, OrderId};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());
static SHARED: OnceCell<App> = OnceCell::const_new();

/// Runs a test on the runtime that outlives every test of the binary, and with it the shared gateway.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    RUNTIME.block_on(test)
}

/// The binary's shared gateway.
pub async fn shared() -> &'static App {
    SHARED.get_or_init(App::start).await
}

/// A gateway of the test's own without a stream: nothing is sent unless the test calls the worker or the sweeper, which
/// would take what another test has made due as well. It lives until the binary ends.
pub async fn quiet() -> &'static App {
    Box::leak(Box::new(App::quiet().await))
}

/// A gateway with what its functions logged.
pub struct App {
    /// The gateway.
    pub gateway: Gateway,
    logs: Arc<Mutex<Vec<String>>>,
}

impl App {
    /// Starts a gateway in memory, on free ports. What is due is swept up only when a test says so.
    pub async fn start() -> Self {
        Self::with(binaries::build(|_| ()).await.unwrap(), false, true).await
    }

    /// Starts one without a stream: nothing is sent unless a test calls the worker.
    pub async fn quiet() -> Self {
        Self::with(without_stream().await, false, false).await
    }

    /// Starts one without a stream to whose webhook the provider tells what happens.
    pub async fn told() -> Self {
        Self::with(without_stream().await, true, true).await
    }

    /// Starts one without a stream whose functions reach the database and the provider through taps: nothing passes
    /// them but what a test brings about.
    pub async fn quiet_and_tapped() -> Self {
        Self::with(without_stream().await, true, false).await
    }

    /// Starts one without a stream, behind taps, to whose webhook the provider tells what happens.
    pub async fn told_and_tapped() -> Self {
        Self::with(without_stream().await, true, true).await
    }

    /// The same where one function has this much time a call.
    pub async fn hurried(function: &str, timeout: std::time::Duration) -> Self {
        let mut functions = without_stream().await;
        for hurried in functions.iter_mut().filter(|each| each.name == function) {
            hurried.timeout = timeout;
        }
        Self::with(functions, true, true).await
    }

    /// Starts one whose functions reach the database and the provider through taps.
    pub async fn tapped() -> Self {
        Self::with(binaries::build(|_| ()).await.unwrap(), true, false).await
    }

    async fn with(functions: Vec<Function>, tapped: bool, webhooks: bool) -> Self {
        let logs = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&logs);
        let log = Arc::new(move |function: &str, line: &str| sink.lock().unwrap().push(format!("{function}: {line}")));
        let sweep = Some(std::time::Duration::from_secs(24 * 60 * 60));
        let options = Options { functions, folder: None, port: 0, log, sweep, webhooks, tapped };
        Self { gateway: Gateway::start(options).await.unwrap(), logs }
    }

    /// Stops the gateway and every process that it started.
    pub async fn stop(self) {
        self.gateway.shutdown().await;
    }

    /// Every line that the functions have logged so far.
    pub fn logs(&self) -> Vec<String> {
        self.logs.lock().unwrap().clone()
    }

    /// A persona.
    pub fn persona(&self, name: &str) -> &'static Persona {
        Persona::find(name).unwrap()
    }

    /// An MCP client of a persona's.
    pub async fn client(&self, persona: &str) -> Client {
        let token = self.gateway.token(self.persona(persona)).unwrap();
        Client::connect(&self.gateway.mcp_url(), &token).await.unwrap()
    }

    /// A new order of a tenant's, paid in full, with its payment at the provider.
    pub async fn order(&self, tenant: &str, currency: Currency, captured: i64) -> Order {
        let id = format!("ord_T{}", crate::unique());
        let order = world::order_of(tenant, &id, currency, captured, 0, None, Timestamp::now()).unwrap();
        self.gateway.provider().register(world::payment(&order));
        let key = Order::key(&Tenant::parse(tenant).unwrap(), &order.id);
        let created =
            self.gateway.ledger().commit(&Change(vec![Step::create(key.clone(), order.item())])).await.unwrap();
        match created {
            Commit::Done => {}
            // The SDK repeats what a busy machine answers too late, and then the order is there: this very one.
            Commit::Lost(seen) => assert_eq!(seen.item(&key), Some(&order.item())),
            Commit::Contended => panic!("nobody else makes this order"),
        }
        order
    }

    /// The order as it is now.
    pub async fn order_now(&self, tenant: &str, id: &OrderId) -> Order {
        let key = Order::key(&Tenant::parse(tenant).unwrap(), id);
        let seen = self.gateway.ledger().load(std::slice::from_ref(&key)).await.unwrap();
        Order::read(seen.item(&key).unwrap()).unwrap()
    }

    /// Changes the ledger as an administrator would.
    pub async fn commit(&self, change: Change) {
        assert_eq!(self.gateway.ledger().commit(&change).await.unwrap(), Commit::Done);
    }

    /// A persona as the interceptor would name it.
    pub fn caller(&self, persona: &str) -> Caller {
        let persona = self.persona(persona);
        let caller = json!({
            "tenant": persona.tenant, "issuer": ISSUER, "principal": persona.principal,
            "actor": persona.actor, "client": persona.client, "roles": persona.roles,
        });
        serde_json::from_value(caller).unwrap()
    }

    /// Prepares a refund as `acme-agent` and returns the proposal's id.
    pub async fn prepared(&self, order: &Order, amount: i64) -> String {
        let answer = self.direct("acme-agent").call("prepare_refund", prepare(order, amount)).await;
        answer["proposal_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Prepares a refund as `acme-agent` and approves it as `acme-approver`.
    pub async fn approved(&self, order: &Order, amount: i64) -> String {
        let proposal = self.prepared(order, amount).await;
        self.decide("acme-approver", &proposal, Verdict::Approval).await.unwrap();
        proposal
    }

    /// Decides about a proposal as it is shown to this persona.
    pub async fn decide(&self, persona: &str, proposal: &str, verdict: Verdict) -> Result<Decided, Failure> {
        let persona = self.persona(persona);
        let shown = self.gateway.approvals().show(persona, proposal).await?;
        self.gateway.approvals().decide(persona, proposal, &shown.digest, verdict, shown.acknowledge).await
    }

    /// What stands in the way of an order's refunds, as its summary says.
    pub async fn blocked(&self, order: &Order) -> String {
        let summary = self.direct("acme-agent").call("get_order_summary", json!({ "order_id": order.id })).await;
        summary["refunds_blocked"].as_str().unwrap_or_else(|| panic!("{summary}")).to_owned()
    }

    /// Waits until an operation of `acme-agent`'s is in this state.
    pub async fn until(&self, operation: &str, state: &str) -> Value {
        self.until_as(&self.caller("acme-agent"), operation, state).await
    }

    /// Waits until an operation of this requester's is in this state.
    pub async fn until_as(&self, by: &Caller, operation: &str, state: &str) -> Value {
        let direct = self.direct_as(by.clone());
        for _ in 0..2_000 {
            let status = direct.call("get_refund_status", json!({ "operation_id": operation })).await;
            if status["state"] == state {
                return status;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{operation} did not become {state}");
    }
}

/// The functions, with a schedule in place of the stream.
async fn without_stream() -> Vec<Function> {
    let mut functions = binaries::build(|_| ()).await.unwrap();
    for function in functions.iter_mut().filter(|function| function.trigger == Trigger::Stream) {
        function.trigger = Trigger::Schedule;
    }
    functions
}

/// The arguments of `prepare_refund`.
pub fn prepare(order: &Order, amount: i64) -> Value {
    json!({
        "order_id": order.id, "amount_minor": amount, "currency": order.currency, "reason_code": "damaged",
    })
}

/// The arguments of `submit_refund`.
pub fn submit(proposal: &str, key: &str) -> Value {
    json!({ "proposal_id": proposal, "idempotency_key": key })
}

/// A key that no other test uses.
pub fn key() -> String {
    format!("idempotency-key-{:08}", crate::unique())
}

/// The code of a failure that came over MCP or directly; `ok` for an answer.
pub fn code(answer: &Value) -> &str {
    answer.pointer("/error/code").and_then(Value::as_str).unwrap_or("ok")
}

/// The answer of an MCP call as a value.
pub fn value(answer: Answer) -> Value {
    answer.value
}
