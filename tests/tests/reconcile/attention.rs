//! The list of what needs a person: complete, for the operators of its tenant alone, and without what was put right.

use countersign::bounded::OperationId;
use countersign::delivery::{Resolution, Sent};
use countersign::operation::{self, State};
use local::issuer::Persona;
use local::keys::OPERATIONS_AUDIENCE;
use serde_json::{Value, json};
use tests::{App, quiet, run};

use crate::operator::{FUNCTION, post, token};
use crate::scene::{DAY, Scene, accepted, contradiction, happened, nothing, undone};

async fn get(app: &App, token: &str, query: &str) -> (u16, Value) {
    let url = format!("{}/?{query}", app.gateway.http_url(FUNCTION).unwrap());
    let response = reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap();
    assert_eq!(response.headers()["cache-control"], "no-store");
    (response.status().as_u16(), response.json().await.unwrap())
}

fn operator(app: &App) -> String {
    token(app, OPERATIONS_AUDIENCE, "acme-operator")
}

/// Everything that is listed, page by page.
async fn listed(app: &App) -> Vec<Value> {
    let (token, mut query, mut rows) = (operator(app), String::new(), Vec::new());
    loop {
        let (status, page) = get(app, &token, &query).await;
        assert_eq!(status, 200, "{page}");
        let of_page = page["operations"].as_array().unwrap();
        assert!(of_page.len() <= 20, "{page}");
        rows.extend(of_page.iter().cloned());
        match page["next"].as_str() {
            Some(next) => query = format!("after={next}"),
            None => return rows,
        }
    }
}

async fn row(scene: &Scene) -> Option<Value> {
    listed(scene.app).await.into_iter().find(|row| row["operation_id"] == scene.refund.operation.as_str())
}

async fn one(scene: &Scene) -> Value {
    let (status, one) = get(scene.app, &operator(scene.app), &format!("operation_id={}", scene.refund.operation)).await;
    assert_eq!(status, 200, "{one}");
    one
}

#[test]
fn what_needs_an_operator_is_listed_with_what_there_is_to_know_until_one_has_decided() {
    run(async {
        let scene = Scene::unknown().await;
        assert_eq!(row(&scene).await, None);
        assert_eq!(scene.look(DAY, nothing()).await.state, State::NeedsOperator);
        let row = row(&scene).await.unwrap();
        let expected = json!({
            "operation_id": scene.refund.operation, "proposal_id": scene.refund.proposal,
            "order_id": scene.order.id, "amount": "EUR 20.00", "amount_minor": 2_000, "currency": "EUR",
            "state": "needs_operator", "conflict": false, "waiting_since": scene.at(DAY).to_string(),
            "reason": "the provider does not tell what became of it", "attempts": 1,
            "account": scene.order.account, "mode": "test", "payment": scene.order.payment, "reference": null,
            "requester": "acme-clerk", "approver": "acme-approver",
            "accepted_at": scene.operation().await.accepted_at, "resolution": null,
            "version": scene.operation().await.nonce,
        });
        assert_eq!(row, expected);
        assert_eq!(one(&scene).await["operation"], expected);
        scene.resolve("acme-operator", Resolution::Succeeded).await.unwrap();
        assert_eq!(self::row(&scene).await, None);
        // It can be looked at still.
        let ended = one(&scene).await;
        assert_eq!(
            (&ended["operation"]["state"], &ended["operation"]["waiting_since"]),
            (&json!("succeeded"), &Value::Null)
        );
        assert!(ended["operation"]["resolution"].as_str().unwrap().contains("acme-operator says succeeded"), "{ended}");
    });
}

