//! The issuer's keys at an address: the real interceptor before an issuer that rotates its keys, is down, or is no issuer.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use countersign::caller::HEADER;
use countersign::keys::{Signer, public_set};
use local::binaries;
use local::gateway::{GATEWAY_ID, ISSUER};
use local::keys::AUDIENCE;
use local::lambda::{Invoked, Lambda};
use serde_json::{Value, json};
use tests::run;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::interceptor::{bearer, by, claims, event, message};

/// The most that is read of an issuer's answer.
const LARGEST: usize = 64 * 1024;

/// What an issuer does with a request.
#[derive(Clone)]
enum Says {
    /// It closes the connection.
    Nothing,
    /// It keeps the connection open and says nothing.
    Silence,
    Bytes(Vec<u8>),
}

/// An issuer's key endpoint, with a count of what it was asked.
struct Endpoint {
    url: String,
    says: Arc<Mutex<Says>>,
    asked: Arc<AtomicUsize>,
}

impl Endpoint {
    async fn start(says: Says) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let endpoint = Self { url, says: Arc::new(Mutex::new(says)), asked: Arc::default() };
        let (says, asked) = (Arc::clone(&endpoint.says), Arc::clone(&endpoint.asked));
        tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                asked.fetch_add(1, Ordering::SeqCst);
                let says = says.lock().unwrap().clone();
                tokio::spawn(answer(connection, says));
            }
        });
        endpoint
    }

    fn says(&self, says: Says) {
        *self.says.lock().unwrap() = says;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Reads the head of a request and answers it. A client that has heard enough may be gone by then.
async fn answer(mut connection: TcpStream, says: Says) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match connection.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    match says {
        Says::Nothing => {}
        Says::Silence => _ = connection.read_u8().await,
        Says::Bytes(bytes) => _ = connection.write_all(&bytes).await,
    }
}

