//! A kubelet's own server, as far as `pods/portforward` needs it: the API server passes a client's WebSocket on to it, and it
//! connects to the port from within the pod.
//!
//! # Source
//! `handleWebSocketStreams` of the kubelet: binary messages, the first byte names the channel (0 data, 1 error), and each channel begins with
//! the port as two bytes, little endian.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use http::HeaderValue;
use http::header::SEC_WEBSOCKET_PROTOCOL;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use super::super::space::{NODE, on_thread};
use super::networks::Networks;

/// The port of every kubelet.
pub(super) const PORT: u16 = 10250;
/// The version of the channels that is spoken here.
const PROTOCOL: &str = "v4.channel.k8s.io";
const DATA: u8 = 0;
const ERROR: u8 = 1;

/// Listens with a certificate that nobody checks: the API server of the lab has no authority for kubelets.
pub(super) async fn listen() -> io::Result<(TcpListener, TlsAcceptor)> {
    let certified = rcgen::generate_simple_self_signed(vec![NODE.to_string()]).map_err(io::Error::other)?;
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).map_err(io::Error::other)?;
    let config = ServerConfig::builder().with_no_client_auth();
    let config =
        config.with_single_cert(vec![certified.cert.der().clone()], key).map_err(io::Error::other)?;
    let listener = TcpListener::bind((NODE, PORT)).await?;
    Ok((listener, TlsAcceptor::from(Arc::new(config))))
}

/// Serves until the task is dropped. A connection that fails ends alone.
pub(super) async fn serve((listener, tls): (TcpListener, TlsAcceptor), networks: Arc<Networks>) {
    while let Ok((connection, _)) = listener.accept().await {
        let (tls, networks) = (tls.clone(), Arc::clone(&networks));
        tokio::spawn(async move { drop(forward(connection, &tls, &networks).await) });
    }
}

type Socket = WebSocketStream<TlsStream<TcpStream>>;

/// What the path of a request names.
struct Target {
    namespace: String,
    pod: String,
    port: u16,
}

async fn forward(connection: TcpStream, tls: &TlsAcceptor, networks: &Networks) -> Result<(), Error> {
    let Some((mut socket, target)) = accept(tls.accept(connection).await?).await? else { return Ok(()) };
    let [low, high] = target.port.to_le_bytes();
    for channel in [DATA, ERROR] {
        socket.send(message(channel, &[low, high])).await?;
    }
    match connect(networks, &target).await {
        Ok(pod) => relay(socket, pod).await,
        Err(error) => {
            let text = format!("error forwarding port {} to pod {}: {error}", target.port, target.pod);
            socket.send(message(ERROR, text.as_bytes())).await?;
            socket.close(None).await
        }
    }
}

/// The WebSocket of a request, and what its path names; `None` if it names nothing.
async fn accept(stream: TlsStream<TcpStream>) -> Result<Option<(Socket, Target)>, Error> {
    let mut target = None;
    #[expect(clippy::result_large_err, reason = "the type of tungstenite's callback")]
    let callback = |request: &Request, mut response: Response| {
        target = self::target(request);
        if target.is_none() {
            return Err(ErrorResponse::new(Some("expected /portForward/NAMESPACE/POD?port=PORT".to_owned())));
        }
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
        Ok(response)
    };
    let socket = accept_hdr_async(stream, callback).await?;
    Ok(target.map(|target| (socket, target)))
}

/// Carries bytes between the data channel and the pod until one side ends.
async fn relay(socket: Socket, mut pod: TcpStream) -> Result<(), Error> {
    let (mut send, mut receive) = socket.split();
    let (mut from_pod, mut to_pod) = pod.split();
    let inwards = async {
        while let Some(Ok(received)) = receive.next().await {
            let data = received.into_data();
            if let Some((&DATA, bytes)) = data.split_first() {
                to_pod.write_all(bytes).await?;
            }
        }
        Ok::<_, Error>(())
    };
    let outwards = async {
        let mut buffer = vec![0; 32 << 10];
        loop {
            let length = from_pod.read(&mut buffer).await?;
            let bytes = buffer.get(..length).unwrap_or_default();
            if bytes.is_empty() {
                return send.close().await;
            }
            send.send(message(DATA, bytes)).await?;
        }
    };
    tokio::select! {
        ended = inwards => ended,
        ended = outwards => ended,
    }
}

fn message(channel: u8, bytes: &[u8]) -> Message {
    Message::Binary(std::iter::once(channel).chain(bytes.iter().copied()).collect())
}

fn target(request: &Request) -> Option<Target> {
    let (namespace, pod) = request.uri().path().strip_prefix("/portForward/")?.split_once('/')?;
    let port = request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("port="))?;
    Some(Target { namespace: namespace.to_owned(), pod: pod.to_owned(), port: port.parse().ok()? })
}

/// A connection to the port on the loopback of the pod's network: a socket stays in the network that it was made in.
async fn connect(networks: &Networks, target: &Target) -> io::Result<TcpStream> {
    let network = networks.find(&target.namespace, &target.pod);
    let network = network.ok_or_else(|| io::Error::other("no such pod on this node"))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, target.port));
    let connect = move || {
        on_thread(|| {
            network.enter()?;
            std::net::TcpStream::connect(address)
        })?
    };
    let stream = tokio::task::spawn_blocking(connect).await.map_err(io::Error::other)??;
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}