#[test]
fn a_conflict_is_listed_until_it_is_put_right_whatever_else_becomes_of_it() {
    run(async {
        let scene = Scene::sent(Sent::Happened("re_1".to_owned())).await;
        assert!(scene.look(100, contradiction()).await.conflict);
        let row = row(&scene).await.unwrap();
        assert_eq!((&row["state"], &row["conflict"]), (&json!("succeeded"), &json!(true)), "{row}");
        assert_eq!(row["waiting_since"], scene.at(100).to_string());
        // It comes back meanwhile, and is in conflict all the same.
        let outcome = scene.look(200, undone()).await;
        assert_eq!(outcome.state, State::Returned);
        let row = self::row(&scene).await.unwrap();
        assert_eq!((&row["state"], &row["waiting_since"]), (&json!("returned"), &json!(scene.at(100))), "{row}");
        assert!(scene.operation().await.conflict);
        scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
        assert_eq!(self::row(&scene).await, None);
        assert_eq!(scene.state().await, State::Returned);

        // A conflict anew is listed anew.
        let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
        for second in [100, 200] {
            assert!(scene.look(second, accepted()).await.conflict);
            assert_eq!(self::row(&scene).await.unwrap()["waiting_since"], scene.at(second).to_string());
            scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
            assert_eq!(self::row(&scene).await, None);
            assert_eq!(scene.state().await, State::Failed);
        }
    });
}

#[test]
fn what_is_found_after_all_leaves_the_list_by_itself() {
    run(async {
        for found in [happened(), undone()] {
            let scene = Scene::unknown().await;
            scene.look(DAY, nothing()).await;
            assert!(row(&scene).await.is_some());
            scene.look(DAY + 1, found).await;
            assert_eq!(row(&scene).await, None);
            assert!(scene.state().await.is_final());
        }
    });
}

#[test]
fn a_late_worker_s_success_is_listed_as_the_conflict_that_it_is() {
    run(async {
        let (scene, ticket) = Scene::sending().await;
        scene.try_claim(3_000).await;
        scene.look(DAY, nothing()).await;
        scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
        assert!(scene.report(ticket, Sent::Happened("re_1".to_owned())).await.conflict);
        assert_eq!(row(&scene).await.unwrap()["waiting_since"], scene.at(0).to_string());
        assert_eq!(scene.state().await, State::Failed);
    });
}

#[test]
fn each_word_s_consequence_is_foretold_as_it_then_comes() {
    run(async {
        for (word, resolution) in [("succeeded", Resolution::Succeeded), ("failed", Resolution::Failed)] {
            let stuck = Scene::unknown().await;
            stuck.look(DAY, nothing()).await;
            let denied = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
            denied.look(100, happened()).await;
            let doubled = Scene::sent(Sent::Happened("re_1".to_owned())).await;
            doubled.look(100, contradiction()).await;
            let back = Scene::sent(Sent::Happened("re_1".to_owned())).await;
            back.look(100, undone()).await;
            back.look(200, contradiction()).await;
            for scene in [stuck, denied, doubled, back] {
                let before = one(&scene).await;
                let foretold = before["outcomes"].as_array().unwrap();
                let foretold = foretold.iter().find(|outcome| outcome["outcome"] == word).unwrap();
                // Looking has changed nothing.
                assert_eq!(one(&scene).await, before);
                let resolved = scene.resolve("acme-operator", resolution).await.unwrap();
                assert_eq!(foretold["state"], resolved.state.as_str(), "{before}");
                let after = one(&scene).await;
                assert_eq!(foretold["order"], after["order"], "{before}");
                assert_eq!(after["order"]["conflicts"], 0);
                assert!(
                    after["outcomes"].as_array().unwrap().iter().all(|word| word["error"]["code"] == "not_waiting")
                );
            }
        }
        // Where the order has no room, that is foretold too.
        let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
        scene.app.submitted(&scene.order, 4_000).await;
        scene.look(100, happened()).await;
        let outcomes = one(&scene).await["outcomes"].clone();
        assert_eq!(
            (&outcomes[0]["outcome"], &outcomes[0]["error"]["code"]),
            (&json!("succeeded"), &json!("exceeds_refundable"))
        );
        assert_eq!((&outcomes[1]["outcome"], &outcomes[1]["state"]), (&json!("failed"), &json!("failed")));
    });
}

