//! Sends requests, and reads responses up to a limit.

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use std::time::Duration;

/// The limits of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From the request to the last byte of the response.
    pub(crate) timeout: Duration,
    /// The largest body, in bytes. The head has hyper's limits: 100 headers in some 400 kB.
    pub(crate) body_bytes: usize,
}

/// The reason for which there is no whole response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The connection cannot be made or breaks, or what comes is no HTTP.
    #[error(transparent)]
    Exchange(Box<dyn std::error::Error + Send + Sync>),
    /// The body is larger than the limit.
    #[error("expected a body of at most {0} bytes, found a larger one")]
    TooLarge(usize),
    /// The response did not arrive in time.
    #[error("no response in {} s", .0.as_secs())]
    Late(Duration),
}

/// A client whose connections are kept for the next request.
pub(crate) struct HttpClient<C> {
    pool: Pool<C, Full<Bytes>>,
    limits: Limits,
}

impl HttpClient<HttpConnector> {
    /// Without TLS.
    pub(crate) fn plain(limits: Limits) -> Self {
        Self::new(HttpConnector::new(), limits)
    }
}

impl<C: Connect + Clone + Send + Sync + 'static> HttpClient<C> {
    pub(crate) fn new(connector: C, limits: Limits) -> Self {
        Self { pool: Pool::builder(TokioExecutor::new()).build(connector), limits }
    }

    /// Sends a request to its URI, and reads the response to its end: a connection with an unread body cannot be used
    /// again. A redirect is a response.
    ///
    /// # Errors
    ///
    /// If no response arrives within the limits; not for an error status.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, HttpError> {
        let Limits { timeout, .. } = self.limits;
        let exchanged = tokio::time::timeout(timeout, self.exchange(request)).await;
        exchanged.unwrap_or(Err(HttpError::Late(timeout)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, HttpError> {
        let limit = self.limits.body_bytes;
        let response = self.pool.request(request).await.map_err(|error| HttpError::Exchange(error.into()))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, limit).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                HttpError::TooLarge(limit)
            } else {
                HttpError::Exchange(error)
            }
        })?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    const LIMITS: Limits = Limits { timeout: Duration::from_secs(5), body_bytes: 8 };

    /// The client's result for a server that sends this text, and keeps the connection open.
    async fn received(text: &'static str, limits: Limits) -> Result<Response<Bytes>, HttpError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 16]).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            std::future::pending::<()>().await;
        });
        let request = Request::get(uri).body(Full::default()).unwrap();
        HttpClient::plain(limits).send(request).await
    }

    #[tokio::test]
    async fn a_body_as_large_as_the_limit_is_read() {
        let response =
            received("HTTP/1.1 503 No\r\ncontent-length: 8\r\n\r\n12345678", LIMITS).await.unwrap();
        assert_eq!((response.status().as_u16(), response.body().as_ref()), (503, &b"12345678"[..]));
    }

    #[tokio::test]
    async fn a_larger_body_is_an_error_however_its_length_is_told() {
        for text in [
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n4\r\n6789\r\n",
            "HTTP/1.1 200 OK\r\n\r\n123456789",
        ] {
            let error = received(text, LIMITS).await.unwrap_err();
            assert!(matches!(error, HttpError::TooLarge(8)), "{text}: {error:?}");
        }
    }

    #[tokio::test]
    async fn a_response_that_does_not_end_is_late() {
        let limits = Limits { timeout: Duration::from_millis(50), ..LIMITS };
        for text in ["", "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n1234"] {
            let error = received(text, limits).await.unwrap_err();
            assert!(matches!(error, HttpError::Late(_)), "{text}: {error:?}");
        }
    }

    #[tokio::test]
    async fn what_is_no_http_is_an_error_with_its_reason() {
        let error = received("220 mail.example ESMTP\r\n\r\n", LIMITS).await.unwrap_err();
        assert!(matches!(error, HttpError::Exchange(_)) && error.source().is_some(), "{error:?}");
    }
}
