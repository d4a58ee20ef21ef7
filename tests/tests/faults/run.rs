//! One run of a story with faults: the calls, each made by whoever makes it in a real system, and repeated by them.

use std::cell::RefCell;
use std::time::Duration;

use countersign::bounded::{Currency, IdempotencyKey, OperationId};
use countersign::change::Step as Edited;
use countersign::consent::Verdict;
use countersign::effect::Effect as _;
use countersign::operation;
use futures::future::join;
use local::gateway::Taps;
use local::lambda::Invoked;
use local::provider::Behavior;
use local::tap::{Fault, Rule};
use refunds::{Order, Refund};
use serde_json::{Value, json};
use tests::App;
use tests::accounts::past;
use tests::app::{key, prepare, submit};
use tests::direct::client_context;
use tests::worker::{WORKER, stream_event};

use crate::kind::Kind;
use crate::place::{Before, Passed, Place, passed, places};
use crate::report;
use crate::story::{Step, Story};

/// What was paid, and what is refunded of it.
pub(crate) const PAID: i64 = 5_000;
pub(crate) const AMOUNT: i64 = 2_000;
pub(crate) const RECONCILER: &str = "reconcile_refunds";
/// How long a request is held up while something else happens.
const MEANWHILE: Duration = Duration::from_millis(800);
/// The same, where much else happens.
const OUTLIVED: Duration = Duration::from_secs(3);
/// How often a call is repeated: more often than any fault lasts.
const REPEATS: usize = 12;

/// A refund of its own on its way.
pub(crate) struct Run<'a> {
    pub(crate) app: &'a App,
    pub(crate) story: &'a Story,
    pub(crate) order: Order,
    pub(crate) operation: OperationId,
    /// Whether no other refund is on its way in this gateway.
    pub(crate) alone: bool,
    key: String,
    proposal: RefCell<Option<String>>,
    /// What every request about this refund names one of.
    words: RefCell<Vec<String>>,
    /// Every answer that the agent got, by tool.
    pub(crate) answers: RefCell<Vec<(&'static str, Value)>>,
    /// How many of its calls of a tool got no answer.
    pub(crate) unanswered: RefCell<Vec<&'static str>>,
    /// From when to when nobody got to the provider.
    pub(crate) closed: RefCell<Vec<(u64, u64)>>,
}

impl<'a> Run<'a> {
    pub(crate) async fn new(app: &'a App, story: &'a Story, alone: bool) -> Self {
        let order = app.order("acme", Currency::Eur, PAID).await;
        app.gateway.provider().script(order.payment.as_str(), story.create);
        let key = key();
        let parsed = IdempotencyKey::parse(&key).unwrap();
        let operation = operation::id(&app.caller("acme-agent"), Refund::COMMAND, &parsed).unwrap();
        let words = vec![order.id.to_string(), order.payment.to_string(), operation.to_string()];
        let (proposal, answers, unanswered, closed) = Default::default();
        let words = RefCell::new(words);
        Self { app, story, order, operation, alone, key, proposal, words, answers, unanswered, closed }
    }

