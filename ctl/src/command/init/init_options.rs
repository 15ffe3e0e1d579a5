//! The values of a first file: from the flags, else from the cluster.

use super::Init;
use crate::Error;
use crate::command::arguments::report_silence;
use crate::report::Printer;
use canary_operations::{Access, Cluster, WriteOptions};
use canary_release::discover::{self, AffinityCookie, ExistingGateway, Survey};
use canary_release::format::counted;
use canary_release::routing::ROUTE_KIND;
use canary_release::spec::ReleaseName;

/// The values of a first file.
pub(super) struct InitOptions {
    pub(super) name: String,
    pub(super) hosts: Vec<String>,
    pub(super) key: Known,
    pub(super) stable: String,
    pub(super) canary: String,
    pub(super) gateways: Gateways,
    /// The survey of the Service; `None` if the cluster was not read.
    pub(super) service: Option<Survey>,
}

/// The user key.
pub(super) enum Known {
    BySession(String),
    ByClaim(String),
}

/// Which gateways serve the hosts.
pub(super) enum Gateways {
    /// One of this name, or the example's; of its pods nothing is known.
    Named(Option<ReleaseName>),
    Found(Vec<ExistingGateway>),
}

impl InitOptions {
    /// From the flags alone. Fails if a required flag is missing.
    pub(super) fn by_flags(arguments: &Init) -> Result<Self, Error> {
        let missing = |what: &str, flag: &str| {
            Error::usage(format!("expected {what}, found none"), format!("give `{flag}`"))
        };
        let key = asked_key(arguments);
        Ok(Self {
            name: arguments.name()?.to_string(),
            hosts: arguments.hosts.clone(),
            key: key.ok_or_else(|| missing("what users are known by", "--session-cookie NAME"))?,
            stable: arguments.stable.clone().unwrap_or_else(|| "v1".to_owned()),
            canary: arguments
                .canary
                .clone()
                .ok_or_else(|| missing("a version under test", "--canary VERSION"))?,
            gateways: Gateways::Named(arguments.gateway.clone()),
            service: None,
        })
    }

    /// From the cluster, for flags that are not given; prints what was found.
    ///
    /// Fails if neither has a value, or if the Service cannot have a canary.
    pub(super) async fn on_the_cluster(arguments: &Init, printer: &mut Printer) -> Result<Self, Error> {
        let (kubeconfig, context) = (arguments.kubeconfig.clone(), arguments.context.clone());
        let access = Access { kubeconfig, context, on_silence: Some(report_silence), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await?;
        let (namespace, name) = (arguments.namespace(), arguments.name()?.as_str());
        let objects = cluster.application(namespace, name).await?;
        let objects =
            objects.ok_or_else(|| discover::Error::NoService { service: format!("{namespace}/{name}") })?;
        let found = Survey::of(&objects)?;
        let (stable, canary) =
            found.stable_and_canary(arguments.stable.as_deref(), arguments.canary.as_deref())?;
        let hosts = if arguments.hosts.is_empty() { found.hosts.clone() } else { arguments.hosts.clone() };
        if hosts.is_empty() {
            return Err(unsaid("which hosts users type: no route of a gateway leads there", "--host HOST"));
        }
        let key = asked_key(arguments).map_or_else(|| found_key(&found), Ok)?;
        let gateways = gateways(&cluster, arguments, &found).await?;
        tell(&found, printer);
        if arguments.tls.is_none() {
            tell_of_plain_http(&gateways, printer);
        }
        let name = name.to_owned();
        Ok(Self { name, hosts, key, stable, canary, gateways, service: Some(found) })
    }
}

fn asked_key(arguments: &Init) -> Option<Known> {
    let by_session = arguments.key.session_cookie.clone().map(Known::BySession);
    by_session.or_else(|| arguments.key.jwt_claim.clone().map(Known::ByClaim))
}

/// The key that the cluster names: the session cookie of the application.
fn found_key(found: &Survey) -> Result<Known, Error> {
    const FLAGS: &str = "--session-cookie NAME` or `--jwt-claim CLAIM";
    match &found.affinity_cookie {
        Some(AffinityCookie::Application(cookie)) => Ok(Known::BySession(cookie.clone())),
        Some(AffinityCookie::Envoy(cookie)) => Err(Error::usage(
            format!(
                "expected a session cookie of the application, found `{cookie}`, which Envoy sets itself (`consistentHash.httpCookie.ttl`): \
                 users behind one proxy would share it, and a logout would not end it"
            ),
            format!("give `{FLAGS}`"),
        )),
        None => Err(unsaid("what users are known by", FLAGS)),
    }
}

async fn gateways(cluster: &Cluster, arguments: &Init, found: &Survey) -> Result<Gateways, Error> {
    let asked = arguments.gateway.as_ref().map(|gateway| vec![gateway.to_string()]);
    let names = asked.unwrap_or_else(|| found.gateways.clone());
    let mut gateways = Vec::new();
    for name in &names {
        let gateway = cluster.gateway(name).await?;
        gateways.push(gateway.ok_or_else(|| {
            Error::usage(format!("expected Gateway `{name}`, found none"), "give another by `--gateway`")
        })?);
    }
    if gateways.is_empty() {
        return Err(unsaid("which gateway serves the hosts", "--gateway NAMESPACE/NAME"));
    }
    Ok(Gateways::Found(gateways))
}

fn unsaid(what: &str, flag: &str) -> Error {
    Error::usage(format!("nothing on the cluster says {what}"), format!("give `{flag}`"))
}

/// Prints that `Secure` cookies do not come back where no one speaks TLS: every canary session would move with its second request.
fn tell_of_plain_http(gateways: &Gateways, printer: &mut Printer) {
    let Gateways::Found(gateways) = gateways else { return };
    for gateway in gateways.iter().filter(|gateway| !gateway.speaks_tls) {
        printer.message(&format!("no server of Gateway `{}` speaks TLS", gateway.name));
        printer.hint("give `--tls false`, or `--tls true` if something in front of it speaks TLS with browsers: they drop `Secure` cookies without");
    }
}

/// Prints what the user should check.
fn tell(found: &Survey, printer: &mut Printer) {
    let versions: Vec<String> = found
        .versions
        .iter()
        .map(|(version, pods)| format!("`{version}` ({})", counted(*pods, "pod", "pods")))
        .collect();
    printer.message(&format!("versions by label `{}`: {}", found.label, versions.join(", ")));
    match &found.affinity_cookie {
        Some(AffinityCookie::Application(cookie)) => {
            printer.message(&format!("users are kept on their pods by cookie `{cookie}`"));
        }
        Some(AffinityCookie::Envoy(cookie)) => printer.message(&format!(
            "users are kept on their pods by cookie `{cookie}`, which Envoy sets (`ttl`): it is no session of the application"
        )),
        None => {}
    }
    if !found.route_objects.is_empty() {
        printer.message(&format!(
            "{ROUTE_KIND} `{}` leads there: `routes: external`, so it stays yours",
            found.route_objects.join("`, `")
        ));
        printer.hint("`canary-ctl generate routes` prints the routes to put into it");
    }
}
