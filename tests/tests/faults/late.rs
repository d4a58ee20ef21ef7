//! A worker that runs into its function's timeout, while the provider's reply is on its way.

use std::time::Duration;

use local::lambda::Invoked;
use local::provider::{Behavior, WebhookBehavior};
use local::tap::{Fault, Rule};
use tests::App;
use tests::worker::WORKER;

use crate::place::CREATE;
use crate::report;
use crate::run::Run;
use crate::story::{Step, Story};

const ACCEPTED: Story = Story { name: "late", create: Behavior::Succeed, steps: &[Step::Prepare, Step::Submit] };

#[test]
fn a_worker_that_is_ended_by_its_timeout_before_it_could_record_a_late_reply_leaves_what_can_be_found_out() {
    tests::run(async {
        // One second more than the worker wants to have left before it begins.
        let app = App::hurried(WORKER, Duration::from_secs(31)).await;
        (0..10).for_each(|_| app.gateway.provider().webhook_script(WebhookBehavior::Never));
        let run = Run::new(&app, &ACCEPTED, true).await;
        run.play(&[]).await;
        let words = [run.operation.to_string(), run.order.payment.to_string()];
        let taps = run.taps();
        // The money moves at once, and the provider says so after twice the time that anybody listens; meanwhile the
        // ledger no longer answers either.
        taps.provider.inject(Rule::next("", CREATE, Fault::DelayReply(Duration::from_secs(20))).about(&words));
        taps.database.inject(Rule::next(WORKER, "GetItem", Fault::HangBefore).after(1).times(1_000).about(&words));
        let ended = app.try_deliver(run.operation.as_str()).await;
        assert!(matches!(&ended, Invoked::FunctionError { kind, .. } if kind == "Sandbox.Timedout"), "{ended:?}");
        assert_eq!(app.effects(&run.order), 1);
        taps.database.heal();
        taps.provider.heal();
        run.recover().await;
        run.check().await;
        app.stop().await;
        report::add("workers ended by their timeout");
        report::write();
    });
}
