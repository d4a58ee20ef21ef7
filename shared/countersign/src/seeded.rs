//! Seeded bugs: mistakes that could be made in the kernel, planted one at a time to show that the tests would find them.
//!
//! All of it is compiled with the feature `seeded_bugs` alone, which no function package and no default build has.

use std::cell::Cell;

crate::choice! {
    /// A mistake.
    pub enum Bug {
        /// An effect is sent without `sending` having been written.
        NoDurableClaim = "no_durable_claim",
        /// An outcome is recorded whatever the fence is by now.
        UnfencedOutcome = "unfenced_outcome",
        /// What a dead worker held is queued again.
        RerunOnLapse = "rerun_on_lapse",
        /// The operation is deleted when sending it failed.
        DeletedOnError = "deleted_on_error",
        /// Each attempt has a key of its own at the provider.
        KeyPerAttempt = "key_per_attempt",
        /// What was begun to be sent can be cancelled.
        CancelAfterAttempt = "cancel_after_attempt",
        /// A worker that comes back late with a failure releases what is reserved.
        LateFailureReleases = "late_failure_releases",
        /// The approval is not looked at again before sending.
        ConsentNotRechecked = "consent_not_rechecked",
        /// What an intent is about is not guarded when it is submitted.
        SubjectNotGuarded = "subject_not_guarded",
        /// What an effect notes beside its subject is not guarded when it is submitted.
        NoteNotGuarded = "note_not_guarded",
        /// One lookup that finds nothing is proof.
        SingleAbsence = "single_absence",
        /// Another record's image is believed while the operation's is in somebody's hands.
        ImagesBeforeOperation = "images_before_operation",
        /// The digest leaves the intent's id out.
        DigestWithoutId = "digest_without_id",
    }
}

thread_local! {
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
}

/// Plants a bug, or none, for this thread.
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether this bug is planted.
pub(crate) fn on(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}
