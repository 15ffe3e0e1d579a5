//! `envoy.yaml`: what a local Envoy is started with. It changes only with addresses, never with a release.

use super::{Error, Layout, RESOURCE_NAME};
use assignment::contract::{HeaderNames, Position};
use canary_release::manifest::untrusted_headers;
use placed_yaml::Template;
use serde_json::json;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

const TEMPLATE: &str = include_str!("../../../envoyfilter-templates/local-envoy.yaml");
const HCM: &str = "static_resources/listeners/0/filter_chains/0/filters/0/typed_config";

/// The settings of a bootstrap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// The address on which Envoy listens for users.
    pub listen: SocketAddr,
    pub admin: SocketAddr,
    /// Whether our filter is in the chain.
    pub filter: Filter,
    /// The proxy's position: inside the mesh identity and cohort are trusted, so they are not removed.
    pub position: Position,
    /// The file of the access log, if there is one.
    pub access_log: Option<PathBuf>,
}

/// Whether our filter is in the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    Installed,
    /// It is not; the early header mutation still is.
    Absent,
}

impl Bootstrap {
    /// An Envoy at the edge with our filter and without an access log.
    pub const fn new(listen: SocketAddr, admin: SocketAddr) -> Self {
        let (filter, position) = (Filter::Installed, Position::Edge);
        Self { listen, admin, filter, position, access_log: None }
    }
}

/// The file. It names the other files of `layout` by absolute paths, so Envoy may start anywhere.
///
/// # Errors
///
/// If the template cannot be filled in: always a fault of this code.
pub fn bootstrap(layout: &Layout, options: &Bootstrap) -> Result<String, Error> {
    let mut template = Template::new(TEMPLATE)?;
    let address = |at: SocketAddr| json!({"address": at.ip().to_string(), "port_value": at.port()});
    let directory = absolute(layout.directory())?;
    let files = Layout::new(directory);
    let removals: Vec<_> = untrusted_headers(&HeaderNames::default(), options.position)
        .into_iter()
        .map(|name| json!({"remove": name}))
        .collect();
    let discovery = format!("{HCM}/http_filters/0/config_discovery");
    template
        .set("admin/address/socket_address", address(options.admin))?
        .set("static_resources/listeners/0/address/socket_address", address(options.listen))?
        .set("dynamic_resources/cds_config/path_config_source/path", files.clusters())?
        .set(&format!("{HCM}/rds/config_source/path_config_source/path"), files.routes())?
        .set(&format!("{HCM}/early_header_mutation_extensions/0/typed_config/mutations"), removals)?
        .set(&format!("{HCM}/http_filters/0/name"), RESOURCE_NAME)?
        .set(&format!("{discovery}/config_source/path_config_source/path"), files.ecds())?;
    if let Some(path) = &options.access_log {
        let log = json!([{
            "name": "envoy.access_loggers.file",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
                "path": absolute(path)?,
            },
        }]);
        template.set(&format!("{HCM}/access_log"), log)?;
    }
    if options.filter == Filter::Absent {
        template.remove(&format!("{HCM}/http_filters/0"))?;
    }
    Ok(template.finish()?)
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(Error::file("find", path))
}
