//! Records in the consents table that no person signed as they stand: each is refused, and nothing happens.

use countersign::bounded::{Actor, Client, IntentId, Issuer, OperationId, Principal, Tenant};
use countersign::consent::{Statement, Verdict};
use countersign::digest::Digest;
use countersign::item::Item;
use countersign::keys::Signer;
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use tests::app::{code, key, submit};
use tests::people::{authority, authority_key, consent_key};
use tests::{App, run, shared};

use crate::case::Case;

const TYP: &str = "countersign-consent+jwt";

/// What a record is forged from: an honest approval that was never given, and what is needed to sign.
struct Honest<'a> {
    app: &'a App,
    case: &'a Case<'a>,
    statement: Statement,
}

type Forgery = fn(&Honest<'_>) -> Item;

#[rustfmt::skip]
const FORGERIES: [(&str, Forgery); 22] = [
    ("no signature", |honest| honest.record(&honest.statement, &honest.unsigned(&honest.signed(TYP, &honest.statement)))),
    ("the algorithm none", |honest| honest.record(&honest.statement, &honest.algorithm_none())),
    ("no statement at all", |honest| { let mut item = honest.honest(); item.remove("statement"); item }),
    ("an empty statement", |honest| honest.record(&honest.statement, "")),
    ("another's key under the known name", |honest| honest.record(&honest.statement, &honest.signed_by("consent-1"))),
    ("another's key under an unknown name", |honest| honest.record(&honest.statement, &honest.signed_by("consent-2"))),
    ("the key that signs callers", |honest| honest.record(&honest.statement, &honest.caller_signer().sign(TYP, &honest.statement).unwrap())),
    ("the type of a caller assertion", |honest| honest.record(&honest.statement, &honest.signed("countersign-caller+jwt", &honest.statement))),
    ("no type", |honest| honest.record(&honest.statement, &honest.signed("JWT", &honest.statement))),
    ("a caller assertion", |honest| honest.record(&honest.statement, &honest.app.assertion(&honest.case.by, "submit_refund"))),
    ("another digest", |honest| honest.says(|said| said.digest = Digest::of_bytes(b"other terms").to_string())),
    ("another tenant", |honest| honest.says(|said| said.tenant = Tenant::parse("globex").unwrap())),
    ("another proposal", |honest| honest.says(|said| said.intent_id = IntentId::parse(&format!("prop_{}", "a".repeat(26))).unwrap())),
    ("another issuer", |honest| honest.says(|said| said.issuer = Issuer::parse("https://issuer.example").unwrap())),
    ("the requester as approver", |honest| honest.says(|said| said.approver = honest.case.by.principal.clone())),
    ("the requester's agent as approver", |honest| honest.says(|said| said.approver = principal(honest.case.by.actor.as_ref().map(Actor::as_str)))),
    ("the requester's client as approver", |honest| honest.says(|said| said.approver = principal(honest.case.by.client.as_ref().map(Client::as_str)))),
    ("an operation acknowledged that the proposal does not name", |honest| honest.says(|said| said.acknowledged = Some(operation()))),
    ("a rejection that is recorded as an approval", |honest| honest.recorded(|said| said.kind = Verdict::Rejection)),
    ("an approval by somebody else than is recorded", |honest| honest.recorded(|said| said.approver = Principal::parse("acme-junior").unwrap())),
    ("an approval that lapsed earlier than is recorded", |honest| honest.recorded(|said| said.expires_at -= 3_600)),
    ("one member more in the statement", |honest| honest.record(&honest.statement, &honest.with_a_member_more())),
];

#[test]
fn a_record_that_no_person_signed_as_it_stands_permits_nothing() {
    run(async {
        let app = shared().await;
        for (name, forge) in FORGERIES {
            let case = Case::new(app).await;
            // With authority for every name, so that it is the statement that is refused.
            for name in [
                Some(case.by.principal.as_str()),
                case.by.actor.as_ref().map(Actor::as_str),
                case.by.client.as_ref().map(Client::as_str),
            ] {
                app.put(&authority_key("acme", name.unwrap()), authority(50_000)).await;
            }
            let proposal = case.prepared(1_000).await;
            app.put(&consent_key("acme", &proposal), forge(&Honest::about(&case, &proposal).await)).await;
            let refusal = case.submission_refused(&proposal).await;
            assert_eq!(refusal["code"], "approval_mismatch", "{name}: {refusal}");
        }
    });
}

/// Without this, the test above could pass because no record written by a test is ever accepted.
#[test]
fn the_record_that_the_forgeries_are_made_from_is_accepted() {
    run(async {
        let case = Case::new(shared().await).await;
        let proposal = case.prepared(1_000).await;
        case.app.put(&consent_key("acme", &proposal), Honest::about(&case, &proposal).await.honest()).await;
        let answer = case.call("submit_refund", submit(&proposal, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
    });
}

#[test]
fn an_approval_that_acknowledges_nothing_or_something_else_is_none_where_the_proposal_names_an_earlier_refund() {
    run(async {
        let case = Case::new(shared().await).await;
        let first = case.approved(1_000).await;
        let earlier = case.succeeded(&first, &key()).await;
        let similar = case.prepared(1_000).await;
        let honest = Honest::about(&case, &similar).await;
        for said in [None, Some(operation())] {
            let forged = honest.says(|statement| statement.acknowledged = said);
            case.app.put(&consent_key("acme", &similar), forged).await;
            assert_eq!(case.submission_refused(&similar).await["code"], "approval_mismatch");
        }
        let named = honest.says(|statement| statement.acknowledged = Some(OperationId::parse(&earlier).unwrap()));
        case.app.put(&consent_key("acme", &similar), named).await;
        let answer = case.call("submit_refund", submit(&similar, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
    });
}

impl<'a> Honest<'a> {
    async fn about(case: &'a Case<'a>, proposal: &str) -> Self {
        let intent = case.app.proposal("acme", proposal).await;
        let approver = &case.approver.0;
        let statement = Statement {
            kind: Verdict::Approval,
            tenant: intent.tenant.clone(),
            intent_id: intent.id.clone(),
            digest: intent.digest.to_string(),
            approver: approver.principal.clone(),
            issuer: approver.issuer.clone(),
            decided_at: intent.created_at.seconds(),
            expires_at: intent.created_at.seconds() + 900,
            acknowledged: None,
        };
        Self { app: case.app, case, statement }
    }

    fn signed(&self, typ: &str, statement: &Statement) -> String {
        self.app.gateway.keys().consent().unwrap().sign(typ, statement).unwrap()
    }

    fn signed_by(&self, kid: &str) -> String {
        let stranger = Signer::parse(&Signer::generate(kid).unwrap()).unwrap();
        stranger.sign(TYP, &self.statement).unwrap()
    }

    fn caller_signer(&self) -> Signer {
        Signer::parse(self.app.gateway.keys().caller()).unwrap()
    }

    fn unsigned(&self, token: &str) -> String {
        format!("{}.", token.rsplit_once('.').unwrap().0)
    }

    fn algorithm_none(&self) -> String {
        let header =
            BASE64URL_NOPAD.encode(json!({ "alg": "none", "typ": TYP, "kid": "consent-1" }).to_string().as_bytes());
        let token = self.signed(TYP, &self.statement);
        format!("{header}.{}.", token.split('.').nth(1).unwrap())
    }

    fn with_a_member_more(&self) -> String {
        let mut statement = serde_json::to_value(&self.statement).unwrap();
        statement["scope"] = json!("everything");
        self.app.gateway.keys().consent().unwrap().sign(TYP, &statement).unwrap()
    }

    fn honest(&self) -> Item {
        self.says(|_| ())
    }

    /// Signed with the right key, and recorded, with one difference.
    fn says(&self, change: impl FnOnce(&mut Statement)) -> Item {
        let mut statement = self.statement.clone();
        change(&mut statement);
        self.record(&statement, &self.signed(TYP, &statement))
    }

    /// Signed with the right key with one difference from what is recorded.
    fn recorded(&self, change: impl FnOnce(&mut Statement)) -> Item {
        let mut statement = self.statement.clone();
        change(&mut statement);
        self.record(&self.statement, &self.signed(TYP, &statement))
    }

    /// The record of a statement with this token as its signed form.
    fn record(&self, statement: &Statement, token: &str) -> Item {
        Item::new()
            .with("statement", token)
            .with("kind", statement.kind.as_str())
            .with("intent_id", statement.intent_id.as_str())
            .with("digest", statement.digest.as_str())
            .with("approver", statement.approver.as_str())
            .with("decided_at", statement.decided_at)
            .with("expires_at", statement.expires_at)
    }
}

/// An operation that there is none of.
fn operation() -> OperationId {
    OperationId::parse(&format!("op_{}", "a".repeat(26))).unwrap()
}

fn principal(name: Option<&str>) -> Principal {
    Principal::parse(name.unwrap()).unwrap()
}
