//! The scene: a refund that was sent, a provider that says what the test wants, and a clock that the test sets.

use std::time::Duration;

use countersign::bounded::{Currency, IntentId, OperationId, Tenant};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::delivery::{
    Claim, Claimed, Found, Outcome, Provider, Record, Resolution, Resolve, Sent, Terms, Ticket, Unsayable, reconcile,
};
use countersign::failure::Failure;
use countersign::operation::{self, Operation, State};
use refunds::{Order, Refund};
use tests::App;
use tests::worker::{Submitted, target};
use tokio::sync::OnceCell;

/// A gateway on which nothing happens but what a test does to a refund of its own.
pub(crate) async fn still() -> &'static App {
    static STILL: OnceCell<App> = OnceCell::const_new();
    STILL.get_or_init(App::quiet).await
}

pub(crate) const DAY: u64 = 24 * 60 * 60;
pub(crate) const TERMS: Terms = Terms {
    duplicate_window: Some(Duration::from_secs(DAY)),
    lookup_lag: Some(Duration::from_secs(60)),
    compares_body: true,
};

/// A provider of which a lookup finds this, once. It is never sent anything.
#[derive(Clone)]
pub(crate) struct Says(pub(crate) Found);

impl Provider<Refund> for Says {
    const TERMS: Terms = TERMS;

    fn request(&self, _: &Tenant, intent: &IntentId, refund: &Refund) -> Result<String, Unsayable> {
        Ok(format!("refund {} of {intent}", refund.order_id))
    }

    async fn send(&self, _: &IntentId, _: &str, _: i64) -> Sent {
        panic!("nothing is sent here")
    }

    async fn look_up(&self, intent: &IntentId, request: &str) -> Found {
        assert!(request.contains(intent.as_str()), "{request}");
        self.0.clone()
    }
}

pub(crate) fn happened() -> Found {
    Found::Happened("re_1".to_owned())
}

pub(crate) fn accepted() -> Found {
    Found::Accepted("re_1".to_owned())
}

pub(crate) fn undone() -> Found {
    Found::Undone { reference: "re_1".to_owned(), reason: "expired_or_canceled_card".to_owned() }
}

pub(crate) fn contradiction() -> Found {
    Found::Contradiction("the provider has two refunds of this one intent".to_owned())
}

pub(crate) fn nothing() -> Found {
    Found::Nothing("401".to_owned())
}

/// A refund of 2,000 out of 5,000, and when its story began.
pub(crate) struct Scene {
    pub(crate) app: &'static App,
    pub(crate) order: Order,
    pub(crate) refund: Submitted,
    start: Timestamp,
}

impl Scene {
    /// Accepted and not sent.
    pub(crate) async fn queued() -> Self {
        let app = still().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        Self { app, order, refund, start: Timestamp::now() }
    }

    /// Being sent.
    pub(crate) async fn sending() -> (Self, Ticket<Refund>) {
        let scene = Self::queued().await;
        let ticket = scene.claim(0).await;
        (scene, ticket)
    }

    /// Sent, with this outcome.
    pub(crate) async fn sent(sent: Sent) -> Self {
        let (scene, ticket) = Self::sending().await;
        scene.report(ticket, sent).await;
        scene
    }

    pub(crate) async fn unknown() -> Self {
        let scene = Self::sent(Sent::Unknown("no reply".to_owned())).await;
        assert_eq!(scene.state().await, State::Unknown);
        scene
    }

    /// A worker takes it, so many seconds after the start.
    pub(crate) async fn claim(&self, second: u64) -> Ticket<Refund> {
        match self.try_claim(second).await {
            Claimed::Ticket(ticket) => *ticket,
            Claimed::Nothing(state) => panic!("there was nothing to send: {state}"),
        }
    }

    pub(crate) async fn try_claim(&self, second: u64) -> Claimed<Refund> {
        let provider = Says(Found::Absent);
        let claim = Claim::new(target(&self.refund.operation), &provider, self.app.gateway.consent_keys()).unwrap();
        execute(self.app.gateway.ledger(), &self.clock(second), &claim).await.unwrap()
    }

    pub(crate) async fn report(&self, ticket: Ticket<Refund>, sent: Sent) -> Outcome {
        let record = Record::new(ticket, sent).unwrap();
        execute(self.app.gateway.ledger(), &self.clock(0), &record).await.unwrap()
    }

    /// A lookup that finds this, so many seconds after the start.
    pub(crate) async fn look(&self, second: u64, found: Found) -> Outcome {
        self.ask(second, &Says(found)).await
    }

    /// A lookup at this provider.
    pub(crate) async fn ask(&self, second: u64, provider: &impl Provider<Refund>) -> Outcome {
        let target = target(&self.refund.operation);
        reconcile::<Refund, _>(self.app.gateway.ledger(), &self.clock(second), provider, &target).await.unwrap()
    }

    pub(crate) async fn resolve(&self, persona: &str, resolution: Resolution) -> Result<Operation<Refund>, Failure> {
        let by = self.app.caller(persona);
        let operation = OperationId::parse(&self.refund.operation).unwrap();
        let resolve = Resolve::<Refund>::new(&by, operation, resolution, "the dashboard shows re_1")?;
        execute(self.app.gateway.ledger(), &self.clock(0), &resolve).await
    }

    pub(crate) fn at(&self, second: u64) -> Timestamp {
        self.start + Duration::from_secs(second)
    }

    fn clock(&self, second: u64) -> impl Fn() -> Timestamp + Send + Sync + use<> {
        let now = self.at(second);
        move || now
    }

    /// The operation as it is now: whatever happened, it is listed as long as a person has to look at it, and no longer.
    pub(crate) async fn operation(&self) -> Operation<Refund> {
        let operation = self.app.operation(&self.refund.operation).await;
        let item = self.app.item(&operation::key(&operation.tenant, &operation.id)).await.unwrap();
        let waits = operation.state == State::NeedsOperator || operation.conflict;
        assert_eq!(item.text("attention").ok(), waits.then_some("submit_refund#acme"), "{operation:?}");
        assert_eq!(operation.attention_at.is_some(), waits, "{operation:?}");
        operation
    }

    pub(crate) async fn state(&self) -> State {
        self.operation().await.state
    }

    /// Refundable, reserved, refunded: they add up, whatever happened.
    pub(crate) async fn balances(&self) -> (i64, i64, i64) {
        let now = self.order_now().await;
        let (refundable, reserved, refunded) =
            (now.refundable_minor.get(), now.reserved_minor.get(), now.refunded_minor.get());
        assert_eq!(now.captured_minor.get(), refundable + reserved + refunded, "{now:?}");
        (refundable, reserved, refunded)
    }

    pub(crate) async fn order_now(&self) -> Order {
        self.app.order_now("acme", &self.order.id).await
    }
}

pub(crate) const RESERVED: (i64, i64, i64) = (3_000, 2_000, 0);
pub(crate) const REFUNDED: (i64, i64, i64) = (3_000, 0, 2_000);
pub(crate) const RELEASED: (i64, i64, i64) = (5_000, 0, 0);
