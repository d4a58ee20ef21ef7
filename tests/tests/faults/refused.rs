//! No connection: the kernel refuses the one that a step makes to the provider, before a byte could be sent.

use countersign::operation::State;

use crate::place::{Before, CREATE, Place};
use crate::report;
use crate::run::Run;
use crate::story::Step;

/// The reason that is on record then.
const REASON: &str = "no connection to the provider";

impl Run<'_> {
    /// Takes a step while the provider's door is closed. Nobody else comes to that door: this refund is alone, and its
    /// requests of before have ended. Each request is a connection of its own, since the worker keeps none.
    pub(crate) async fn refused(&self, step: Step) {
        assert!(self.alone, "whoever else came to the door would be refused as well");
        self.idle().await;
        let door = &self.taps().door;
        let closed = door.close().await;
        self.take(step).await;
        let opened = door.open().await.unwrap();
        self.closed.borrow_mut().push((closed, opened));
        report::add("steps for which there was no connection to the provider");
    }

    /// Takes such a step where nothing else goes wrong: what could not be sent waits to be sent again, and is not unknown.
    pub(crate) async fn refused_alone(&self, step: Step, place: &Place) {
        let (before, asked) = (self.app.find(&self.operation).await.unwrap(), self.asked());
        self.refused(step).await;
        let after = self.app.find(&self.operation).await.unwrap();
        assert_eq!(self.asked(), asked, "there was a connection");
        if place.operation == CREATE {
            assert_eq!((after.state, after.attempts), (State::Queued, before.attempts + 1), "{after:?}");
            assert_eq!(after.reason.as_deref(), Some(REASON), "{after:?}");
            assert_eq!((after.lease_until, after.due_at.is_some()), (None, true), "{after:?}");
        } else {
            assert_eq!((after.state, after.attempts), (before.state, before.attempts), "{after:?}");
        }
    }

    /// How often the provider was asked about this refund.
    fn asked(&self) -> usize {
        self.passed().iter().filter(|passed| passed.before == Before::Provider).count()
    }
}
