//! Serves a router on a loopback port, and waits only so long for a client that does not finish what it began.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::map_request;
use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, stream};
use http::uri::Authority;
use http::{HeaderMap, Uri, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long a client may take for the head of a request, and again for its body. A connection that is open without a
/// request is closed after as long; clients open another one.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait where the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);

/// A body that took longer than [`PATIENCE`].
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive within {} seconds", PATIENCE.as_secs())]
pub struct TooSlow;

/// Why no port can be had. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port is taken.
    #[error("port {0} is in use; stop what listens there, or choose another one with --port")]
    InUse(u16),
    /// No port can be had.
    #[error("cannot listen on 127.0.0.1; allow this program to open local ports")]
    Refused(#[source] std::io::Error),
}

/// Takes a loopback port, 0 for any free one, and gives its address too, such as `http://127.0.0.1:8700`.
pub(crate) async fn listen(port: u16) -> Result<(TcpListener, String), ListenError> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| {
        if error.kind() == std::io::ErrorKind::AddrInUse {
            return ListenError::InUse(port);
        }
        ListenError::Refused(error)
    })?;
    let address = listener.local_addr().map_err(ListenError::Refused)?;
    Ok((listener, format!("http://{address}")))
}

/// Serves until it is told to stop; what it gives ends when nobody listens any more. Connections that are open then end
/// with their clients.
pub(crate) fn serve(listener: TcpListener, router: Router, stop: CancellationToken) -> JoinHandle<()> {
    let router = router.layer(map_request(async |request: Request| request.map(patient)));
    let accepting = async move {
        loop {
            match listener.accept().await {
                Ok((connection, _)) => drop(tokio::spawn(speak(connection, router.clone()))),
                // One that broke off at once, or too many files open: neither is a reason to stop.
                Err(error) => {
                    tracing::debug!(%error, "a connection was not accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    };
    tokio::spawn(async move {
        let _ = stop.run_until_cancelled_owned(accepting).await;
    })
}

async fn speak(connection: TcpStream, router: Router) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // What ends a connection is its client's doing.
    let _ = http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(router)).await;
}

/// Whether the host that was asked is this machine, by a name that no other machine can take.
pub(crate) fn is_loopback_host(uri: &Uri, headers: &HeaderMap) -> bool {
    let host = match headers.get(header::HOST) {
        Some(host) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
        None => uri.authority().cloned(),
    };
    host.as_ref().is_some_and(is_loopback)
}

/// Whether a host, with or without a port, is this machine.
pub(crate) fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host().to_ascii_lowercase();
    !authority.as_str().contains('@') && ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str())
}

/// Reads a body to its end; `None` when it is over the limit. What is over is read too and dropped: a client that is
/// cut off while it writes would see a broken connection instead of the refusal.
pub(crate) async fn read(body: Body, limit: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut chunks = body.into_data_stream();
    let (mut kept, mut length) = (BytesMut::new(), 0_usize);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        length = length.saturating_add(chunk.len());
        if length <= limit {
            kept.extend_from_slice(&chunk);
        }
    }
    Ok((length <= limit).then(|| kept.freeze()))
}

/// The same body, which fails with [`TooSlow`] once patience is at its end.
fn patient(body: Body) -> Body {
    let end = Instant::now() + PATIENCE;
    Body::from_stream(stream::try_unfold(body.into_data_stream(), move |mut chunks| async move {
        match timeout_at(end, chunks.next()).await {
            Ok(Some(chunk)) => Ok(Some((chunk?, chunks))),
            Ok(None) => Ok(None),
            Err(_) => Err(axum::Error::new(TooSlow)),
        }
    }))
}
