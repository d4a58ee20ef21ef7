//! Meanwhile: what happens while a request is held up, or to the process that waits for it.

use local::tap::Fault;
use tests::process::kill;
use tests::worker::WORKER;

use crate::kind::Kind;
use crate::place::{Passed, Place};
use crate::report;
use crate::run::{RECONCILER, Run};
use crate::story::Step;

impl Run<'_> {
    /// What happens while a request is held up.
    pub(crate) async fn meanwhile(&self, step: Step, place: &Place, kind: &Kind) {
        self.struck(place).await;
        if *kind == Kind::Again {
            return self.take(step).await;
        }
        // The worker looks dead, is succeeded by another, and the provider is asked as often as absence takes.
        self.let_time_pass().await;
        self.dispatch().await;
        for _ in 0..2 {
            self.let_time_pass().await;
            self.reconcile().await;
        }
        self.dispatch().await;
    }

    pub(crate) async fn kill(&self, place: &Place, fault: &Fault) {
        self.struck(place).await;
        if *fault == Fault::HangAfter {
            let done = |passed: &Passed| passed.seen.fault == Some(Fault::HangAfter) && passed.seen.ended_at.is_some();
            self.until(|| self.passed().iter().any(done)).await;
        }
        let function = if place.by.is_empty() { self.sender(place.step) } else { &place.by };
        let processes = self.app.gateway.lambda().processes(function);
        assert_eq!(processes.len(), 1, "one process, so that it is the one that waits");
        kill("KILL", processes[0]);
        report::add(&format!("killed {function}"));
    }

    /// Who asks the provider in this step.
    fn sender(&self, step: usize) -> &'static str {
        match self.story.steps[step] {
            Step::Dispatch => WORKER,
            Step::Webhook => "refund_webhook",
            Step::Reconcile => RECONCILER,
            Step::Prepare | Step::Submit | Step::Cancel | Step::Status => panic!("nobody asks the provider here"),
        }
    }

    async fn struck(&self, place: &Place) {
        let here = |passed: &Passed| passed.before == place.before && passed.seen.fault.is_some();
        self.until(|| self.passed().iter().any(here)).await;
    }
}