#[test]
fn a_word_about_what_was_shown_is_refused_once_it_is_something_else() {
    run(async {
        let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
        scene.look(100, happened()).await;
        let shown = one(&scene).await["operation"]["version"].clone();
        // Somebody else clears it, and it is found in conflict once more.
        scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
        scene.look(200, accepted()).await;
        let (app, token) = (scene.app, operator(scene.app));
        let word = |version: &Value| {
            let id = &scene.refund.operation;
            json!({ "operation_id": id, "outcome": "succeeded", "evidence": "re_1", "version": version }).to_string()
        };
        let (status, answer) = post(app, Some(&token), word(&shown)).await;
        assert_eq!((status, &answer["error"]["code"]), (409, &json!("not_waiting")), "{answer}");
        assert_eq!(answer["error"]["retry"], "later", "{answer}");
        assert!(scene.operation().await.conflict);
        let (status, answer) = post(app, Some(&token), word(&one(&scene).await["operation"]["version"])).await;
        assert_eq!((status, &answer["state"]), (200, &json!("succeeded")), "{answer}");
    });
}

#[test]
fn nobody_else_is_shown_anything_and_another_tenant_s_is_as_if_absent() {
    run(async {
        let scene = Scene::unknown().await;
        scene.look(DAY, nothing()).await;
        let app = scene.app;
        let queries = [String::new(), format!("operation_id={}", scene.refund.operation)];
        let rows = [
            (token(app, local::keys::AUDIENCE, "acme-operator"), 401, "unauthenticated"),
            (token(app, local::gateway::PAGE_CLIENT, "acme-operator"), 401, "unauthenticated"),
            ("e30.e30.".to_owned(), 401, "unauthenticated"),
            (token(app, OPERATIONS_AUDIENCE, "acme-agent"), 403, "forbidden"),
            (token(app, OPERATIONS_AUDIENCE, "acme-approver"), 403, "forbidden"),
            (token(app, OPERATIONS_AUDIENCE, "globex-approver"), 403, "forbidden"),
        ];
        for (token, expected, code) in &rows {
            for query in &queries {
                let (status, answer) = get(app, token, query).await;
                assert_eq!((status, &answer["error"]["code"]), (*expected, &json!(code)), "{answer}");
            }
        }
        // The requester themselves, with no agent before them.
        let clerk = Persona { actor: None, ..*app.persona("acme-agent") };
        assert_eq!(get(app, &minted(app, &clerk), "").await.0, 403);

        let foreign = *app.persona("globex-operator");
        let foreign = minted(app, &foreign);
        assert_eq!(get(app, &foreign, "").await, (200, json!({ "operations": [], "next": null })));
        let seen = get(app, &foreign, &queries[1]).await;
        let absent = get(app, &foreign, &format!("operation_id=op_{}", "a".repeat(26))).await;
        assert_eq!((seen.0, &seen.1["error"]["code"]), (404, &json!("not_found")));
        assert_eq!(seen, absent);
        // A place in another tenant's list is one in one's own.
        let place = format!("after=0.{}", scene.refund.operation);
        assert_eq!(get(app, &foreign, &place).await, (200, json!({ "operations": [], "next": null })));
    });
}

fn minted(app: &App, persona: &Persona) -> String {
    let issuer = app.gateway.keys().issuer(local::gateway::ISSUER).unwrap();
    let now = countersign::clock::wall_clock();
    issuer.token_for(OPERATIONS_AUDIENCE, persona, now, local::issuer::DEFAULT_TTL).unwrap()
}

#[test]
fn a_question_that_is_none_is_refused() {
    run(async {
        let app = crate::scene::still().await;
        let (token, id) = (operator(app), format!("op_{}", "a".repeat(26)));
        for query in [
            "operation_id=op_1".to_owned(),
            "operation_id=".to_owned(),
            "after=".to_owned(),
            format!("after={id}"),
            format!("after=soon.{id}"),
            format!("after=99999999999999999999.{id}"),
            format!("after=1.{id}.{id}"),
            format!("after=1.{id}&operation_id={id}"),
            "tenant=globex".to_owned(),
            format!("operation_id={id}&operation_id={id}"),
        ] {
            let (status, answer) = get(app, &token, &query).await;
            assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid_input")), "{query}: {answer}");
        }
        for method in [reqwest::Method::PUT, reqwest::Method::DELETE] {
            let url = app.gateway.http_url(FUNCTION).unwrap();
            let response = reqwest::Client::new().request(method, url).bearer_auth(&token).send().await.unwrap();
            assert_eq!(
                (response.status().as_u16(), &response.headers()["allow"]),
                (405, &"GET, POST".parse().unwrap())
            );
        }
    });
}

