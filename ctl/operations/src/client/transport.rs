//! Connections to the API server, and what each request on them carries.
//!
//! `kube` builds the same without users of SOCKS proxies, and with a name for each of its own retries.

use super::bearer::Bearer;
use super::proxy::Proxy;
use crate::error::ProxyError;
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::{Body, ConfigExt as _};
use tower::filter::AsyncFilterLayer;
use tower::util::BoxService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _};

/// Sends requests to one API server.
pub(super) type Transport = BoxService<Request<Body>, Response<Incoming>, BoxError>;

/// The transport of a configuration, by a proxy where there is one.
///
/// # Errors
///
/// If certificates, keys or headers of the configuration are not valid.
pub(super) fn transport(
    config: &Config,
    proxy: Option<&Proxy>,
    bearer: Option<Bearer>,
) -> Result<Transport, Box<kube::Error>> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    let Some(proxy) = proxy else { return over(config, tcp, bearer) };
    let address = proxy.address();
    let failed = |proxy: &Proxy| {
        let proxy = proxy.to_string();
        move |source: BoxError| ProxyError { proxy: proxy.clone(), source }
    };
    let failed = failed(proxy);
    match proxy.scheme() {
        "socks5" | "socks5h" => {
            let mut socks = SocksV5::new(address, tcp);
            if let Some((user, password)) = proxy.intercept.raw_auth() {
                socks = socks.with_auth(user.to_owned(), password.to_owned());
            }
            over(config, socks.map_err(move |error| failed(error.into())), bearer)
        }
        "https" => {
            // Like kubectl by the certificates of the API server.
            let tls = config.rustls_https_connector_with_connector(tcp)?;
            over(config, tunnel(proxy, address, tls).map_err(move |error| failed(error.into())), bearer)
        }
        _ => over(config, tunnel(proxy, address, tcp).map_err(move |error| failed(error.into())), bearer),
    }
}

fn tunnel<C>(proxy: &Proxy, address: Uri, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(address, connector);
    match proxy.intercept.basic_auth() {
        Some(user) => tunnel.with_auth(user.clone()),
        None => tunnel,
    }
}

fn over<C>(config: &Config, connector: C, bearer: Option<Bearer>) -> Result<Transport, Box<kube::Error>>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(connector)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    let client = Client::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let stack = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .option_layer(bearer.map(AsyncFilterLayer::new))
        .map_err(BoxError::from)
        .service(client);
    Ok(stack.boxed())
}
