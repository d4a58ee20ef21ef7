//! Stories: the ways in which a refund goes when nothing else goes wrong than what the story is about.

use local::provider::Behavior;

/// What somebody does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The agent prepares, and a person approves. (What a person does passes no tap.)
    Prepare,
    /// The agent submits.
    Submit,
    /// The stream tells the worker.
    Dispatch,
    /// The schedule looks for evidence, once the lease has lapsed.
    Reconcile,
    /// The provider tells of what it did.
    Webhook,
    /// The agent thinks better of it.
    Cancel,
    /// The agent asks how it stands.
    Status,
}

use Step::{Cancel, Dispatch, Prepare, Reconcile, Status, Submit, Webhook};

/// How the provider treats the request, and who does what.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) name: &'static str,
    pub(crate) create: Behavior,
    pub(crate) steps: &'static [Step],
}

pub(crate) const STORIES: [Story; 8] = [
    Story { name: "settled", create: Behavior::Succeed, steps: &[Prepare, Submit, Dispatch, Status] },
    Story { name: "found", create: Behavior::DropAfter, steps: &[Prepare, Submit, Dispatch, Reconcile] },
    Story {
        name: "absent",
        create: Behavior::DropBefore,
        steps: &[Prepare, Submit, Dispatch, Reconcile, Reconcile, Dispatch],
    },
    Story { name: "told", create: Behavior::ErrorAfter, steps: &[Prepare, Submit, Dispatch, Webhook] },
    Story {
        name: "settling",
        create: Behavior::Pending { lookups: 0 },
        steps: &[Prepare, Submit, Dispatch, Reconcile],
    },
    Story {
        name: "undone",
        create: Behavior::PendingThenFailed { lookups: 0 },
        steps: &[Prepare, Submit, Dispatch, Reconcile],
    },
    Story { name: "declined", create: Behavior::Decline, steps: &[Prepare, Submit, Dispatch] },
    Story { name: "cancelled", create: Behavior::Succeed, steps: &[Prepare, Submit, Cancel] },
];