#[test]
fn a_list_of_more_than_a_page_is_read_page_by_page_and_one_that_cannot_be_read_hides_no_other() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", countersign::bounded::Currency::Eur, 50_000).await;
        let mut expected = Vec::new();
        // Several of them since the same second.
        for at in 0..23 {
            let refund = app.submitted(&order, 100 + at).await;
            let since = countersign::clock::Timestamp::from_seconds(1_000 + at / 5);
            app.edit(&refund.operation, |step| {
                let step = step.remove("due_shard").remove("due_at").set("state", "needs_operator");
                step.set("attention", "submit_refund#acme").set("attention_at", since)
            })
            .await;
            expected.push(refund.operation);
        }
        let rows = listed(app).await;
        let since: Vec<_> = rows.iter().map(|row| row["waiting_since"].as_str().unwrap()).collect();
        assert!(since.is_sorted(), "{since:?}");
        let ids = |rows: &[Value]| {
            let mut ids: Vec<_> = rows.iter().map(|row| row["operation_id"].as_str().unwrap().to_owned()).collect();
            ids.sort();
            ids
        };
        expected.sort();
        assert_eq!(ids(&rows), expected);
        // What the index still has and the table does not is not shown.
        app.edit(&expected[0], |step| step.set("state", "succeeded")).await;
        app.edit(&expected[1], |step| step.set("state", "somewhere")).await;
        assert_eq!(ids(&listed(app).await), expected[2..]);
        let parked =
            app.logs().into_iter().any(|line| line.contains("\"alarm\":\"parked\"") && line.contains(&expected[1]));
        assert!(parked, "nobody is told of {}", expected[1]);
        assert!(OperationId::parse(&expected[1]).is_ok());
    });
}

#[test]
fn whatever_somebody_has_written_into_a_row_the_others_are_shown_and_each_of_them_once() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", countersign::bounded::Currency::Eur, 50_000).await;
        let mut waiting = Vec::new();
        for at in 0..23 {
            let refund = app.submitted(&order, 100 + at).await;
            let since = countersign::clock::Timestamp::from_seconds(1_000 + at);
            app.edit(&refund.operation, |step| {
                let step = step.remove("due_shard").remove("due_at").set("state", "needs_operator");
                step.set("attention", "submit_refund#acme").set("attention_at", since)
            })
            .await;
            waiting.push(refund.operation);
        }
        let key = |operation: &str| format!("operation#acme#{operation}");
        let spoil = async |operation: &str, update: &str, value: Value| {
            let mut request = json!({
                "TableName": "ledger", "Key": { "pk": { "S": key(operation) } }, "UpdateExpression": update,
            });
            if !value.is_null() {
                request["ExpressionAttributeValues"] = json!({ ":v": value });
            }
            app.database("UpdateItem", &request).await;
        };
        // A list, which the product never writes; a row that does not say whose it is; one since half a second.
        spoil(&waiting[2], "SET note = :v", json!({ "L": [] })).await;
        spoil(&waiting[5], "REMOVE operation_id", Value::Null).await;
        spoil(&waiting[19], "SET attention_at = :v", json!({ "N": "1019.5" })).await;
        // Restored beside itself, under a key that is another's.
        let copy = app.item(&operation_key(&waiting[7])).await.unwrap();
        app.put(&operation_key(&format!("op_{}", "a".repeat(26))), copy.clone()).await;
        // Under the same id in another tenant, whose row says that it is of this one.
        let mut foreign = copy.clone();
        foreign.insert("tenant".to_owned(), "globex".into());
        let globex = countersign::bounded::Tenant::parse("globex").unwrap();
        let same = operation::key(&globex, &OperationId::parse(&waiting[8]).unwrap());
        app.put(&same, foreign).await;
        // Of an intent that no refund is of.
        app.edit(&waiting[9], |step| step.set("intent_id", format!("plan_{}", "a".repeat(26)))).await;
        let rows = listed(app).await;
        let ids: Vec<_> = rows.iter().map(|row| row["operation_id"].as_str().unwrap()).collect();
        let expected: Vec<_> =
            waiting.iter().enumerate().filter(|(at, _)| ![2, 5, 19].contains(at)).map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids, expected);
    });
}

