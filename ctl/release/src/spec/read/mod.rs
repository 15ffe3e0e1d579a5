//! From the tree to a [`Release`], one file for each part. Faults are recorded and reading continues.

pub(super) mod alerts;
pub(super) mod analysis;
pub(super) mod delivery;
pub(super) mod dependencies;
pub(super) mod hooks;
mod keys;
pub(super) mod rollout;
mod secret_source;
pub(super) mod users;
pub(super) mod windows;

use super::object_metadata::{check_annotation, check_label};
use super::{
    Cookies, Gateway, Label, MetadataError, ObjectMetadata, Release, ReleaseName, Routes, Selector, Service,
    Session, Versions,
};
pub(crate) use analysis::MAX_QUERY;
use analysis::MetricSubject;
use assignment::Weight;
use assignment::contract::{CacheControl, ExpiryAction, SameSite, SessionAffinity};
use placed_yaml::{Faults, Node, Section, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

/// The format of `canary.yaml` that this tool reads.
pub(crate) const API_VERSION: &str = "canary-ctl.io/v1alpha1";
/// The kind of `canary.yaml`.
pub(crate) const KIND: &str = "Release";

/// Reads a release. `None`, or faults noted, or both, where it is none.
pub(crate) fn release(faults: &Faults, folder: &Path, root: &Node) -> Option<Release> {
    let mut top = Section::new(faults, "", root);
    let is_version = exactly(&mut top, "apiVersion", API_VERSION);
    let is_release = exactly(&mut top, "kind", KIND) || is_version;
    if !is_release {
        // A file of another kind: what its fields lack says nothing.
        return None;
    }
    let metadata = top.required_section("metadata").map(metadata);
    let spec = top.required_section("spec");
    top.finish();
    let mut metadata = metadata?;
    let mut spec = spec?;
    metadata.uid = uid(&mut spec, metadata.uid);
    self::spec(spec, folder, metadata)
}

/// `spec.uid`, or `metadata.uid` of an older file: there an object of a cluster has one of its own.
fn uid(spec: &mut Section<'_>, older: Option<String>) -> Option<String> {
    let Some(node) = spec.node("uid") else { return older };
    let uid = spec.scalar(node)?.to_owned();
    if let Some(older) = older.filter(|older| *older != uid) {
        let message = format!("expected the uid of `metadata.uid`, `{older}`, found `{uid}`");
        let hint = "keep the one that the release was applied with, here: another one invalidates pins, ids and tokens";
        spec.fault(node.place, message, Some(hint.to_owned()));
    }
    Some(uid)
}

/// Whether a field has the expected text, or none.
fn exactly(section: &mut Section<'_>, field: &'static str, expected: &str) -> bool {
    let Some(node) = section.required(field) else { return true };
    let found = section.scalar(node).unwrap_or_default();
    if found != expected {
        section.fault(node.place, format!("expected `{expected}`, found `{found}`"), None);
    }
    found == expected
}

/// The name of a release, and the metadata of its objects.
struct Metadata {
    name: Option<ReleaseName>,
    uid: Option<String>,
    objects: ObjectMetadata,
}

fn metadata(mut section: Section<'_>) -> Metadata {
    let name = section.required_parsed::<Label>("name");
    let namespace = section.required_parsed::<Label>("namespace");
    let uid = section.text("uid");
    let objects = ObjectMetadata {
        labels: named_texts(&mut section, "labels", check_label),
        annotations: named_texts(&mut section, "annotations", check_annotation),
    };
    if let Err(error) = objects.check_size() {
        section.fault(section.place(), error.to_string(), None);
    }
    section.finish();
    Metadata {
        name: name.zip(namespace).map(|(name, namespace)| ReleaseName { namespace, name }),
        uid,
        objects,
    }
}

/// Texts by names that are the user's, each checked at its place.
fn named_texts(
    section: &mut Section<'_>,
    field: &'static str,
    check: fn(&str, &str) -> Result<(), MetadataError>,
) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for entry in section.entries_of(field).unwrap_or_default() {
        let Some(text) = section.scalar(&entry.node) else { continue };
        if let Err(error) = check(&entry.key, text) {
            section.fault(entry.place, error.to_string(), None);
        }
        texts.insert(entry.key.clone(), text.to_owned());
    }
    texts
}

