//! Connections with TLS.

use hyper_rustls::{ConfigBuilderExt as _, FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::ServerName;

/// Connects to `http` without, to `https` with TLS.
pub(crate) type TlsConnector = HttpsConnector<HttpConnector>;

/// The reason for which there is no TLS.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("cannot read the system's certificates")]
    Certificates(#[source] std::io::Error),
    /// This system's settings are refused.
    #[error(transparent)]
    Settings(#[from] rustls::Error),
    /// The name cannot stand in a certificate.
    #[error("`{0}` is no server name")]
    ServerName(String),
}

/// Trusts the system's certificates. They are read for TLS alone: a machine without any can still use plain HTTP.
/// Servers must have a certificate for `server_name`, where one is given, and otherwise for the host of the URI.
///
/// # Errors
///
/// If the certificates cannot be read, or TLS cannot be set up with them.
pub(crate) fn connector(needs_tls: bool, server_name: Option<&str>) -> Result<TlsConnector, TlsError> {
    let provider = rustls::crypto::ring::default_provider();
    let builder =
        rustls::ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions()?;
    let config = if needs_tls {
        builder.with_native_roots().map_err(TlsError::Certificates)?.with_no_client_auth()
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
    };
    let builder = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
    Ok(match server_name {
        None => builder.enable_http1().build(),
        Some(name) => {
            let name =
                ServerName::try_from(name.to_owned()).map_err(|_| TlsError::ServerName(name.to_owned()))?;
            builder.with_server_name_resolver(FixedServerNameResolver::new(name)).enable_http1().build()
        }
    })
}
