//! The smallest bootstrap: one listener that answers by itself, behind the filters a test gives.

use std::net::SocketAddr;
use std::path::PathBuf;

use envoy_kit::{Envoy, EnvoyBinary, Options, free_ports};
use tempfile::TempDir;

/// A bootstrap in a folder of its own, and the addresses that are in it.
pub(crate) struct Bootstrap {
    directory: TempDir,
    pub(crate) admin: SocketAddr,
    pub(crate) listener: SocketAddr,
}

const TEMPLATE: &str = r#"
admin: { address: { socket_address: { address: 127.0.0.1, port_value: ADMIN } } }
static_resources:
  listeners:
  - name: main
    address: { socket_address: { address: 127.0.0.1, port_value: LISTENER } }
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: main
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: { prefix: / }
                direct_response: { status: 200, body: { inline_string: hello } }
          http_filters:
FILTERS
          - name: router
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
"#;

impl Bootstrap {
    /// With these filters before the router: list items of YAML, indented by ten; none is fine.
    pub(crate) fn write(filters: &str) -> Self {
        let directory = tempfile::tempdir().expect("a folder");
        let [admin, listener] = free_ports().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let yaml = TEMPLATE
            .replace("ADMIN", &admin.port().to_string())
            .replace("LISTENER", &listener.port().to_string())
            .replace("FILTERS", filters);
        std::fs::write(directory.path().join("envoy.yaml"), yaml).expect("written");
        Self { directory, admin, listener }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("envoy.yaml")
    }

    pub(crate) async fn start(&self, binary: &EnvoyBinary) -> Envoy {
        let options = Options { concurrency: 1, ..Options::default() };
        Envoy::start(binary, &self.path(), self.admin, &options).await.expect("envoy starts")
    }
}
