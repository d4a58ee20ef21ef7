//! A function for the tests of the Lambda stand-in: does as its payload says, over the plain Runtime API.

#![expect(clippy::indexing_slicing, reason = "it indexes JSON, which answers null for what is not there")]

use std::error::Error;
use std::io::Read;
use std::net::TcpStream;
use std::process::exit;

use reqwest::{Client, Response};
use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "a fixture has no configuration of its own")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let base = format!("{}/2018-06-01/runtime", std::env::var("AWS_LAMBDA_RUNTIME_API")?);
    let client = Client::builder().no_proxy().build()?;
    match std::env::var("FIXTURE_INIT").as_deref() {
        Ok("error") => {
            let report = json!({"errorType": "NoKeys", "errorMessage": "the key set is empty"});
            client.post(format!("{base}/init/error")).json(&report).send().await?;
            exit(1);
        }
        Ok("exit") => exit(4),
        _ => println!("ready"),
    }
    loop {
        let next = client.get(format!("{base}/invocation/next")).send().await?;
        let headers = headers(&next);
        let id = headers["lambda-runtime-aws-request-id"].as_str().unwrap_or_default().to_owned();
        let call: Value = next.json().await?;
        let address = format!("{base}/invocation/{id}");
        if call["rawPath"] == "/say" {
            // A web request whose body is the answer, or what else to do.
            let body = call["body"].as_str().unwrap_or_default().to_owned();
            match body.as_str() {
                "exit" => exit(3),
                _ => client.post(format!("{address}/response")).body(body).send().await?,
            };
            continue;
        }
        match call["do"].as_str() {
            Some("hang") => loop {
                std::thread::park();
            },
            Some("exit") => exit(3),
            Some("wait") => {
                // Whoever listens there decides when to go on.
                let port = u16::try_from(call["port"].as_u64().unwrap_or_default())?;
                TcpStream::connect(("127.0.0.1", port))?.read_exact(&mut [0])?;
                client.post(format!("{address}/response")).body("null").send().await?;
            }
            Some("fail") => {
                let report = json!({"errorType": "Broken", "errorMessage": "as asked"});
                client.post(format!("{address}/error")).json(&report).send().await?;
            }
            Some("fill") => {
                let length = usize::try_from(call["bytes"].as_u64().unwrap_or_default())?;
                client.post(format!("{address}/response")).body(vec![b'1'; length]).send().await?;
            }
            Some("wrong id") => {
                let refused = client.post(format!("{base}/invocation/other/response")).body("1").send().await?;
                let status = json!(refused.status().as_u16());
                client.post(format!("{address}/response")).json(&status).send().await?;
            }
            Some("answer and exit") => {
                client.post(format!("{address}/response")).body("null").send().await?;
                exit(0);
            }
            _ => {
                eprintln!("echoing {call}");
                let variables: Value =
                    std::env::vars().collect::<Vec<_>>().into_iter().map(|(k, v)| (k, json!(v))).collect();
                let echo = json!({"call": call, "headers": headers, "variables": variables, "pid": std::process::id()});
                client.post(format!("{address}/response")).json(&echo).send().await?;
            }
        }
    }
}

/// The headers, each byte as the character of its number, so that no byte is lost.
fn headers(response: &Response) -> Value {
    let text = |value: &[u8]| value.iter().map(|byte| char::from(*byte)).collect::<String>();
    response.headers().iter().map(|(name, value)| (name.to_string(), json!(text(value.as_bytes())))).collect()
}