fn operation_key(operation: &str) -> countersign::key::Key {
    let target = tests::worker::target(operation);
    operation::key(&target.tenant, &target.operation)
}

#[test]
fn a_cursor_that_somebody_made_up_leads_nowhere_else_and_breaks_nothing() {
    run(async {
        let scene = Scene::unknown().await;
        scene.look(DAY, nothing()).await;
        let (app, token, id) = (scene.app, operator(scene.app), &scene.refund.operation);
        let since = scene.at(DAY).seconds();
        for (query, status) in [
            (format!("after={}.{id}", i64::MIN), 200),
            (format!("after={}.{id}", i64::MAX), 200),
            (format!("after=%2B{since}.{id}"), 200),
            (format!("%61fter={}%2e%6f{}", since - 1, &id[1..]), 200),
            (format!("operation_id=%6f{}", &id[1..]), 200),
            (format!("operation_id={id}%00"), 400),
            (format!("operation_id={id}%20"), 400),
            (format!("operation_id={id}&operation_id="), 400),
            (format!("operation%5Fid={id}&operation_id={id}"), 400),
            (format!("after={since}.{id}&after={since}.{id}"), 400),
            (format!("after=%EF%BC%91.{id}"), 400),
            (format!("operation_id={}", "%ff".repeat(10_000)), 400),
            ("operation_id".to_owned(), 400),
            ("%00".to_owned(), 400),
        ] {
            let (answered, answer) = get(app, &token, &query).await;
            assert_eq!(answered, status, "{query}: {answer}");
            for row in answer["operations"].as_array().into_iter().flatten() {
                assert_eq!(row["requester"], "acme-clerk", "{row}");
            }
        }
        // The place itself is behind; just before it, it is the first.
        let at = |seconds: i64| format!("after={seconds}.{id}");
        let (_, page) = get(app, &token, &at(since - 1)).await;
        assert!(page["operations"].to_string().contains(id.as_str()), "{page}");
        let (_, page) = get(app, &token, &at(since)).await;
        assert!(!page["operations"].to_string().contains(id.as_str()), "{page}");
    });
}

#[test]
fn of_many_words_about_what_was_shown_to_all_of_them_one_is_taken() {
    run(async {
        for conflict in [false, true] {
            let scene = if conflict {
                let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
                scene.look(100, happened()).await;
                scene
            } else {
                let scene = Scene::unknown().await;
                scene.look(DAY, nothing()).await;
                scene
            };
            let (app, token) = (scene.app, operator(scene.app));
            let version = one(&scene).await["operation"]["version"].clone();
            let words = (0..8).map(|n| {
                let word = if n % 2 == 0 { "succeeded" } else { "failed" };
                json!({
                    "operation_id": scene.refund.operation, "outcome": word, "evidence": format!("seen by {n}"),
                    "version": version,
                })
            });
            let said = futures::future::join_all(words.map(|word| post(app, Some(&token), word.to_string()))).await;
            let taken: Vec<_> = said.iter().filter(|(status, _)| *status == 200).collect();
            assert_eq!(taken.len(), 1, "{said:?}");
            assert!(said.iter().all(|(status, _)| [200, 409].contains(status)), "{said:?}");
            let operation = scene.operation().await;
            assert_eq!(taken[0].1["state"], operation.state.as_str());
            assert_eq!(operation.resolution.unwrap().lines().count(), 1);
            let expected =
                if operation.state == State::Succeeded { crate::scene::REFUNDED } else { crate::scene::RELEASED };
            assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (expected, 0));
            assert_eq!(row(&scene).await, None);
        }
    });
}
