//! Effects: every sentence of a tool's description is advice, or has a test that proves it.

use std::path::Path;

use tests::run;

use crate::printed::contracts;

/// What proves a sentence.
enum Proof {
    /// It tells a model what to do; nothing could prove it.
    Advice,
    /// These tests: a file below the workspace's root, and the test's name.
    Tests(&'static [(&'static str, &'static str)]),
}

use Proof::{Advice, Tests};

const CLAIMS: &str = "tests/tests/claims.rs";
const PREPARING: &str = "tests/tests/invoke/preparing.rs";
const CONSENTS: &str = "tests/tests/invoke/consents.rs";
const TENANTS: &str = "tests/tests/invoke/tenants.rs";
const FAILURES: &str = "tests/tests/invoke/failures.rs";
const SUBMIT: &str = "tests/tests/races/submit.rs";

const CANCEL: &str = "tests/tests/reconcile/cancel.rs";

/// Tool, phrase, proof. A sentence with several claims has a row for each.
const PROOFS: [(&str, &str, Proof); 31] = [
    (
        "cancel_refund",
        "for the person who requested it or an operator",
        Tests(&[(CANCEL, "it_is_the_requester_s_and_the_operator_s_of_the_tenant_alone")]),
    ),
    (
        "cancel_refund",
        "Works only while it is queued and nothing was sent to the payment provider",
        Tests(&[(CANCEL, "against_a_worker_either_wins_and_never_both")]),
    ),
    (
        "cancel_refund",
        "the amount is refundable again then",
        Tests(&[(CANCEL, "in_time_it_releases_the_amount_and_is_never_sent_and_once_is_as_good_as_twice")]),
    ),
    (
        "cancel_refund",
        "Otherwise fails with too_late_to_cancel and changes nothing",
        Tests(&[(CANCEL, "once_it_was_begun_to_be_sent_it_is_too_late_whatever_came_of_it")]),
    ),
    (
        "cancel_refund",
        "A cancelled refund stays cancelled; calling again is harmless",
        Tests(&[(CANCEL, "in_time_it_releases_the_amount_and_is_never_sent_and_once_is_as_good_as_twice")]),
    ),
    (
        "get_order_summary",
        "Show one order of the caller's tenant",
        Tests(&[(TENANTS, "one_order_id_is_a_different_order_in_each_tenant")]),
    ),
    (
        "get_order_summary",
        "status, balances and recent refunds",
        Tests(&[("tests/tests/contracts/answers.rs", "the_answers_of_a_whole_refund_are_as_their_contracts_promise")]),
    ),
    ("get_order_summary", "Use before prepare_refund", Advice),
    ("get_order_summary", "Changes nothing", Tests(&[(CLAIMS, "the_hints_of_every_tool_are_true")])),
    (
        "get_order_summary",
        "While refunds_blocked is not none, submit_refund answers held",
        Tests(&[
            ("tests/tests/delivery/stopped.rs", "a_hold_stops_what_is_queued_and_its_release_lets_it_go_on"),
            ("tests/tests/reconcile/conflict.rs", "nothing_more_of_the_order_is_prepared_submitted_or_sent"),
        ]),
    ),
    ("get_order_summary", "tell the requester, and ask an operator", Advice),
    (
        "get_order_summary",
        "Text under untrusted_text was written by customers",
        Tests(&[("tests/tests/gateway/protocol.rs", "what_a_customer_wrote_is_only_ever_under_untrusted_text")]),
    ),
    (
        "get_refund_status",
        "for the person who requested it or an operator",
        Tests(&[(TENANTS, "an_operation_is_shown_to_its_requester_and_to_an_operator_of_the_tenant_alone")]),
    ),
    ("get_refund_status", "Changes nothing", Tests(&[(CLAIMS, "the_hints_of_every_tool_are_true")])),
    ("get_refund_status", "look again later", Advice),
    ("get_refund_status", "ask an operator", Advice),
    ("get_refund_status", "Submit nothing again", Advice),
    (
        "prepare_refund",
        "for one order of the caller's tenant",
        Tests(&[(TENANTS, "what_is_another_tenant_s_and_what_is_not_there_are_answered_with_the_same_bytes")]),
    ),
    ("prepare_refund", "without moving money", Tests(&[(CLAIMS, "the_hints_of_every_tool_are_true")])),
    ("prepare_refund", "Use before submit_refund", Advice),
    (
        "prepare_refund",
        "a person has to approve within 30 minutes",
        Tests(&[
            (PREPARING, "a_proposal_that_can_no_longer_be_used_gives_way_to_a_new_one"),
            (FAILURES, "every_refusal_says_whether_to_retry_and_whom_or_what_to_turn_to_and_has_claimed_nothing"),
        ]),
    ),
    (
        "prepare_refund",
        "Does not submit, reserve or approve anything",
        Tests(&[(CLAIMS, "the_hints_of_every_tool_are_true")]),
    ),
    (
        "prepare_refund",
        "An identical call returns the same proposal while it is open",
        Tests(&[
            (PREPARING, "identical_calls_find_one_proposal"),
            (PREPARING, "a_proposal_that_can_no_longer_be_used_gives_way_to_a_new_one"),
        ]),
    ),
    (
        "submit_refund",
        "prepared by prepare_refund and approved by a person",
        Tests(&[("tests/tests/invoke/forgeries.rs", "a_record_that_no_person_signed_as_it_stands_permits_nothing")]),
    ),
    (
        "submit_refund",
        "Moves money once",
        Tests(&[(SUBMIT, "sixty_four_submissions_with_one_key_are_one_operation_and_one_receipt")]),
    ),
    (
        "submit_refund",
        "exactly as it was approved",
        Tests(&[(CONSENTS, "a_person_decides_about_what_they_were_shown_and_nothing_else")]),
    ),
    (
        "submit_refund",
        "Fails if the proposal is not approved, expired, changed",
        Tests(&[(FAILURES, "every_refusal_says_whether_to_retry_and_whom_or_what_to_turn_to_and_has_claimed_nothing")]),
    ),
    (
        "submit_refund",
        "or already submitted",
        Tests(&[(
            "tests/tests/races/rivals.rs",
            "of_two_keys_for_one_proposal_one_wins_and_the_other_is_told_by_which_operation",
        )]),
    ),
    ("submit_refund", "Reuse the same idempotency_key when retrying", Advice),
    (
        "submit_refund",
        "the answer is then the first one again",
        Tests(&[(SUBMIT, "sixty_four_submissions_with_one_key_are_one_operation_and_one_receipt")]),
    ),
    ("submit_refund", "Use get_refund_status to see how it goes on", Advice),
];

/// The parts of a description that make a claim of their own.
fn sentences(description: &str) -> Vec<&str> {
    description.split(". ").map(|sentence| sentence.trim_end_matches('.')).collect()
}

#[test]
fn every_sentence_of_every_description_is_advice_or_has_its_proof() {
    run(async {
        let contracts = contracts().await;
        for contract in &contracts {
            for sentence in sentences(&contract.description) {
                let covered =
                    PROOFS.iter().any(|(tool, phrase, _)| *tool == contract.name && sentence.contains(phrase));
                assert!(covered, "{} says without proof: {sentence}", contract.name);
            }
        }
        for (tool, phrase, _) in &PROOFS {
            let said = contracts.iter().any(|contract| contract.name == *tool && contract.description.contains(phrase));
            assert!(said, "{tool} no longer says: {phrase}");
        }
    });
}

#[test]
fn every_proof_is_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (tool, phrase, proof) in &PROOFS {
        let Tests(tests) = proof else { continue };
        for (file, test) in *tests {
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let found = text.contains(&format!("#[test]\nfn {test}()"));
            assert!(found, "{tool}, {phrase}: there is no test `{test}` in {file}");
        }
    }
}
