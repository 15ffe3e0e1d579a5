//! The content of a `canary.yaml` that was read without a fault.

use super::{Label, ObjectMetadata, ReleaseName, RolloutSpec, Seconds, ServiceHost};
use crate::EmbeddedModule;
use assignment::contract::{
    CacheControl, ExpiryAction, Fallback, IdentityMode, KeySource, MintPolicy, OverrideMode, SameSite,
    SessionAffinity, Stickiness,
};
use assignment::{Identity, Weight};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The word for a module in the configuration itself.
pub(crate) const EMBEDDED: &str = "embedded";

/// A release: which users of a service get which version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// `<namespace>/<name>`.
    pub name: ReleaseName,
    /// Part of everything that is signed; where the state has one, that one counts.
    pub uid: Option<String>,
    /// Labels and annotations of its objects.
    pub metadata: ObjectMetadata,
    /// The Service that is released.
    pub service: Service,
    /// The versions behind it.
    pub versions: Versions,
    /// Host names, lower case: exact, `*.suffix`, or `*`.
    pub hosts: Vec<String>,
    /// Path prefixes.
    pub paths: Vec<String>,
    /// The gateways that serve the hosts.
    pub gateways: Vec<Gateway>,
    /// Workloads inside the mesh that call the service, and whose sidecars decide too.
    pub sidecars: Vec<Selector>,
    /// Whether a user may move when the weight does.
    pub stickiness: Stickiness,
    /// The application's sessions.
    pub session: Session,
    /// The sources of the user key, in order.
    pub identify_by: Vec<KeySource>,
    /// When a user without a key is given one.
    pub mint: MintPolicy,
    /// The version of a request to which no other rule applies.
    pub fallback: Fallback,
    /// Whether identities are keyed.
    pub identity: IdentityMode,
    /// The salt, where it is not [`Release::default_salt`].
    pub salt: Option<String>,
    /// The train, if any.
    pub train: Option<String>,
    /// The other namespaces whose releases belong to the train: what they are counts for this release.
    pub train_namespaces: BTreeSet<Label>,
    /// The share to begin with.
    pub weight: Weight,
    /// The largest raise that is done without being asked twice.
    pub max_step: Weight,
    /// The action when a weight expires.
    pub on_expiry: ExpiryAction,
    /// The automated rollout, from the first weight to the promotion.
    pub rollout: RolloutSpec,
    /// The choice of a version by testers.
    pub overrides: Overrides,
    /// Our cookies' attributes.
    pub cookies: Cookies,
    /// Whether subsets hash on the user.
    pub session_affinity: SessionAffinity,
    /// The handling of cacheable responses of the canary.
    pub cache_control: CacheControl,
    /// Whether the proxies keep a histogram of latencies for each version.
    pub latency_histogram: bool,
    /// Whether a proxy that sees the canary fail sends new sessions to stable. Not by default in a train, whose releases must agree
    /// about a user.
    pub fuse: bool,
    /// The writer of the routes; if the file does not say it, the owner of the existing ones decides.
    pub routes: Option<Routes>,
    /// The delivery of the filter to the proxies.
    pub delivery: Delivery,
}

/// A Kubernetes Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name, in the release's namespace.
    pub name: Label,
    /// Its port.
    pub port: u16,
}

/// The versions of a service and the label that distinguishes their pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The pods' version label.
    pub label: String,
    /// The stable version: the default for undecided requests.
    pub stable: String,
    /// The version under test, if there is one.
    pub canary: Option<String>,
    /// A version that was rolled back and that the object of the release still names: whoever applies the rest of the object has not
    /// taken note of it. A file has none.
    pub rolled_back: Option<String>,
}

/// A gateway, as object and as pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// `<namespace>/<name>` of the Gateway object.
    pub name: ReleaseName,
    /// Its pods.
    pub pods: Selector,
}

/// Pods in a namespace, by their labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    /// Their namespace.
    pub namespace: Label,
    /// Their labels; none selects every pod of the namespace.
    pub labels: BTreeMap<String, String>,
}

/// The application's sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The application's session cookie.
    pub cookie: Option<String>,
    /// Whether sessions older than the filter stay where they are.
    pub adopt: bool,
    /// The time after the installation in which the filter adopts sessions.
    pub adopt_for: Seconds,
    /// Past this age a pin is renewed with its session; without a session the request is decided again.
    pub max_age: Seconds,
    /// Gives the pin an age of its own.
    pub idle: Option<Seconds>,
}

/// The choice of a version by testers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The clients that may choose a version.
    pub mode: OverrideMode,
    /// Tokens issued before (seconds since 1970-01-01 UTC) are revoked.
    pub tokens_not_before_seconds: u64,
}

/// Attributes of our cookies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookies {
    /// Whether browsers speak TLS, with the gateway or with what is in front of it: `Secure` and `__Host-` names.
    pub tls: bool,
    /// Whether the file says so. Otherwise the servers of the Gateways have to speak TLS.
    pub is_tls_stated: bool,
    /// `SameSite`.
    pub same_site: SameSite,
    /// `Domain`, where sub-domains must share them.
    pub domain: Option<String>,
}