fn http(status: &str, headers: &str, body: &str) -> Says {
    Says::Bytes(format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n{body}").into_bytes())
}

fn ok(body: &str) -> Says {
    http("200 OK", &format!("content-length: {}\r\n", body.len()), body)
}

fn keys(signers: &[&Signer]) -> Says {
    ok(&public_set(signers).unwrap())
}

/// A key set of so many bytes, most of them spaces.
fn padded(signer: &Signer, size: usize) -> String {
    let set = public_set(&[signer]).unwrap();
    format!("{}{set}", " ".repeat(size - set.len()))
}

fn signer(kid: &str) -> Signer {
    Signer::parse(&Signer::generate(kid).unwrap()).unwrap()
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Minted,
    Nobody,
    Unavailable,
}
use Decision::{Minted, Nobody, Unavailable};

/// One interceptor, the only function of its gateway; calls one after the other meet one process.
struct Interceptor(Lambda);

impl Interceptor {
    async fn start(issuer_keys: &str) -> Self {
        let functions = binaries::build(|_| ()).await.unwrap();
        let interceptor = functions.into_iter().filter(|function| function.name == "interceptor").collect();
        let settings = [
            ("COUNTERSIGN_GATEWAY_ID", GATEWAY_ID.to_owned()),
            ("COUNTERSIGN_CALLER_SIGNING_KEY", Signer::generate("caller").unwrap()),
            ("COUNTERSIGN_ISSUER", ISSUER.to_owned()),
            ("COUNTERSIGN_AUDIENCE", AUDIENCE.to_owned()),
            ("COUNTERSIGN_ISSUER_KEYS", issuer_keys.to_owned()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Self(Lambda::start(interceptor, |_| settings.clone(), Arc::new(|_, _| ())).await.unwrap())
    }

    /// Decides about a call with a token of this key.
    async fn decides(&self, key: &Signer) -> Decision {
        self.decides_on(bearer(&key.sign("JWT", &claims()).unwrap())).await
    }

    async fn decides_on(&self, headers: Value) -> Decision {
        let mcp = by(&self.0, &event(headers, message("tools/call"))).await;
        assert_eq!(mcp.as_object().unwrap().len(), 1, "{mcp}");
        let Some(response) = mcp.get("transformedGatewayResponse") else {
            let minted = mcp["transformedGatewayRequest"]["headers"][HEADER].as_str().unwrap() != "-";
            return if minted { Minted } else { Nobody };
        };
        assert_eq!((&response["statusCode"], &response["body"]["id"]), (&json!(200), &json!(1)));
        let result = &response["body"]["result"];
        assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None));
        let failure: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(failure["error"]["code"], "temporarily_unavailable");
        assert_eq!(failure["error"]["retry"], "same_key");
        Unavailable
    }
}

#[test]
fn published_keys_are_fetched_once_for_many_calls() {
    run(async {
        let key = signer("a");
        let issuer = Endpoint::start(keys(&[&key])).await;
        let interceptor = Interceptor::start(&issuer.url).await;
        for _ in 0..20 {
            assert_eq!(interceptor.decides(&key).await, Minted);
        }
        assert_eq!(interceptor.decides(&signer("a")).await, Nobody, "a stranger's key of the same name");
        assert_eq!(issuer.asked(), 1);
    });
}

#[test]
fn a_key_that_the_issuer_added_is_fetched_by_the_first_token_that_names_it() {
    run(async {
        let (old, new) = (signer("old"), signer("new"));
        let issuer = Endpoint::start(keys(&[&old])).await;
        let interceptor = Interceptor::start(&issuer.url).await;
        assert_eq!(interceptor.decides(&old).await, Minted);
        issuer.says(keys(&[&old, &new]));
        for key in [&new, &old, &new] {
            assert_eq!(interceptor.decides(key).await, Minted);
        }
        assert_eq!(issuer.asked(), 2);
    });
}

#[test]
fn a_flood_of_invented_keys_costs_the_issuer_one_request() {
    run(async {
        let key = signer("a");
        let issuer = Endpoint::start(keys(&[&key])).await;
        let interceptor = Interceptor::start(&issuer.url).await;
        for invented in 0..50 {
            assert_eq!(interceptor.decides(&signer(&format!("invented-{invented}"))).await, Nobody);
        }
        assert_eq!(interceptor.decides(&key).await, Minted);
        assert_eq!(issuer.asked(), 2, "one at the start, one for the first of them");
    });
}

#[test]
fn keys_that_were_fetched_are_used_while_the_issuer_is_down() {
    run(async {
        let key = signer("a");
        let issuer = Endpoint::start(keys(&[&key])).await;
        let interceptor = Interceptor::start(&issuer.url).await;
        assert_eq!(interceptor.decides(&key).await, Minted);
        issuer.says(Says::Nothing);
        // It may be a key that the issuer added meanwhile: nobody knows.
        assert_eq!(interceptor.decides(&signer("b")).await, Unavailable);
        assert_eq!(interceptor.decides(&key).await, Minted);
        assert_eq!(interceptor.decides(&signer("b")).await, Unavailable);
        assert_eq!(issuer.asked(), 2);
    });
}

#[test]
fn without_any_key_a_call_is_told_to_come_again_and_the_next_one_asks_again() {
    run(async {
        let key = signer("a");
        let issuer = Endpoint::start(Says::Nothing).await;
        let interceptor = Interceptor::start(&issuer.url).await;
        assert_eq!(interceptor.decides(&key).await, Unavailable);
        assert_eq!(issuer.asked(), 2, "once at the start, once for the call");
        // What needs no key is decided as ever.
        for headers in [json!({}), bearer("no token"), bearer("a.b.c")] {
            assert_eq!(interceptor.decides_on(headers).await, Nobody);
        }
        let list =
            by(&interceptor.0, &event(bearer(&key.sign("JWT", &claims()).unwrap()), message("tools/list"))).await;
        assert_eq!(list["transformedGatewayRequest"]["headers"], json!({ HEADER: "-" }));
        assert_eq!(issuer.asked(), 2);
        issuer.says(Says::Silence);
        assert_eq!(interceptor.decides(&key).await, Unavailable);
        issuer.says(keys(&[&key]));
        assert_eq!(interceptor.decides(&key).await, Minted);
        assert_eq!(interceptor.0.cold_starts("interceptor"), 1);
    });
}

/// Answers that are no key set, with a name for each. `elsewhere` has a good one.
fn no_key_sets(key: &Signer, elsewhere: &str) -> Vec<(&'static str, Says)> {
    let set = public_set(&[key]).unwrap();
    let redirect = |status| http(status, &format!("location: {elsewhere}\r\ncontent-length: 0\r\n"), "");
    let mut nameless: Value = serde_json::from_str(&set).unwrap();
    nameless["keys"][0].as_object_mut().unwrap().remove("kid");
    let mut encrypting: Value = serde_json::from_str(&set).unwrap();
    encrypting["keys"][0]["use"] = json!("enc");
    let secret = json!({ "keys": [{ "kty": "oct", "kid": "a", "k": "c2VjcmV0" }] });
    vec![
        ("moved", redirect("302 Found")),
        ("moved for good", redirect("308 Permanent Redirect")),
        ("another status", http("404 Not Found", &format!("content-length: {}\r\n", set.len()), &set)),
        ("an error", http("500 Internal Server Error", &format!("content-length: {}\r\n", set.len()), &set)),
        ("too large", ok(&padded(key, LARGEST + 1))),
        ("too large, and nobody said so", http("200 OK", "", &padded(key, LARGEST * 8))),
        ("half of it", http("200 OK", &format!("content-length: {}\r\n", set.len()), &set[..set.len() / 2])),
        ("half of it, and nobody said so", ok(&set[..set.len() / 2])),
        ("nothing", ok("")),
        ("a page", ok("<html>")),
        ("another object", ok("{}")),
        ("no key", ok(r#"{"keys":[]}"#)),
        ("no keys", ok(r#"{"keys":{}}"#)),
        ("a key without a name", ok(&nameless.to_string())),
        ("a key for encryption", ok(&encrypting.to_string())),
        ("a secret", ok(&secret.to_string())),
        ("no HTTP", Says::Bytes(b"hello".to_vec())),
    ]
}

#[test]
fn what_is_no_key_set_is_not_taken_for_one() {
    run(async {
        let key = signer("a");
        let elsewhere = Endpoint::start(keys(&[&key])).await;
        let issuer = Endpoint::start(Says::Nothing).await;
        let interceptor = Interceptor::start(&issuer.url).await;
        for (name, says) in no_key_sets(&key, &elsewhere.url) {
            issuer.says(says);
            assert_eq!(interceptor.decides(&key).await, Unavailable, "{name}");
        }
        assert_eq!(elsewhere.asked(), 0);
        // Keys of another kind may lie beside those that sign, and the largest set is taken.
        issuer.says(ok(&padded(&key, LARGEST)));
        assert_eq!(interceptor.decides(&key).await, Minted);
    });
}

#[test]
fn keys_that_cannot_be_read_lie_beside_those_that_can() {
    run(async {
        let key = signer("a");
        let mut set: Value = serde_json::from_str(&public_set(&[&key]).unwrap()).unwrap();
        let others = [json!({ "kty": "AKP", "kid": "pq", "alg": "ML-DSA-44", "pub": "AA" }), json!(7), Value::Null];
        set["keys"].as_array_mut().unwrap().splice(0..0, others);
        let issuer = Endpoint::start(ok(&set.to_string())).await;
        assert_eq!(Interceptor::start(&issuer.url).await.decides(&key).await, Minted);
    });
}

#[test]
fn what_is_no_key_set_does_not_take_the_place_of_one() {
    run(async {
        let (key, new) = (signer("a"), signer("b"));
        let elsewhere = Endpoint::start(keys(&[&new])).await;
        for (name, says) in no_key_sets(&new, &elsewhere.url) {
            let issuer = Endpoint::start(keys(&[&key])).await;
            let interceptor = Interceptor::start(&issuer.url).await;
            assert_eq!(interceptor.decides(&key).await, Minted, "{name}");
            issuer.says(says);
            assert_eq!(interceptor.decides(&new).await, Unavailable, "{name}");
            assert_eq!(issuer.asked(), 2, "{name}");
            assert_eq!(interceptor.decides(&key).await, Minted, "{name}");
        }
        assert_eq!(elsewhere.asked(), 0);
    });
}

#[test]
fn an_address_that_anybody_could_answer_at_ends_the_function_at_its_start() {
    run(async {
        let rows = [
            "http://issuer.example/jwks.json",
            "http://127.0.0.1.issuer.example/jwks.json",
            "http://10.0.0.1/jwks.json",
            "ftp://127.0.0.1/jwks.json",
            "file:///etc/jwks.json",
            "https://user:secret@127.0.0.1/jwks.json",
            "issuer.example/jwks.json",
            "https://",
            "[]",
            r#"{"keys":"#,
        ];
        for setting in rows {
            let interceptor = Interceptor::start(setting).await;
            let event = event(json!({}), message("tools/list")).to_string();
            match interceptor.0.invoke("interceptor", event.into(), None).await {
                Invoked::FunctionError { message, .. } => assert!(!message.contains(setting), "{message}"),
                other => panic!("{setting}: {other:?}"),
            }
        }
        // Nobody listens at these, which is no reason to end.
        for setting in ["https://127.0.0.1:1/jwks.json", "http://[::1]:1/", "http://localhost:1/"] {
            assert_eq!(Interceptor::start(setting).await.decides(&signer("a")).await, Unavailable, "{setting}");
        }
    });
}
