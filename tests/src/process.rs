//! The `local` binary as a user runs it, and processes as the system sees them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use local::binaries;
use local::client::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A folder for a gateway, which goes with the value.
pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The `local` binary with arguments, and nothing on its standard input.
pub async fn local(arguments: &[&str]) -> Command {
    let functions = binaries::build(|_| ()).await.unwrap();
    let mut command = Command::new(functions[0].path.with_file_name("local"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// The same where files cannot grow beyond a number of bytes, in steps of 512; more is refused as on a full disk.
pub async fn cramped(largest: u64, arguments: &[&str]) -> Command {
    let local = local(arguments).await;
    let limited = format!("trap '' XFSZ; ulimit -S -f {}; exec \"$@\"", largest / 512);
    let mut command = Command::new("sh");
    command.args(["-c", &limited, "sh"]).arg(local.as_std().get_program()).args(local.as_std().get_args());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Moves that limit for a process that runs.
pub fn cramp(id: u32, largest: &str) {
    let (pid, limit) = (format!("--pid={id}"), format!("--fsize={largest}:"));
    assert!(std::process::Command::new("prlimit").args([pid, limit]).status().unwrap().success());
}

/// Runs `local` to its end.
pub async fn ran(arguments: &[&str]) -> Ran {
    ended(local(arguments).await).await
}

/// Runs a command to its end.
pub async fn ended(mut command: Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A gateway that serves, started as a user starts it. Dropping it kills it.
pub struct Process {
    child: Child,
    folder: PathBuf,
    /// What it printed before it said how to stop it.
    pub welcome: String,
}

impl Process {
    /// Starts a gateway on a folder and waits until it says that it serves. Port 0 is any free one.
    pub async fn start(folder: &Path, port: u16) -> Self {
        let mut command = local(&["--folder", folder.to_str().unwrap(), "--port", &port.to_string()]).await;
        command.stderr(Stdio::inherit());
        Self::of(command, folder).await
    }

    /// The same with a command that starts it.
    pub async fn of(mut command: Command, folder: &Path) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut welcome = String::new();
        while !welcome.contains("Ctrl-C") {
            welcome.push_str(&lines.next_line().await.unwrap().expect("the gateway ended before it served"));
            welcome.push('\n');
        }
        Self { child, folder: folder.to_owned(), welcome }
    }

    /// The first line on its standard error that begins so, where that was piped.
    pub async fn told(&mut self, start: &str) -> String {
        let mut lines = BufReader::new(self.child.stderr.take().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().expect("the gateway ended before it said so");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// What `run.json` says.
    pub fn run(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.folder.join("run.json")).unwrap()).unwrap()
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        self.run()["url"].as_str().unwrap().to_owned()
    }

    /// The port of its endpoint.
    pub fn port(&self) -> u16 {
        self.url().rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Runs a subcommand on its folder.
    pub async fn ran(&self, arguments: &[&str]) -> Ran {
        ran(&[&["--folder", self.folder.to_str().unwrap()], arguments].concat()).await
    }

    /// A real MCP client with a token that `local token` printed.
    pub async fn client(&self, persona: &str) -> Client {
        let token = self.ran(&["token", persona]).await;
        assert_eq!(token.code, Some(0), "{token:?}");
        Client::connect(&format!("{}/mcp", self.url()), token.stdout.trim()).await.unwrap()
    }

    /// Sends a signal and waits until the process is gone; gives its exit code.
    pub async fn end(&mut self, signal: &str) -> Option<i32> {
        kill(signal, self.id());
        self.child.wait().await.unwrap().code()
    }
}

/// Sends a signal to one process, by its id.
pub fn kill(signal: &str, id: u32) {
    let sent = std::process::Command::new("sh").args(["-c", &format!("kill -{signal} {id}")]).status().unwrap();
    assert!(sent.success(), "no process {id} took SIG{signal}");
}

/// The processes that a process started and that still run, by id, with their names.
pub fn children(parent: u32) -> BTreeMap<u32, String> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some((id, stat(id)?)))
        .filter(|(_, stat)| stat.parent == parent)
        .map(|(id, stat)| (id, stat.name))
        .collect()
}

/// Waits until none of these processes runs any more.
pub async fn gone(ids: impl IntoIterator<Item = u32>) {
    for id in ids {
        let mut looks = 0;
        while stat(id).is_some() {
            looks += 1;
            assert!(looks < 500, "process {id} still runs");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

struct Stat {
    name: String,
    parent: u32,
}

/// What the system says of a process; `None` once it has ended, whether or not anybody has asked for its exit code
/// (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>).
fn stat(id: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (start, rest) = text.rsplit_once(')')?;
    let name = start.split_once('(')?.1.to_owned();
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(Stat { name, parent })
}

/// Waits until an agent sees that its operation has succeeded.
pub async fn succeeded(agent: &Client, operation: &str) {
    for _ in 0..1_000 {
        let status = agent.call("get_refund_status", json!({ "operation_id": operation })).await.unwrap();
        if status.text("state") == "succeeded" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{operation} did not succeed");
}

/// A port that is taken for as long as the value lives.
pub async fn taken_port() -> (tokio::net::TcpListener, u16) {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}
