//! Functions behind web addresses: what a request becomes, byte for byte, and what an answer becomes.

use std::time::Duration;

use data_encoding::BASE64;
use local::lambda::Lambda;
use local::web::{self, MAX_BODY_BYTES};
use reqwest::header::HeaderValue;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::invoke::start;

async fn served(timeout: Duration) -> (String, Lambda) {
    let (lambda, _) = start(timeout, &[]).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = web::router(lambda.clone(), "fixture", &url);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, lambda)
}

async fn patient() -> (String, Lambda) {
    served(Duration::from_secs(60)).await
}

/// The event that a request became: the fixture answers with it, and an answer without a status is a body of JSON.
async fn event(request: reqwest::RequestBuilder) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!((response.status(), &response.headers()["content-type"]), (StatusCode::OK, &json_type()));
    let echo: Value = response.json().await.unwrap();
    echo["call"].clone()
}

fn json_type() -> HeaderValue {
    HeaderValue::from_static("application/json")
}

#[tokio::test]
async fn a_request_becomes_an_event_of_format_2() {
    let (url, _lambda) = patient().await;
    let request = Client::new()
        .put(format!("{url}/a%2Fb/c?x=1&y=%20&x=2"))
        .header("X-Mixed-Case", "one")
        .header("x-mixed-case", "two")
        .header("cookie", "a=1; b=2")
        .header("user-agent", "tester")
        .body("tēxt");
    let event = event(request).await;
    assert_eq!(event["version"], "2.0");
    assert_eq!((&event["rawPath"], &event["rawQueryString"]), (&json!("/a%2Fb/c"), &json!("x=1&y=%20&x=2")));
    assert_eq!(event["queryStringParameters"], json!({"x": "1,2", "y": " "}));
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    assert_eq!((&event["headers"]["x-mixed-case"], &event["headers"]["cookie"]), (&json!("one,two"), &Value::Null));
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("tēxt"), &json!(false)));
    let http = &event["requestContext"]["http"];
    assert_eq!(
        (&http["method"], &http["path"], &http["protocol"]),
        (&json!("PUT"), &json!("/a%2Fb/c"), &json!("HTTP/1.1"))
    );
    assert_eq!((&http["sourceIp"], &http["userAgent"]), (&json!("127.0.0.1"), &json!("tester")));
    assert_eq!(event["requestContext"]["domainName"], url.trim_start_matches("http://"));
}

#[tokio::test]
async fn lambdas_own_types_read_the_event() {
    use aws_lambda_events::lambda_function_urls::LambdaFunctionUrlRequest;
    let (url, _lambda) = patient().await;
    let event = event(Client::new().post(format!("{url}/hook?a=b")).header("x-sign", "s").body("{}")).await;
    let read: LambdaFunctionUrlRequest = serde_json::from_value(event).unwrap();
    assert_eq!(read.raw_path.as_deref(), Some("/hook"));
    assert_eq!(read.headers["x-sign"], "s");
    assert_eq!((read.body.as_deref(), read.is_base64_encoded), (Some("{}"), false));
}

#[tokio::test]
async fn bytes_arrive_as_they_were_sent() {
    let (url, _lambda) = patient().await;
    let strange = "{\"a\" :1.0,\r\n\"a\":\"\\u00e9\u{feff}\u{2028}\0\"}  ";
    let sent = event(Client::new().post(&url).body(strange)).await;
    assert_eq!((&sent["body"], &sent["isBase64Encoded"]), (&json!(strange), &json!(false)));
    let every: Vec<u8> = (0..=u8::MAX).collect();
    let sent = event(Client::new().post(&url).body(every.clone())).await;
    assert_eq!((&sent["body"], &sent["isBase64Encoded"]), (&json!(BASE64.encode(&every)), &json!(true)));
    let nothing = event(Client::new().post(&url)).await;
    assert_eq!((&nothing["body"], &nothing["isBase64Encoded"]), (&Value::Null, &json!(false)));
}

#[tokio::test]
async fn an_answer_becomes_a_response() {
    let (url, _lambda) = patient().await;
    let say =
        async |answer: &Value| Client::new().post(format!("{url}/say")).body(answer.to_string()).send().await.unwrap();
    let answer = json!({
        "statusCode": 418, "headers": {"X-Tea": "pot", "content-length": "7", "content-type": "text/plain"},
        "cookies": ["a=1; Path=/", "b=2"], "body": BASE64.encode(b"\0\xff"), "isBase64Encoded": true,
    });
    let response = say(&answer).await;
    assert_eq!((response.status().as_u16(), &response.headers()["x-tea"]), (418, &HeaderValue::from_static("pot")));
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1; Path=/", "b=2"]);
    assert_eq!(response.headers()["content-length"], "2");
    assert_eq!(&response.bytes().await.unwrap()[..], b"\0\xff");
    let bare = say(&json!({"statusCode": 204})).await;
    assert_eq!((bare.status().as_u16(), bare.text().await.unwrap().as_str()), (204, ""));
    for wrong in [
        json!({"statusCode": 99}),
        json!({"statusCode": 101}),
        json!({"statusCode": "200"}),
        json!({"statusCode": 200, "body": "?", "isBase64Encoded": true}),
        json!({"statusCode": 200, "headers": {"a b": "c"}}),
        json!({"statusCode": 200, "headers": {"a": "b\r\nc: d"}}),
        json!({"statusCode": 200, "cookies": ["a=\n"]}),
    ] {
        assert_eq!(say(&wrong).await.status(), 502, "{wrong}");
    }
}

#[tokio::test]
async fn what_fails_is_502_and_says_nothing_of_why() {
    let (url, lambda) = patient().await;
    let response = Client::new().post(format!("{url}/say")).body("exit").send().await.unwrap();
    assert_eq!(response.status(), 502);
    assert_eq!(response.json::<Value>().await.unwrap(), json!({"message": "the function failed"}));
    let no_json = Client::new().post(format!("{url}/say")).body("no json").send().await.unwrap();
    assert_eq!(no_json.status(), 502);
    lambda.shutdown().await;
    assert_eq!(Client::new().get(&url).send().await.unwrap().status(), 503);
}

#[tokio::test]
async fn a_body_over_the_limit_is_413() {
    let (url, lambda) = patient().await;
    for length in [MAX_BODY_BYTES + 1, MAX_BODY_BYTES] {
        let response = Client::new().post(&url).body(vec![b' '; length]).send().await.unwrap();
        assert_eq!(response.status(), 413, "{length}");
    }
    assert_eq!(lambda.cold_starts("fixture"), 0);
    // An answer may be no larger than a request, so the body goes through and its echo does not.
    let response = Client::new().post(&url).body(vec![b' '; MAX_BODY_BYTES - 2_000]).send().await.unwrap();
    assert_eq!((response.status().as_u16(), lambda.cold_starts("fixture")), (200, 1));
}

#[tokio::test]
async fn only_loopback_hosts_are_served() {
    let (url, lambda) = patient().await;
    let foreign = Client::new().get(&url).header("host", "rebound.example").send().await.unwrap();
    assert_eq!((foreign.status().as_u16(), lambda.cold_starts("fixture")), (403, 0));
    assert_eq!(Client::new().get(&url).header("host", "localhost:1").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_header_that_is_no_text_is_400() {
    let (url, lambda) = patient().await;
    let address = url.trim_start_matches("http://");
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nx-bytes: ");
    let request = [request.as_bytes(), b"\xff\r\n\r\n"].concat();
    connection.write_all(&request).await.unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    assert_eq!(lambda.cold_starts("fixture"), 0);
}
