//! `GET /ws`: a `WebSocket` that echoes each message with version and pod before it, over HTTP/1.1 (RFC 6455)
//! and HTTP/2 (RFC 8441).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use ::http::{Method, Request, StatusCode};
use futures_util::{SinkExt, StreamExt};
use hyper::ext::Protocol;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::response::DelayedResponse;
use crate::shop::Shop;

/// How long the other side may take to answer our goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// A valid `WebSocket` handshake request.
pub(crate) struct Handshake {
    socket: OnUpgrade,
    /// The response to the client's key. HTTP/2 needs none, but Envoy passes the key of a client that speaks
    /// HTTP/1.1 on to an HTTP/2 upstream, and that client waits for the response.
    accept: Option<HeaderValue>,
    status: StatusCode,
}

/// The handshake, when the request to `/ws` is one.
pub(crate) fn handshake<B>(request: &mut Request<B>) -> Option<Handshake> {
    if request.uri().path() != "/ws" {
        return None;
    }
    let headers = request.headers();
    let key = headers.get(SEC_WEBSOCKET_KEY);
    let status = if request.method() == Method::CONNECT {
        request.extensions().get::<Protocol>().filter(|protocol| protocol.as_str() == "websocket")?;
        StatusCode::OK
    } else {
        let asked = request.method() == Method::GET
            && key.is_some()
            && lists(headers, &CONNECTION, "upgrade")
            && lists(headers, &UPGRADE, "websocket")
            && lists(headers, &SEC_WEBSOCKET_VERSION, "13");
        asked.then_some(StatusCode::SWITCHING_PROTOCOLS)?
    };
    let accept = key.and_then(|key| HeaderValue::try_from(derive_accept_key(key.as_bytes())).ok());
    Some(Handshake { socket: hyper::upgrade::on(request), accept, status })
}

/// Answers the handshake, and echoes in a task of its own from the moment the response is sent.
pub(crate) fn accept(shop: &Arc<Shop>, handshake: Handshake) -> DelayedResponse {
    let Handshake { socket, accept, status } = handshake;
    let task_shop = Arc::clone(shop);
    shop.life.tasks.spawn(async move {
        let killed = task_shop.life.killed.clone();
        killed
            .run_until_cancelled(async move {
                // No upgrade: the client disconnected before the response, so there is no connection for an error.
                if let Ok(socket) = socket.await {
                    let _open = Open::new(&task_shop);
                    // An error here is the client's end of the connection; it sees the same.
                    let _ = echo(&task_shop, socket).await;
                }
            })
            .await;
    });

    let mut response = DelayedResponse::empty(status);
    let headers = response.response.headers_mut();
    // Headers of the connection are errors in HTTP/2.
    if status == StatusCode::SWITCHING_PROTOCOLS {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
    if let Some(accept) = accept {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

async fn echo(shop: &Shop, socket: Upgraded) -> Result<(), Error> {
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(socket), Role::Server, None).await;
    let from = format!("{}/{}: ", shop.config.version(), shop.config.pod());
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            () = shop.life.stopping.cancelled() => return goodbye(&mut socket).await,
        };
        match message.transpose()? {
            Some(Message::Text(text)) => socket.send(Message::text(format!("{from}{text}"))).await?,
            Some(Message::Binary(bytes)) => {
                socket.send(Message::binary([from.as_bytes(), &bytes].concat())).await?;
            }
            // Pings and closes are answered by the library, as it reads on.
            Some(_) => {}
            None => return Ok(()),
        }
    }
}

/// Sends a close frame (going away), and waits briefly for the client's.
async fn goodbye(socket: &mut WebSocketStream<TokioIo<Upgraded>>) -> Result<(), Error> {
    let frame = CloseFrame { code: CloseCode::Away, reason: "the pod stops".into() };
    socket.close(Some(frame)).await?;
    let rest = async { while let Some(Ok(_)) = socket.next().await {} };
    // Without a response in time the connection is dropped all the same.
    let _ = tokio::time::timeout(GOODBYE, rest).await;
    Ok(())
}

/// Whether the comma-separated header `name` has `token`, in any case, on any line.
fn lists(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|item| item.trim().eq_ignore_ascii_case(token))
}

/// Counts a socket for as long as it is open, however it ends.
struct Open<'a>(&'a Shop);

impl<'a> Open<'a> {
    fn new(shop: &'a Shop) -> Self {
        shop.counters.sockets.fetch_add(1, Ordering::Relaxed);
        Self(shop)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.counters.sockets.fetch_sub(1, Ordering::Relaxed);
    }
}