// The words of a field, for the schema too.
pub(super) const EXPIRY_ACTIONS: [(&str, ExpiryAction); 2] =
    [("stop", ExpiryAction::Stop), ("rollback", ExpiryAction::Rollback)];
pub(super) const SESSION_AFFINITIES: [(&str, SessionAffinity); 2] =
    [("none", SessionAffinity::None), ("identity", SessionAffinity::Identity)];
pub(super) const CACHE_CONTROL: [(&str, CacheControl); 2] =
    [("unchanged", CacheControl::Unchanged), ("private", CacheControl::Private)];
pub(super) const ROUTES: [(&str, Routes); 4] = [
    ("managed", Routes::Managed),
    ("external", Routes::External),
    ("inject", Routes::Inject),
    ("gateway-api", Routes::GatewayApi),
];
pub(super) const SAME_SITE: [(&str, SameSite); 3] =
    [("Lax", SameSite::Lax), ("Strict", SameSite::Strict), ("None", SameSite::None)];

/// Everything below `spec`. All parts are read before the first missing one ends it, so that no fault hides another.
fn spec(mut spec: Section<'_>, folder: &Path, Metadata { name, uid, objects }: Metadata) -> Option<Release> {
    let service = service_of(&mut spec, name.as_ref());
    let versions = spec.required_section("versions").and_then(versions);
    let entry_points = entry_points(&mut spec);
    let users = users::users(&mut spec);
    let steps = steps(&mut spec);
    let subject = MetricSubject::of(name.as_ref(), service.as_ref(), versions.as_ref());
    let responses = responses(&mut spec);
    let rollout =
        rollout::rollout(spec.section("rollout"), &subject, users.as_ref(), responses.latency_histogram);
    let overrides = users::overrides(&mut spec);
    let cookies = spec.section("cookies").map(cookies).unwrap_or_default();
    let routes = spec.choice("routes", &ROUTES);
    let delivery = match spec.section("delivery") {
        Some(section) => delivery::delivery(section, folder),
        None => Some(delivery::default_delivery()),
    };
    spec.finish();
    let (name, users) = (name?, users?);
    Some(Release {
        service: service?,
        versions: versions?,
        hosts: entry_points.hosts?,
        paths: entry_points.paths,
        gateways: entry_points.gateways,
        sidecars: entry_points.sidecars,
        delivery: delivery?,
        session: users.session.unwrap_or_else(Session::default),
        stickiness: users.stickiness,
        identify_by: users.keys,
        mint: users.mint,
        fallback: users.fallback,
        identity: users.identity,
        salt: users.salt,
        fuse: responses.fuse.unwrap_or(users.train.is_none()),
        train: users.train,
        train_namespaces: users.train_namespaces,
        name,
        uid,
        metadata: objects,
        weight: steps.weight,
        max_step: steps.max_step,
        on_expiry: steps.on_expiry,
        rollout,
        overrides,
        cookies,
        session_affinity: responses.session_affinity,
        cache_control: responses.cache_control,
        latency_histogram: responses.latency_histogram,
        routes,
    })
}

/// The handling of a version's responses in the proxies.
struct Responses {
    session_affinity: SessionAffinity,
    cache_control: CacheControl,
    latency_histogram: bool,
    fuse: Option<bool>,
}

fn responses(spec: &mut Section<'_>) -> Responses {
    Responses {
        session_affinity: spec.choice("sessionAffinity", &SESSION_AFFINITIES).unwrap_or_default(),
        cache_control: spec.choice("cacheControl", &CACHE_CONTROL).unwrap_or_default(),
        latency_histogram: spec.flag("latencyHistogram").unwrap_or_default(),
        fuse: spec.flag("fuse"),
    }
}

/// The entry points of its requests.
struct EntryPoints {
    hosts: Option<Vec<String>>,
    paths: Vec<String>,
    gateways: Vec<Gateway>,
    sidecars: Vec<Selector>,
}

fn entry_points(spec: &mut Section<'_>) -> EntryPoints {
    EntryPoints {
        hosts: hosts(spec),
        paths: spec.texts("paths").unwrap_or_else(|| vec!["/".to_owned()]),
        gateways: gateways(spec),
        sidecars: sidecars(spec),
    }
}