    pub(crate) fn taps(&self) -> &'a Taps {
        self.app.gateway.taps().unwrap()
    }

    /// What has passed the taps about this refund.
    pub(crate) fn passed(&self) -> Vec<Passed> {
        passed(self.taps(), &self.words.borrow())
    }

    /// Plays the story with these faults; the places that each step came to.
    pub(crate) async fn play(&self, faults: &[(Place, Kind)]) -> Vec<Place> {
        let mut reached = Vec::new();
        for (number, step) in self.story.steps.iter().enumerate() {
            let before = self.passed().len();
            let here: Vec<_> = faults.iter().filter(|(place, _)| place.step == number).collect();
            if *step == Step::Reconcile {
                self.idle().await;
                self.let_time_pass().await;
            }
            here.iter().for_each(|(place, kind)| self.arm(place, kind));
            let doubled = here.iter().find(|(_, kind)| matches!(kind, Kind::Again | Kind::Overtaken | Kind::Outlived));
            let killed = here.iter().find_map(
                |(place, kind)| {
                    if let Kind::Kill(fault) = kind { Some((place, fault)) } else { None }
                },
            );
            match (doubled, killed) {
                (Some((place, kind)), _) => {
                    join(self.take(*step), self.meanwhile(*step, place, kind)).await;
                }
                (None, Some((place, fault))) => {
                    join(self.take(*step), self.kill(place, fault)).await;
                }
                (None, None) => match here.iter().find(|(_, kind)| *kind == Kind::Refused) {
                    Some((place, _)) if faults.len() == 1 => self.refused_alone(*step, place).await,
                    Some(_) => self.refused(*step).await,
                    None => self.take(*step).await,
                },
            }
            self.taps().database.heal_about(&self.words.borrow());
            self.taps().provider.heal_about(&self.words.borrow());
            reached.extend(places(number, &self.passed()[before..]));
        }
        self.app.gateway.provider().behave(self.order.payment.as_str());
        reached
    }

    /// Counts which faults came to happen, as far as a tap sees it; a single one always does.
    pub(crate) fn was_struck(&self, faults: &[(Place, Kind)]) {
        let by_tap = |kind: &Kind| !matches!(kind, Kind::Create(_) | Kind::Look(_) | Kind::Refused);
        let armed = faults.iter().filter(|(_, kind)| by_tap(kind)).count();
        let struck = self.passed().iter().filter(|passed| passed.seen.fault.is_some()).count();
        assert!(faults.len() != 1 || struck >= armed, "the fault did not happen");
        report::put("requests that a tap's fault happened to", struck);
    }

    fn arm(&self, place: &Place, kind: &Kind) {
        let tap = match place.before {
            Before::Database => &self.taps().database,
            Before::Provider => &self.taps().provider,
        };
        let rule = |fault: &Fault| {
            Rule::next(&place.by, &place.operation, fault.clone()).after(place.nth).about(&self.words.borrow())
        };
        let (provider, payment) = (self.app.gateway.provider(), self.order.payment.as_str());
        match kind {
            Kind::Tap(fault, times) => tap.inject(rule(fault).times(*times)),
            Kind::Kill(fault) => tap.inject(rule(fault)),
            Kind::Again | Kind::Overtaken => tap.inject(rule(&Fault::Delay(MEANWHILE))),
            Kind::AtWork => {
                tap.inject(rule(&Fault::LoseReply));
                // As often as the SDK goes on by itself: it takes that for throttling.
                tap.inject(rule(&Fault::TransactionInProgress).after(place.nth + 1).times(2));
            }
            Kind::Outlived => {
                tap.inject(rule(&Fault::Delay(OUTLIVED)));
                tap.inject(rule(&Fault::Delay(2 * OUTLIVED)).after(place.nth + 1));
                provider.behave(payment);
                provider.script(payment, Behavior::TooManyRequests);
            }
            Kind::Create(behavior) => {
                provider.behave(payment);
                provider.script(payment, *behavior);
            }
            // Before the step, and not by a request: see `refused`.
            Kind::Refused => {}
            Kind::Look(behavior) => provider.lookup_script(payment, *behavior),
        }
    }

    pub(crate) async fn take(&self, step: Step) {
        match step {
            Step::Prepare => {
                let answer = self.agent("prepare_refund", prepare(&self.order, AMOUNT)).await;
                let proposal = answer["proposal_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
                self.app.decide("acme-approver", &proposal, Verdict::Approval).await.unwrap();
                self.words.borrow_mut().push(proposal.clone());
                *self.proposal.borrow_mut() = Some(proposal);
            }
            Step::Submit => drop(self.submit().await),
            Step::Dispatch => self.dispatch().await,
            Step::Reconcile => self.reconcile().await,
            Step::Webhook => self.told().await,
            Step::Cancel => {
                self.agent("cancel_refund", json!({ "operation_id": self.operation })).await;
            }
            Step::Status => {
                self.agent("get_refund_status", json!({ "operation_id": self.operation })).await;
            }
        }
    }

    pub(crate) async fn submit(&self) -> Value {
        let proposal = self.proposal.borrow().clone().unwrap();
        self.agent("submit_refund", submit(&proposal, &self.key)).await
    }

    /// The agent calls a tool, and repeats the call to the letter while it gets no answer, or is told to.
    async fn agent(&self, tool: &'static str, arguments: Value) -> Value {
        for _ in 0..REPEATS {
            let assertion = self.app.assertion(&self.app.caller("acme-agent"), tool);
            let payload = arguments.to_string().into();
            let invoked = self.app.gateway.lambda().invoke(tool, payload, Some(client_context(tool, &assertion))).await;
            if let Invoked::Answered(answer) = invoked {
                let answer: Value = serde_json::from_slice(&answer).unwrap();
                self.answers.borrow_mut().push((tool, answer.clone()));
                if answer.pointer("/error/retry") != Some(&json!("same_key")) {
                    return answer;
                }
            }
            self.unanswered.borrow_mut().push(tool);
            report::add("recovery: the agent repeated its call");
        }
        panic!("{tool} gives no answer");
    }

    /// The stream tells the worker, and repeats itself while the worker does not take it.
    pub(crate) async fn dispatch(&self) {
        for _ in 0..REPEATS {
            let event = stream_event(self.operation.as_str()).to_string();
            if let Invoked::Answered(answer) = self.app.gateway.lambda().invoke(WORKER, event.into(), None).await {
                let answer: Value = serde_json::from_slice(&answer).unwrap();
                if answer["batchItemFailures"] == json!([]) {
                    return;
                }
            }
            report::add("recovery: the stream told the worker again");
        }
        panic!("the worker does not take it");
    }

    /// The schedule's function looks at the order's refunds, and again the next minute where it failed.
    pub(crate) async fn reconcile(&self) {
        let event = json!({ "tenant": "acme", "order_id": self.order.id }).to_string();
        for _ in 0..REPEATS {
            if let Invoked::Answered(_) = self.app.gateway.lambda().invoke(RECONCILER, event.clone().into(), None).await
            {
                return;
            }
            report::add("recovery: the next tick looked again");
        }
        panic!("nobody can look");
    }

    /// The provider tells of the refund, as often as it tells an endpoint that does not listen.
    async fn told(&self) {
        let provider = self.app.gateway.provider();
        let ours = |event: &Value| event.pointer("/data/object/payment_intent") == Some(&json!(self.order.payment));
        let Some(event) = provider.events().into_iter().find(ours) else { return };
        let id = event["id"].as_str().unwrap();
        provider.tell_again(id);
        for _ in 0..6_000 {
            let told: Vec<_> = provider.deliveries().into_iter().filter(|told| told.event == id).collect();
            if told.iter().any(|told| told.status == Some(200) || told.attempt == 5) {
                (1..told.len()).for_each(|_| report::add("recovery: the provider told again"));
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the provider does not tell");
    }

    /// Waits until nothing of this refund is on its way any more.
    pub(crate) async fn idle(&self) {
        self.until(|| self.passed().iter().all(|passed| passed.seen.ended_at.is_some())).await;
    }

    pub(crate) async fn until(&self, reached: impl Fn() -> bool) {
        for _ in 0..12_000 {
            if reached() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not come to that: {:?}", self.passed());
    }

    /// An hour passes for this refund: leases and waits are over, an absence was seen long ago. Its other times, by which
    /// a grant or the provider's window end, stay.
    pub(crate) async fn let_time_pass(&self) {
        let Some(now) = self.app.find(&self.operation).await else { return };
        let times = [("lease_until", now.lease_until), ("due_at", now.due_at), ("absent_since", now.absent_since)];
        let set: Vec<_> = times.iter().filter(|(_, time)| time.is_some()).map(|(name, _)| *name).collect();
        if !set.is_empty() {
            let edit = |step| set.iter().fold(step, |step: Edited, name| step.set(name, past()));
            self.app.edit(self.operation.as_str(), edit).await;
        }
    }

    /// Forgets what has passed the taps.
    pub(crate) fn forget(&self) {
        self.taps().database.forget_about(&self.words.borrow());
        self.taps().provider.forget_about(&self.words.borrow());
    }
}
