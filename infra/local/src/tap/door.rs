//! The door: where a tap listens, and can stop to, so that the kernel itself refuses whoever connects.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use tokio::net::TcpSocket;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::moment;
use crate::listener::{ListenError, serve};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// A door that is open until it is closed, and can be opened again at the same address.
pub struct Door {
    address: SocketAddr,
    router: Router,
    /// Bound to the same port and never listening: while the door is closed, nobody else is given the port.
    _kept: TcpSocket,
    stop: CancellationToken,
    open: Mutex<Option<(CancellationToken, JoinHandle<()>)>>,
}

impl Door {
    /// Serves a router on a free loopback port until it is closed, or everything is stopped; the door and its address,
    /// such as `http://127.0.0.1:4001`.
    pub(crate) async fn open_at_any_port(
        router: Router,
        stop: CancellationToken,
    ) -> Result<(Self, String), ListenError> {
        let kept = bound((Ipv4Addr::LOCALHOST, 0).into()).map_err(ListenError::Refused)?;
        let address = kept.local_addr().map_err(ListenError::Refused)?;
        let door = Self { address, router, _kept: kept, stop, open: Mutex::default() };
        door.open().await?;
        Ok((door, format!("http://{address}")))
    }

    /// Closes it: whoever connects from now on is refused. A connection that is open stays so. Gives the moment, counted
    /// over all taps, after which nobody got in.
    pub async fn close(&self) -> u64 {
        if let Some((stop, served)) = self.open.lock().await.take() {
            stop.cancel();
            // It ends when the listener is gone.
            let _ = served.await;
        }
        moment()
    }

    /// Opens it again, and gives the moment before which nobody got in.
    ///
    /// # Errors
    /// When its port cannot be had any more.
    pub async fn open(&self) -> Result<u64, ListenError> {
        let before = moment();
        let mut open = self.open.lock().await;
        if open.is_none() {
            let socket = bound(self.address).map_err(ListenError::Refused)?;
            let listener = socket.listen(BACKLOG).map_err(ListenError::Refused)?;
            let stop = self.stop.child_token();
            let served = serve(listener, self.router.clone(), stop.clone());
            *open = Some((stop, served));
        }
        Ok(before)
    }
}

/// A socket that shares its port with the door's other one, of which no more than one ever listens.
fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    #[cfg(unix)]
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn a_closed_door_refuses_and_keeps_its_port_and_an_open_one_lets_in_again() {
        let router = Router::new().fallback(async || "in");
        let (door, url) = Door::open_at_any_port(router, CancellationToken::new()).await.unwrap();
        let fetch = async || reqwest::get(&url).await.unwrap().text().await.unwrap();
        for _ in 0..20 {
            assert_eq!(fetch().await, "in");
            let closed = door.close().await;
            for _ in 0..20 {
                let refused = TcpStream::connect(door.address).await.unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
                let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
                assert_ne!(other.local_addr().unwrap(), door.address);
            }
            assert!(TcpListener::bind(door.address).await.is_err(), "somebody else took the port");
            assert!(door.open().await.unwrap() > closed);
        }
        assert_eq!(fetch().await, "in");
    }
}
