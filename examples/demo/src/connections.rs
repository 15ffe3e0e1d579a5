//! Connections that shoppers share: thousands of shoppers need no more sockets than there are requests in flight.

use browser::{ClientError, Connection, Response, User, Visit};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Longer is an error: a shopper would have left.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Requests in flight, and idle connections; further requests wait, further connections are closed. With both, demo and
/// Envoy stay below the 1,024 files that a process may often open, and below Envoy's circuit breakers.
const MAX_IN_FLIGHT: usize = 128;

/// Kept-alive connections to one address.
#[derive(Debug)]
pub(crate) struct ConnectionPool {
    address: SocketAddr,
    idle: Mutex<Vec<Connection>>,
    in_flight: Semaphore,
}

impl ConnectionPool {
    pub(crate) const fn new(address: SocketAddr) -> Self {
        Self { address, idle: Mutex::new(Vec::new()), in_flight: Semaphore::const_new(MAX_IN_FLIGHT) }
    }

    /// Sends a user's request on an idle connection, or on a new one. Nothing is sent twice.
    ///
    /// A user without cookies gets a new one, as with a browser: from its addresses Envoy derives the cookie that keeps the
    /// user on a pod (`hash_policy.cookie` with a `ttl`), so users who arrived on one connection would share one pod.
    ///
    /// # Errors
    /// No connection, a lost request, or no complete response in time; that connection is not used again.
    pub(crate) async fn send(&self, user: &mut User, visit: &Visit) -> Result<Response, ClientError> {
        // The semaphore is never closed, so there is always a permit.
        let _permit = self.in_flight.acquire().await;
        let is_new = user.jar.names().is_empty();
        let idle = if is_new { None } else { self.idle().pop() };
        let mut connection = idle.unwrap_or_else(|| Connection::http1(self.address));
        user.swap_connection(&mut connection);
        let result = tokio::time::timeout(TIMEOUT, user.send(visit)).await;
        user.swap_connection(&mut connection);
        let response = result.unwrap_or(Err(ClientError::Timeout(TIMEOUT)))?;
        let mut idle = self.idle();
        if idle.len() < MAX_IN_FLIGHT {
            idle.push(connection);
        }
        Ok(response)
    }

    /// A panic elsewhere leaves the list as it is.
    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use browser::Kind;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    /// A server that answers each connection's first `answers` requests, and closes it during the next one.
    async fn server(responses: usize) -> (SocketAddr, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, accepted) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, responses));
            }
        });
        (address, accepted)
    }

    async fn serve(mut stream: TcpStream, responses: usize) {
        let mut request = [0; 4096];
        for count in 0.. {
            let is_closed = stream.read(&mut request).await.is_ok_and(|length| length == 0);
            if is_closed || count == responses {
                return;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        }
    }

    /// A user with a cookie.
    fn user(address: SocketAddr) -> User {
        let mut user = User::http1(address, "127.0.0.1");
        user.jar.plant("JSESSIONID", "1", "127.0.0.1");
        user
    }

    #[tokio::test]
    async fn users_with_cookies_share_a_connection_and_one_without_opens_another() {
        let (address, accepted) = server(usize::MAX).await;
        let pool = ConnectionPool::new(address);
        for (has_cookie, connections) in [(true, 1), (true, 1), (false, 2), (true, 2)] {
            let mut user = if has_cookie { user(address) } else { User::http1(address, "127.0.0.1") };
            let response = pool.send(&mut user, &Visit::new(Kind::Fetch, "/")).await.unwrap();
            assert_eq!((response.status, response.reopened), (200, false));
            assert_eq!(accepted.load(Ordering::SeqCst), connections, "with a cookie: {has_cookie}");
        }
    }

    #[tokio::test]
    async fn requests_wait_where_as_many_as_allowed_are_in_flight() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let pool = Arc::new(ConnectionPool::new(address));
        let requests: Vec<_> = (0..=MAX_IN_FLIGHT)
            .map(|_| {
                let (pool, mut user) = (Arc::clone(&pool), User::http1(address, "127.0.0.1"));
                tokio::spawn(async move { pool.send(&mut user, &Visit::new(Kind::Fetch, "/")).await.is_ok() })
            })
            .collect();
        let mut accepted = Vec::new();
        while let Ok(Ok((stream, _))) =
            tokio::time::timeout(Duration::from_millis(500), listener.accept()).await
        {
            accepted.push(stream);
        }
        assert_eq!(accepted.len(), MAX_IN_FLIGHT, "connections without a response");
        requests.iter().for_each(tokio::task::JoinHandle::abort);
    }

    #[tokio::test]
    async fn a_request_that_the_server_drops_is_an_error_and_is_not_sent_again() {
        let (address, accepted) = server(1).await;
        let (pool, visit) = (ConnectionPool::new(address), Visit::new(Kind::Fetch, "/"));
        let mut user = user(address);
        pool.send(&mut user, &visit).await.unwrap();
        let lost = pool.send(&mut user, &visit).await;
        assert!(matches!(lost, Err(ClientError::Http(_))), "{lost:?}");
        assert_eq!(accepted.load(Ordering::SeqCst), 1, "connections before the third request");
        pool.send(&mut user, &visit).await.unwrap();
        assert_eq!(accepted.load(Ordering::SeqCst), 2, "connections after the third request");
    }
}
