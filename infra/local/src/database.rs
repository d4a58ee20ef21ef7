//! DynamoDB, embedded: one thread of its own that serves the wire protocol on a free loopback port.

mod file;

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use dynoxide::{Database as Engine, DynoxideError, server};
use tokio::sync::oneshot;

/// How long a shutdown waits for requests under way.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// Where the items are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// In this file, which is made when it does not exist; its folder must.
    File(PathBuf),
    /// Nowhere: they end with the database.
    Memory,
}

/// Why the database did not start. Each message is one sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file is not a database, or no longer a whole one.
    #[error("the database `{}` is damaged; move the file away and start again with an empty one", .0.display())]
    Damaged(PathBuf),
    /// There is no room to write.
    #[error("the disk is full; free some space for `{}` and start again", .0.display())]
    DiskFull(PathBuf),
    /// The file or its folder cannot be opened or written.
    #[error("the database `{}` cannot be opened; check that its folder exists, that you may write there and that the disk has room", .0.display())]
    Unreachable(PathBuf),
    /// Someone else writes to the file.
    #[error("the database `{}` is in use; stop the other gateway that runs in this folder", .0.display())]
    InUse(PathBuf),
    /// Anything else that the engine says.
    #[error("the database did not start; run it with `--memory` to do without a file")]
    Engine(#[source] DynoxideError),
    /// No thread or no loopback port was to be had.
    #[error("the database cannot listen on 127.0.0.1; allow this program to open local ports")]
    Listen(#[source] std::io::Error),
}

/// A running database. It ends with [`Database::shutdown`], or soon after it is dropped.
pub struct Database {
    engine: Engine,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Database {
    /// Opens the storage and serves it.
    ///
    /// # Errors
    /// [`DatabaseError`] when the storage cannot be opened or no port can be bound.
    pub fn start(storage: &Storage) -> Result<Self, DatabaseError> {
        let engine = match storage {
            Storage::File(path) => file::open(path)?,
            Storage::Memory => Engine::memory().map_err(DatabaseError::Engine)?,
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(DatabaseError::Listen)?;
        listener.set_nonblocking(true).map_err(DatabaseError::Listen)?;
        let address = listener.local_addr().map_err(DatabaseError::Listen)?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(DatabaseError::Listen)?;
        let (stop, stopped) = oneshot::channel();
        let served = engine.clone();
        // The engine's handlers block the thread that they run on, so they get one that nobody else waits for.
        let thread = std::thread::Builder::new()
            .name("database".to_owned())
            .spawn(move || runtime.block_on(serve(listener, served, stopped)))
            .map_err(DatabaseError::Listen)?;
        Ok(Self { engine, address, stop, thread })
    }

    /// The URL for `AWS_ENDPOINT_URL_DYNAMODB`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The engine itself, for reads that go past the wire, such as those of the stream. Its calls block.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine.clone()
    }

    /// Lets requests under way end, up to two seconds, and joins the thread. The file is closed once every clone of
    /// [`Database::engine`] is gone too.
    pub async fn shutdown(self) {
        let Self { engine, stop, thread, .. } = self;
        drop(engine);
        drop(stop);
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the database's thread ended in a panic");
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("address", &self.address).finish_non_exhaustive()
    }
}

async fn serve(listener: TcpListener, engine: Engine, stopped: oneshot::Receiver<()>) {
    let (stopping, stop) = oneshot::channel::<()>();
    let serving = async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| error.to_string())?;
        // Dropping the sender is the signal, so that a dropped `Database` ends its thread as well.
        server::serve_with_shutdown(listener, engine, async move { _ = stop.await }).await
    };
    tokio::pin!(serving);
    let result = tokio::select! {
        result = &mut serving => result,
        _ = stopped => {
            drop(stopping);
            tokio::time::timeout(LAST_REQUESTS, serving).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = result {
        tracing::error!(error, "the database stopped serving");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_keeps_its_tables_from_one_start_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::File(folder.path().join("ledger.db"));
        let first = Database::start(&storage).unwrap();
        first.engine().create_table(table("ledger")).unwrap();
        first.shutdown().await;
        let second = Database::start(&storage).unwrap();
        let body = reqwest::Client::new()
            .post(second.endpoint())
            .header("x-amz-target", "DynamoDB_20120810.ListTables")
            .header("content-type", "application/x-amz-json-1.0")
            .header("authorization", "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00")
            .header("x-amz-date", "20300101T000000Z")
            .body("{}")
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert!(body.contains("ledger"), "{body}");
        second.shutdown().await;
    }

    #[tokio::test]
    async fn a_shutdown_ends_the_port_even_while_a_client_is_connected() {
        let database = Database::start(&Storage::Memory).unwrap();
        let address = database.address;
        let _client = std::net::TcpStream::connect(address).unwrap();
        database.shutdown().await;
        assert!(std::net::TcpStream::connect(address).is_err());
    }

    #[test]
    fn a_damaged_file_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        std::fs::write(&path, "this was a database once ".repeat(400)).unwrap();
        let error = Database::start(&Storage::File(path.clone())).unwrap_err();
        assert!(matches!(&error, DatabaseError::Damaged(named) if *named == path), "{error:?}");
        assert!(error.to_string().contains("move the file away"), "{error}");
    }

    #[test]
    fn a_missing_folder_is_not_called_damage() {
        let folder = tempfile::tempdir().unwrap();
        let error = Database::start(&Storage::File(folder.path().join("no/such/ledger.db"))).unwrap_err();
        assert!(matches!(error, DatabaseError::Unreachable(_)), "{error:?}");
    }

    fn table(name: &str) -> dynoxide::actions::create_table::CreateTableRequest {
        serde_json::from_value(serde_json::json!({
            "TableName": name,
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        }))
        .unwrap()
    }
}
