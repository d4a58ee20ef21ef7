//! Showing: what is on a page, what is never on one, and that looking changes nothing.

use countersign::bounded::{Currency, Tenant};
use refunds::Order;
use reqwest::{Method, Url};
use tests::people::minutes_ago;
use tests::{App, run, shared, unique};

use crate::person::{Person, heading, offers};

async fn noted(app: &App, note: &str) -> Order {
    let mut order = app.order("acme", Currency::Eur, 5_000).await;
    order.customer_note = Some(note.to_owned());
    app.put(&Order::key(&Tenant::parse("acme").unwrap(), &order.id), order.item()).await;
    order
}

#[test]
fn a_customers_words_are_boxed_escaped_bounded_and_without_tricks() {
    run(async {
        let app = shared().await;
        let hostile =
            "</blockquote><script>alert(1)</script><form action=\"/sign-out\">'\"&\u{202e}drawer\u{200b}\u{7}\nline";
        let order = noted(app, &format!("{hostile}{}END", "x".repeat(600))).await;
        let proposal = app.prepared(&order, 1_000).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let shown = person.look(&proposal).await.body;
        let (before, note) = shown.split_once("<blockquote>").unwrap();
        let (note, _) = note.split_once("</blockquote>").unwrap();
        assert!(before.ends_with("Written by the customer; not checked by anyone</h2>\n"), "{before}");
        assert!(!note.contains(['<', '>', '"', '\'', '\u{202e}', '\u{200b}', '\u{7}']), "{note}");
        assert!(note.contains("script") && note.contains("\u{fffd}drawer\u{fffd}\u{fffd}\nline"), "{note}");
        assert!(!note.contains("END") && shown.contains("There is more of it than is shown."));
        assert_eq!(shown.matches("<script").count(), 0);
        // An order without a note has no such box.
        let plain = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&plain, 1_000).await;
        assert!(!person.look(&proposal).await.body.contains("blockquote"));
    });
}

#[test]
fn amounts_are_written_as_their_currency_is_and_the_order_as_it_is_now() {
    run(async {
        let app = shared().await;
        let person = Person::signed_in(app, "acme-approver").await;
        for (currency, amount, text) in
            [(Currency::Jpy, 5_000, "JPY 5000"), (Currency::Kwd, 12_500, "KWD 12.500"), (Currency::Usd, 5, "USD 0.05")]
        {
            let order = app.order("acme", currency, 20_000).await;
            let proposal = app.prepared(&order, amount).await;
            let told = heading(&person.look(&proposal).await);
            assert!(told.starts_with(&format!("Refund {text} of order {} ", order.id)), "{told}");
        }
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let refund = app.submitted(&order, 2_500).await;
        app.until(&refund.operation, "succeeded").await;
        let (proposal, other) = (app.prepared(&order, 1_000).await, app.prepared(&order, 1_500).await);
        let shown = person.look(&proposal).await.body;
        for text in ["EUR 90.00", "EUR 25.00, succeeded", "EUR 65.00", &format!("href=\"/proposals/{other}\"")] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains(&format!("href=\"/proposals/{proposal}\"")));
        let leaves = "Of the EUR 90.00 paid for the order, EUR 25.00 went back or is on its way, and EUR 55.00 is \
            left after this one.";
        assert!(shown.contains(leaves), "{shown}");
        let decided = person.press(&proposal, "reject", &[]).await.body;
        assert!(!decided.contains("is left after this one"), "{decided}");
    });
}

