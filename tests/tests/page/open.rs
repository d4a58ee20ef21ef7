//! What is open: the list and the order's other proposals show what waits and what is approved, and nothing that ended.

use countersign::bounded::Currency;
use countersign::consent::{Approver, Verdict};
use local::visitor::Page;
use refunds::Order;
use tests::app::{code, key, submit};
use tests::people::minutes_ago;
use tests::{App, quiet, run, shared, unique};

use crate::person::{Person, offers};

/// One proposal of each kind that there is, of one order in a tenant of its own.
struct Kinds {
    order: Order,
    waits: String,
    /// Approved, which lapsed before it was submitted.
    waits_again: String,
    approved: String,
    /// Approved and since rejected, taken back or submitted, or lapsed itself.
    ended: Vec<String>,
}

impl Kinds {
    async fn new(app: &App, tenant: &str, approver: &Approver) -> Self {
        let order = app.order(tenant, Currency::Eur, 9_000).await;
        let by = app.requester(tenant);
        let prepared =
            async |amount, minutes| app.prepared_at(&by, &order, amount, minutes_ago(minutes)).await.id.to_string();
        let approve = async |proposal: &String, minutes| {
            app.decide_at(approver, proposal, Verdict::Approval, minutes_ago(minutes)).await.unwrap();
        };
        let waits = prepared(1_000, 1).await;
        let waits_again = prepared(1_100, 20).await;
        approve(&waits_again, 16).await;
        let approved = prepared(2_500, 2).await;
        approve(&approved, 1).await;
        let [rejected, revoked, submitted, lapsed] =
            [prepared(1_300, 1).await, prepared(1_400, 1).await, prepared(1_500, 1).await, prepared(1_600, 31).await];
        app.decide_as(approver, &rejected, Verdict::Rejection).await.unwrap();
        approve(&revoked, 0).await;
        let person = Person::named(app, tenant, approver.0.principal.as_str());
        assert!(person.press(&revoked, "revoke", &[]).await.body.contains("that was taken back"));
        approve(&submitted, 0).await;
        let answer = app.direct_as(by.clone()).call("submit_refund", submit(&submitted, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
        let ended = vec![rejected, revoked, submitted, lapsed];
        Self { order, waits, waits_again, approved, ended }
    }
}

/// The row of a proposal, and under which heading it stands.
pub(crate) fn row(page: &Page, proposal: &str) -> Option<(String, String)> {
    let (before, after) = page.body.split_once(&format!("href=\"/proposals/{proposal}\""))?;
    let heading = before.rsplit("<h").find(|part| part.contains("</h")).unwrap();
    let heading = heading.split_once('>').unwrap().1.split('<').next().unwrap();
    let text = after.split("<span>").nth(1).unwrap().split("</span>").next().unwrap();
    Some((heading.to_owned(), text.to_owned()))
}

#[test]
fn the_list_shows_apart_what_is_approved_and_not_submitted_and_nothing_that_ended() {
    run(async {
        let app = shared().await;
        let tenant = format!("open-{}", unique());
        let approver = app.approver(&tenant, 50_000).await;
        let kinds = Kinds::new(app, &tenant, &approver).await;
        let person = Person::named(app, &tenant, approver.0.principal.as_str());
        let list = person.get("/").await;
        let (heading, text) = row(&list, &kinds.waits).unwrap();
        assert_eq!(heading, "Proposals that wait for a decision");
        assert!(!text.contains("approv"), "{text}");
        let (heading, text) = row(&list, &kinds.waits_again).unwrap();
        assert_eq!(heading, "Proposals that wait for a decision");
        assert!(text.contains("an approval of it lapsed"), "{text}");
        let (heading, text) = row(&list, &kinds.approved).unwrap();
        assert_eq!(heading, "Approved, and not submitted yet");
        let by = format!("approved by {}, not submitted yet; lapses in 1", approver.0.principal);
        assert!(text.contains(&by), "{text}");
        for ended in &kinds.ended {
            assert_eq!(row(&list, ended), None);
        }
        // From there it can be taken back, and is listed no more.
        let path = format!("/proposals/{}", kinds.approved);
        assert!(offers(&person.get(&path).await, "revoke"));
        person.press(&kinds.approved, "revoke", &[]).await;
        assert_eq!(row(&person.get("/").await, &kinds.approved), None);
        // What was approved once and lapsed can be approved again, or rejected, which leaves nothing to take back.
        let shown = person.look(&kinds.waits_again).await;
        assert_eq!(["approve", "reject", "revoke"].map(|verb| offers(&shown, verb)), [true, true, false]);
        assert!(person.press(&kinds.waits_again, "approve", &[]).await.body.contains("It is not submitted yet"));
        assert_eq!(row(&person.get("/").await, &kinds.waits_again).unwrap().0, "Approved, and not submitted yet");
    });
}

#[test]
fn whoever_decides_is_told_what_of_the_order_is_approved_already() {
    run(async {
        let app = quiet().await;
        let tenant = format!("open-{}", unique());
        let approver = app.approver(&tenant, 50_000).await;
        let kinds = Kinds::new(app, &tenant, &approver).await;
        let person = Person::named(app, &tenant, approver.0.principal.as_str());
        let shown = person.look(&kinds.waits).await;
        let told = "EUR 25.00 of the same order is approved already and not submitted yet.";
        let (before, after) = shown.body.split_once(told).unwrap_or_else(|| panic!("{}", shown.body));
        assert!(!before.contains("<form method=\"post\" action=\"/proposals"), "it is told before the buttons");
        assert!(!after.contains("more than the"), "all of it fits");
        let (heading, text) = row(&shown, &kinds.approved).unwrap();
        assert!(heading == "Its other open proposals" && text.contains("approved by"), "{heading}: {text}");
        assert!(row(&shown, &kinds.waits_again).unwrap().1.contains("lapsed unused"));
        for ended in kinds.ended.iter().chain([&kinds.waits]) {
            assert_eq!(row(&shown, ended), None);
        }
        // Seventy-five are left; with twenty-five that is more.
        let large = app.prepared_at(&app.requester(&tenant), &kinds.order, 7_000, minutes_ago(1)).await;
        let shown = person.look(large.id.as_str()).await;
        assert!(shown.body.contains("With this one that is more than the EUR 75.00 that are left"), "{}", shown.body);
        // Of itself it is not told, nor where there is none.
        assert!(!person.look(&kinds.approved).await.body.contains("of the same order is approved"));
        let other = app.order(&tenant, Currency::Eur, 9_000).await;
        let other = app.prepared_at(&app.requester(&tenant), &other, 7_000, minutes_ago(1)).await;
        assert!(!person.look(other.id.as_str()).await.body.contains("of the same order is approved"));
    });
}

#[test]
fn an_approval_that_no_person_signed_is_listed_nowhere() {
    run(async {
        let app = shared().await;
        let tenant = format!("open-{}", unique());
        let approver = app.approver(&tenant, 50_000).await;
        let kinds = Kinds::new(app, &tenant, &approver).await;
        let at = tests::people::consent_key(&tenant, &kinds.approved);
        let forged = app.item(&at).await.unwrap().with("approver", "somebody-else");
        app.put(&at, forged).await;
        let person = Person::named(app, &tenant, approver.0.principal.as_str());
        assert_eq!(row(&person.get("/").await, &kinds.approved), None);
        assert!(!person.look(&kinds.waits).await.body.contains("approved already"));
    });
}

#[test]
fn a_proposal_that_cannot_be_read_hides_no_other() {
    run(async {
        let app = shared().await;
        let tenant = format!("open-{}", unique());
        let approver = app.approver(&tenant, 50_000).await;
        let kinds = Kinds::new(app, &tenant, &approver).await;
        let key = |proposal: &str| tests::people::proposal_key(&tenant, proposal);
        let spoiled = [(&kinds.waits_again, "digest"), (&kinds.ended[0], "intent_id")];
        for (proposal, attribute) in spoiled {
            let record = app.item(&key(proposal)).await.unwrap();
            app.put(&key(proposal), record.with(attribute, "0".repeat(64))).await;
        }
        let person = Person::named(app, &tenant, approver.0.principal.as_str());
        let (list, shown) = (person.get("/").await, person.look(&kinds.waits).await);
        assert_eq!((list.status, shown.status), (200, 200), "{}", list.body);
        assert!(row(&list, &kinds.waits).is_some() && row(&list, &kinds.approved).is_some(), "{}", list.body);
        assert!(row(&shown, &kinds.approved).is_some(), "{}", shown.body);
        for (proposal, _) in spoiled {
            assert_eq!((row(&list, proposal), row(&shown, proposal)), (None, None));
        }
    });
}

#[test]
fn a_page_of_the_list_that_ends_with_what_cannot_be_read_leads_on_all_the_same() {
    run(async {
        let app = shared().await;
        let tenant = format!("open-{}", unique());
        let (order, by) = (app.order(&tenant, Currency::Eur, 9_000).await, app.requester(&tenant));
        let mut proposals = Vec::new();
        for n in 0..21 {
            let proposal = app.prepared_at(&by, &order, 100 + n, minutes_ago(25 - u64::try_from(n).unwrap())).await;
            proposals.push(proposal.id.to_string());
        }
        let last_of_page = tests::people::proposal_key(&tenant, &proposals[19]);
        let record = app.item(&last_of_page).await.unwrap();
        app.put(&last_of_page, record.with("intent_id", "")).await;
        let person = Person::named(app, &tenant, "somebody");
        let first = person.get("/").await;
        assert!(row(&first, &proposals[18]).is_some() && row(&first, &proposals[20]).is_none(), "{}", first.body);
        let next = first.body.split("href=\"/?lapses=").nth(1).unwrap().split('"').next().unwrap();
        let next = person.get(&format!("/?lapses={}", next.replace("&amp;", "&").replace("&#38;", "&"))).await;
        assert!(row(&next, &proposals[20]).is_some() && row(&next, &proposals[0]).is_none(), "{}", next.body);
    });
}

#[test]
fn approved_ones_are_told_of_before_others_where_there_are_more_than_are_shown() {
    run(async {
        let app = shared().await;
        let tenant = format!("open-{}", unique());
        let (order, by) = (app.order(&tenant, Currency::Eur, 9_000).await, app.requester(&tenant));
        let mut proposals = Vec::new();
        for n in 0..14 {
            proposals.push(app.prepared_at(&by, &order, 100 + n, minutes_ago(20 - u64::try_from(n).unwrap())).await);
        }
        let (last, shown) = (proposals[13].id.as_str(), proposals[0].id.as_str());
        let approver = app.approver(&tenant, 50_000).await;
        app.decide_as(&approver, last, Verdict::Approval).await.unwrap();
        let person = Person::named(app, &tenant, approver.0.principal.as_str());
        let page = person.look(shown).await;
        let links = page.body.matches("<a href=\"/proposals/").count();
        assert_eq!(links, 10, "{}", page.body);
        assert!(row(&page, last).unwrap().1.contains("approved by"));
        assert!(page.body.contains("There may be more than are shown."));
        assert!(page.body.contains("EUR 1.13 of the same order is approved already"));
    });
}
