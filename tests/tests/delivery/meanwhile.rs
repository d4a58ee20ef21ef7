//! What changes between a worker's look and its write: the guards of the write see it, and nothing is sent.

use std::sync::atomic::{AtomicBool, Ordering};

use countersign::bounded::{Currency, IntentId, Principal, Tenant};
use countersign::change::{Change, Snapshot, Step};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::Authority;
use countersign::delivery::{Claim, Claimed, Found, Provider, Sent, Terms, Unsayable};
use countersign::effect::Effect as _;
use countersign::failure::Failure;
use countersign::hold;
use countersign::key::Key;
use countersign::ledger::{Commit, Dynamo, Ledger};
use countersign::operation::State;
use refunds::{Order, Refund};
use tests::worker::{Submitted, target};
use tests::{App, run};

/// The real ledger, in which something happens just before the first write.
struct Meanwhile<'a> {
    ledger: &'a Dynamo,
    change: Change,
    happened: AtomicBool,
}

impl Ledger for Meanwhile<'_> {
    async fn load(&self, keys: &[Key]) -> Result<Snapshot, Failure> {
        self.ledger.load(keys).await
    }

    async fn commit(&self, change: &Change) -> Result<Commit, Failure> {
        if !self.happened.swap(true, Ordering::Relaxed) {
            assert_eq!(self.ledger.commit(&self.change).await?, Commit::Done);
        }
        self.ledger.commit(change).await
    }
}

/// A provider that must not be asked.
struct Unasked;

impl Provider<Refund> for Unasked {
    const TERMS: Terms = Terms { duplicate_window: None, lookup_lag: None, compares_body: true };

    fn request(&self, _: &Tenant, intent: &IntentId, _: &Refund) -> Result<String, Unsayable> {
        Ok(intent.to_string())
    }

    async fn send(&self, _: &IntentId, _: &str, _: i64) -> Sent {
        panic!("nothing is sent here")
    }

    async fn look_up(&self, _: &IntentId, _: &str) -> Found {
        panic!("nothing is looked up here")
    }
}

fn acme() -> Tenant {
    Tenant::parse("acme").unwrap()
}

/// A worker takes a refund of 2,000 out of 5,000 while `step` happens; where that leaves it.
async fn claimed(app: &App, step: impl FnOnce(&Order, &Submitted) -> Step) -> (Order, Submitted, State) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    let refund = app.submitted(&order, 2_000).await;
    let change = Change(vec![step(&order, &refund)]);
    let ledger = Meanwhile { ledger: app.gateway.ledger(), change, happened: AtomicBool::new(false) };
    let claim = Claim::<Refund, _>::new(target(&refund.operation), &Unasked, app.gateway.consent_keys()).unwrap();
    let state = match execute(&ledger, &Timestamp::now, &claim).await.unwrap() {
        Claimed::Ticket(ticket) => ticket.operation.state,
        Claimed::Nothing(state) => state,
    };
    assert_eq!(app.operation(&refund.operation).await.state, state);
    (order, refund, state)
}

async fn is_cancelled_when(step: impl FnOnce(&Order, &Submitted) -> Step) {
    let app = App::quiet().await;
    let (order, refund, state) = claimed(&app, step).await;
    assert_eq!(state, State::Cancelled);
    assert_eq!((app.balances(&order).await, app.operation(&refund.operation).await.attempts), ((5_000, 0, 0), 0));
    app.stop().await;
}

#[test]
fn an_approval_that_is_revoked_in_between_stops_the_refund() {
    run(is_cancelled_when(|_, refund| {
        let proposal = IntentId::parse(&refund.proposal).unwrap();
        Step::update(countersign::consent::key(&acme(), &proposal)).set("revoked_at", Timestamp::now())
    }));
}

#[test]
fn an_authority_that_is_withdrawn_in_between_stops_the_refund() {
    let authority = || Authority::key(&acme(), &Principal::parse("acme-approver").unwrap());
    run(is_cancelled_when(|_, _| Step::update(authority()).set("active", false)));
    run(is_cancelled_when(|_, _| Step::update(authority()).set(Currency::Eur.limit_attribute(), 1_999)));
}

#[test]
fn terms_that_move_in_between_stop_the_refund() {
    run(is_cancelled_when(|order, _| Step::update(Order::key(&acme(), &order.id)).add("terms_version", 1)));
}

#[test]
fn a_hold_that_is_set_in_between_keeps_the_refund_queued() {
    run(async {
        let app = App::quiet().await;
        let hold = Step::put(hold::key(Refund::COMMAND).unwrap(), tests::people::hold("the bank called"));
        let (order, refund, state) = claimed(&app, |_, _| hold).await;
        assert_eq!(state, State::Queued);
        assert_eq!(
            (app.balances(&order).await, app.operation(&refund.operation).await.attempts),
            ((3_000, 2_000, 0), 0)
        );
        app.stop().await;
    });
}

#[test]
fn what_does_not_concern_the_refund_does_not_stop_it() {
    run(async {
        let app = App::quiet().await;
        let balance = |order: &Order| Step::update(Order::key(&acme(), &order.id)).set("customer_note", "thank you");
        let (_, _, state) = claimed(&app, |order, _| balance(order)).await;
        assert_eq!(state, State::Sending);
        app.stop().await;
    });
}