#[test]
fn the_list_holds_what_is_open_in_the_tenant_page_by_page() {
    run(async {
        let app = shared().await;
        let tenant = format!("list-{}", unique());
        let person = Person::named(app, &tenant, "somebody");
        assert!(person.get("/").await.body.contains("There are none."));
        let order = app.order(&tenant, Currency::Eur, 50_000).await;
        let by = app.requester(&tenant);
        let mut all = Vec::new();
        for n in 0..23 {
            all.push(app.prepared_at(&by, &order, 100 + n, minutes_ago(1)).await.id.to_string());
        }
        let lapsed = app.prepared_at(&by, &order, 200, minutes_ago(31)).await.id.to_string();
        let approver = app.approver(&tenant, 50_000).await;
        let rejected = all.pop().unwrap();
        app.decide_as(&approver, &rejected, countersign::consent::Verdict::Rejection).await.unwrap();

        let (mut seen, mut path, mut pages) = (Vec::new(), Some("/".to_owned()), 0);
        while let Some(at) = path {
            let page = person.get(&at).await;
            assert_eq!(page.status, 200);
            let links =
                page.body.split("href=\"/proposals/").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
            let links: Vec<String> = links.collect();
            assert!(links.len() <= 20);
            seen.extend(links);
            path = page.body.split("href=\"/?").nth(1).map(|rest| {
                format!("/?{}", rest.split('"').next().unwrap().replace("&amp;", "&").replace("&#38;", "&"))
            });
            pages += 1;
        }
        seen.sort();
        all.sort();
        assert_eq!((pages, seen), (2, all.clone()));
        assert!(!all.contains(&lapsed));
        // Another tenant's place in the list leads to nothing of that tenant's.
        let stranger = Person::named(app, "globex", "globex-approver");
        let page = stranger.get(&format!("/?lapses=0&id={}", all[0])).await;
        assert!(page.status == 200 && all.iter().all(|id| !page.body.contains(id)));
        for strange in ["/?lapses=x", "/?id=%00", "/?lapses=99999999999999999999", "/?lapses=1&id=prop_"] {
            assert!([200, 400].contains(&person.get(strange).await.status), "{strange}");
        }
    });
}

#[test]
fn looking_changes_nothing_whoever_follows_the_links() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let about = [proposal.as_str(), order.id.as_str()];
        let before = app.records_about(&about).await;
        let shown = person.look(&proposal).await;
        assert!(offers(&shown, "approve"));
        // Every address on the page, and those that its forms lead to, as a scanner would open them.
        let links = shown.body.split("href=\"").chain(shown.body.split("action=\"")).skip(1);
        let paths: Vec<_> =
            links.filter_map(|rest| rest.split('"').next()).filter(|path| path.starts_with('/')).collect();
        assert!(paths.iter().any(|path| path.ends_with("/approve")), "{paths:?}");
        for path in paths {
            for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
                let url = Url::parse(&person.url(path)).unwrap();
                let answer = person.browser.send(person.browser.request(method, url)).await.unwrap();
                let acts = ["/approve", "/reject", "/revoke", "/sign-out"].iter().any(|verb| path.ends_with(verb));
                assert!(!acts || answer.status == 404, "{path}: {}", answer.status);
            }
        }
        assert_eq!(app.records_about(&about).await, before);
    });
}

#[test]
fn every_answer_tells_the_browser_what_it_may_do() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let (person, stranger) = (Person::signed_in(app, "acme-approver").await, Person::stranger(app));
        let mut answers = vec![
            person.get("/").await,
            person.look(&proposal).await,
            person.get("/page.css").await,
            person.get("/absent").await,
            person.get("/proposals/x").await,
            person.get("/?lapses=x").await,
            person.force(&proposal, "approve").await,
            person.force(&proposal, "approve").await,
            stranger.get("/").await,
            stranger.get("/sign-in").await,
            stranger.get("/callback?code=a&state=b").await,
            stranger.force(&proposal, "reject").await,
        ];
        let put = person.browser.request(Method::PUT, Url::parse(&person.url("/")).unwrap());
        answers.push(person.browser.send(put).await.unwrap());
        for answer in answers {
            let header = |name: &str| answer.headers.get(name).map_or("", |value| value.to_str().unwrap());
            let policy = header("content-security-policy");
            for rule in [
                "default-src 'none'",
                "style-src 'self'",
                "form-action 'self'",
                "frame-ancestors 'none'",
                "base-uri 'none'",
            ] {
                assert!(policy.split("; ").any(|part| part == rule), "{}: {policy}", answer.url);
            }
            assert_eq!(header("cache-control"), "no-store", "{}", answer.url);
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("cross-origin-opener-policy"), "same-origin");
            assert_eq!(header("referrer-policy"), "same-origin");
            // Nothing that the policy would have to make an exception for.
            for inline in ["<script", "style=", "<style", "onclick=", "javascript:"] {
                assert!(!answer.body.contains(inline), "{}: {inline}", answer.url);
            }
            if answer.body.contains("<html") {
                for tag in ["<h1>", "<main id=\"content\"", "<html lang=\"en\">", "href=\"#content\"", "<title>"] {
                    assert_eq!(answer.body.matches(tag).count(), 1, "{}: {tag}", answer.url);
                }
            }
        }
    });
}