/// The writer of the routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Routes {
    /// `canary-ctl`: one of its own, which Istio merges with others of a gateway.
    #[default]
    Managed,
    /// A chart or another tool does; the routes are printed for it.
    External,
    /// Its owner; our routes are put before theirs.
    Inject,
    /// `canary-ctl`: `HTTPRoute`s of its own beside those of others, and a Service for each version.
    #[serde(rename = "gateway-api")]
    GatewayApi,
}

impl Routes {
    /// The word of the file.
    pub fn name(self) -> &'static str {
        super::read::ROUTES.iter().find(|(_, routes)| *routes == self).map_or("", |(name, _)| name)
    }
}

/// The delivery of the filter to the proxies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// By which objects.
    pub mode: Mode,
    /// The address of the module.
    pub module: Module,
    /// Of the manifest for `oci://`, of the file for `http(s)://`: 64 hexadecimal digits.
    pub sha256: Option<String>,
    /// Name of a response header with the decision. For test systems.
    pub debug_header: Option<String>,
    /// Writes filter state for access logs.
    pub filter_state: bool,
    /// The local target, where that is the mode.
    pub local: Option<Local>,
}

/// By which objects the filter reaches the proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Two `EnvoyFilter`s.
    EnvoyFilter,
    /// A `WasmPlugin` and an `EnvoyFilter`.
    WasmPlugin,
    /// A `TrafficExtension` and an `EnvoyFilter`.
    TrafficExtension,
    /// Files beside one Envoy, without Kubernetes.
    Local,
}

/// The address of the filter's module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Module {
    /// In the configuration itself. A file does not have the bytes: who reads it gives them by [`Module::embed`].
    Embedded(Option<EmbeddedModule>),
    /// A URL that the mesh's agent fetches: `oci://`, `http(s)://` or `file://`.
    Url(String),
    /// A file on this machine.
    File(PathBuf),
}

impl Mode {
    /// As `delivery.mode` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnvoyFilter => "envoyfilter",
            Self::WasmPlugin => "wasmplugin",
            Self::TrafficExtension => "trafficextension",
            Self::Local => "local",
        }
    }
}

impl Module {
    /// Gives an embedded module its bytes.
    pub fn embed(&mut self, module: Option<&EmbeddedModule>) {
        if let Self::Embedded(embedded) = self {
            *embedded = module.cloned();
        }
    }

    /// Its URL; of a file, the one of scheme `file`; of an embedded module, the word for it.
    pub fn url(&self) -> String {
        match self {
            Self::Embedded(_) => EMBEDDED.to_owned(),
            Self::Url(url) => url.clone(),
            Self::File(path) => format!("file://{}", path.display()),
        }
    }
}

/// One Envoy on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// State, keys and Envoy's files.
    pub directory: PathBuf,
    /// The address on which Envoy listens for users.
    pub listen: SocketAddr,
    /// Envoy's admin interface.
    pub admin: SocketAddr,
    /// The processes of each version.
    pub endpoints: BTreeMap<String, Vec<Endpoint>>,
}

/// A process of a version.
pub type Endpoint = SocketAddr;

impl Release {
    /// `<namespace>/<name>/<canary version>`, so that not the same users are on the canary of every release. Without a
    /// canary the stable version takes its place: no user is assigned to a canary then. Releases of a train share the
    /// train's salt, whatever their versions are called, so that they assign a user to the same role.
    pub fn default_salt(&self) -> String {
        if let Some(train) = &self.train {
            return format!("train/{train}");
        }
        let version = self.versions.canary.as_ref().unwrap_or(&self.versions.stable);
        format!("{}/{version}", self.name)
    }

    /// The file's uid, or one that is derived from the name, so that objects and tokens of this release have the same
    /// uid whenever they are created.
    pub fn uid_or_derived(&self) -> String {
        let derived =
            || Identity::of_key(self.name.to_string().as_bytes()).to_string().chars().take(12).collect();
        self.uid.clone().unwrap_or_else(derived)
    }

    /// The host of its Service.
    pub fn service_host(&self) -> ServiceHost {
        ServiceHost::from((&self.service.name, &self.name.namespace))
    }

    /// The namespaces that need keys: those of the gateways, because they sign; without any, that of the release.
    pub fn signing_namespaces(&self) -> BTreeSet<String> {
        let gateways: BTreeSet<String> =
            self.gateways.iter().map(|gateway| gateway.pods.namespace.to_string()).collect();
        if gateways.is_empty() { BTreeSet::from([self.name.namespace.to_string()]) } else { gateways }
    }

    /// The versions that have a role, stable first.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.versions.stable.as_str()).chain(self.versions.canary.as_deref())
    }
}

impl Default for Cookies {
    fn default() -> Self {
        Self { tls: true, is_tls_stated: false, same_site: SameSite::Lax, domain: None }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self { cookie: None, adopt: true, adopt_for: Seconds::DAY, max_age: Seconds::DAY, idle: None }
    }
}