/// The changes of the weight.
struct Steps {
    weight: Weight,
    max_step: Weight,
    on_expiry: ExpiryAction,
}

fn steps(spec: &mut Section<'_>) -> Steps {
    let half = || Weight::new(5_000).unwrap_or(Weight::FULL);
    Steps {
        weight: spec.parsed("weight").unwrap_or_default(),
        max_step: spec.parsed("maxStep").unwrap_or_else(half),
        on_expiry: spec.choice("onExpiry", &EXPIRY_ACTIONS).unwrap_or_default(),
    }
}

/// The Service; where none is named, the one that is called as the release.
fn service_of(spec: &mut Section<'_>, name: Option<&ReleaseName>) -> Option<Service> {
    match spec.section("service") {
        Some(section) => service(section),
        None => name.map(|name| Service { name: name.name.clone(), port: 80 }),
    }
}

/// A port as a file writes it.
struct Port(u16);

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.parse().ok().filter(|port| *port > 0);
        port.map(Self).ok_or_else(|| format!("expected a port, 1 to 65535, found `{text}`"))
    }
}

fn service(mut section: Section<'_>) -> Option<Service> {
    let name = section.required_parsed::<Label>("name");
    let port = section.parsed::<Port>("port").map_or(80, |Port(port)| port);
    section.finish();
    Some(Service { name: name?, port })
}

fn versions(mut section: Section<'_>) -> Option<Versions> {
    let label = section.text("label").unwrap_or_else(|| "version".to_owned());
    let stable = section.required_text("stable");
    let canary = section.text("canary");
    section.finish();
    Some(Versions { label, stable: stable?, canary, rolled_back: None })
}

fn hosts(spec: &mut Section<'_>) -> Option<Vec<String>> {
    let node = spec.required("hosts")?;
    let hosts: Vec<_> =
        spec.items("hosts", node)?.into_iter().filter_map(|(_, node)| spec.scalar(node)).collect();
    if hosts.is_empty() {
        spec.fault(node.place, "expected at least one host, found none", None);
    }
    Some(hosts.into_iter().map(str::to_ascii_lowercase).collect())
}

fn gateways(spec: &mut Section<'_>) -> Vec<Gateway> {
    let items = spec.list("gateways").unwrap_or_default();
    let read = |(path, node): (String, &Node)| {
        let mut section = Section::new(spec.faults(), path, node);
        let name = section.required_parsed::<ReleaseName>("name");
        let namespace = match section.node("namespace") {
            Some(node) => section.parse::<Label>(node),
            None => name.as_ref().map(|name| name.namespace.clone()),
        };
        let pods = selector_of(&mut section, namespace);
        section.finish();
        Some(Gateway { name: name?, pods: pods? })
    };
    items.into_iter().filter_map(read).collect()
}

fn sidecars(spec: &mut Section<'_>) -> Vec<Selector> {
    let items = spec.list("sidecars").unwrap_or_default();
    let read = |(path, node): (String, &Node)| {
        let mut section = Section::new(spec.faults(), path, node);
        let namespace = section.required_parsed::<Label>("namespace");
        let pods = selector_of(&mut section, namespace);
        section.finish();
        pods
    };
    items.into_iter().filter_map(read).collect()
}

/// `selector` of a mapping, in a namespace.
fn selector_of(section: &mut Section<'_>, namespace: Option<Label>) -> Option<Selector> {
    let labels = section.pairs("selector").unwrap_or_default();
    Some(Selector { namespace: namespace?, labels })
}

fn cookies(mut section: Section<'_>) -> Cookies {
    let stated = section.flag("tls");
    let same_site = section.choice("sameSite", &SAME_SITE).unwrap_or_default();
    let domain = section.text("domain");
    section.finish();
    Cookies { tls: stated.unwrap_or(true), is_tls_stated: stated.is_some(), same_site, domain }
}

/// Whether the value is a scalar where a mapping is allowed too: `override: token` and `override: {mode: token}`.
fn is_word(node: &Node) -> bool {
    matches!(node.value, Value::Scalar(..))
}
