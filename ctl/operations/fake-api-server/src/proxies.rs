//! Proxies that run what istiod has sent them, and say so in their metrics.

use super::request::{Request, failure, json};
use super::store::Store;
use assignment::contract::{FilterConfig, Position, ReleaseConfig};
use canary_release::delivery::deployed_config;
use canary_release::metrics::ReleaseGeneration;
use http::Response;
use jiff::Timestamp;
use kube::client::Body;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The proxies by the paths of their pods.
#[derive(Default)]
pub struct Proxies {
    by_pod: BTreeMap<String, Proxy>,
    /// Nothing reaches the proxies while it is away.
    is_istiod_away: bool,
    /// Listeners do not change: proxies get configurations for the filters that they have, and no other filter.
    are_listeners_held: bool,
    /// No proxy responds on its metrics port.
    are_silent: bool,
    /// The names of the pods whose proxies do not respond there.
    silent: BTreeSet<String>,
    /// A module that no proxy can fetch: it keeps the configuration that it has.
    unreachable_module: Option<String>,
}

/// What a proxy counts by user group. What is 0 has no counter.
const GROUP_COUNTERS: [&str; 8] = [
    "requests",
    "responses",
    "server_errors",
    "client_errors",
    "slow_responses",
    "unanswered",
    "lost_sessions",
    "emptied_sessions",
];

#[derive(Default)]
struct Proxy {
    /// What it reports. A gauge stays until the listener is drained, which takes longer than any test.
    generations: BTreeMap<String, ReleaseGeneration>,
    /// The names under which its filters ask for their configurations, those of listeners that drain included.
    subscriptions: BTreeSet<String>,
    /// The clusters that it has.
    clusters: BTreeSet<String>,
    /// How many it was given since it started.
    clusters_added: usize,
    /// The releases whose configuration asks for counters by user group.
    counting: BTreeSet<String>,
    /// The releases of a train that it has as a sidecar: it counts those of their requests that the gateway's header asks for.
    following: BTreeMap<String, String>,
    /// The trains of the releases in `counting`: the gateway's header asks for counters.
    counting_trains: BTreeSet<String>,
    /// What was counted by release, version and user group: [`GROUP_COUNTERS`].
    groups: BTreeMap<(String, String, usize), [u64; GROUP_COUNTERS.len()]>,
    /// When the fuse of a canary closes, in seconds since 1970, by release, and version and epoch.
    fuses: BTreeMap<(String, String), u64>,
    /// Lines of histograms of latencies.
    latencies: Vec<(String, String)>,
}

impl Proxies {
    pub fn stop_istiod(&mut self) {
        self.is_istiod_away = true;
    }

    pub fn start_istiod(&mut self, store: &Store) {
        self.is_istiod_away = false;
        self.push(store);
    }

    pub fn hold_listeners(&mut self) {
        self.are_listeners_held = true;
    }

    pub fn silence(&mut self) {
        self.are_silent = true;
    }

    pub fn speak(&mut self) {
        self.are_silent = false;
    }

    /// The proxies of these pods do not respond, and all others do.
    pub fn silence_pods(&mut self, names: impl IntoIterator<Item = String>) {
        self.silent = names.into_iter().collect();
    }

    pub fn set_unreachable_module(&mut self, url: &str) {
        self.unreachable_module = Some(url.to_owned());
    }

    /// Users of each user group get so many responses of a version, and so many of them are server errors. A proxy counts them
    /// if its configuration asks for it.
    pub fn respond(&mut self, version: &str, each: u64, failed: u64) {
        self.count(version, [each, each, failed, 0, 0, 0, 0, 0]);
    }

    /// So many of the responses that users of each user group got of a version are of this kind besides.
    pub fn fail_as(&mut self, kind: &str, version: &str, each: u64) {
        self.count(version, GROUP_COUNTERS.map(|counter| if counter == kind { each } else { 0 }));
    }

    /// The same of a release behind the one that the gateways have, whose users' requests have the gateway's header: counted while a rollout of
    /// a release of the same train runs there.
    pub fn respond_inside(&mut self, release: &str, version: &str, each: u64, failed: u64) {
        self.count_inside(release, version, [each, each, failed, 0, 0, 0, 0, 0]);
    }

    /// So many of those responses are of this kind besides.
    pub fn fail_inside(&mut self, kind: &str, release: &str, version: &str, each: u64) {
        self.count_inside(
            release,
            version,
            GROUP_COUNTERS.map(|counter| if counter == kind { each } else { 0 }),
        );
    }

    fn count_inside(&mut self, release: &str, version: &str, each: [u64; GROUP_COUNTERS.len()]) {
        let trains: BTreeSet<String> =
            self.by_pod.values().flat_map(|proxy| proxy.counting_trains.iter().cloned()).collect();
        for proxy in self.by_pod.values_mut() {
            if proxy.following.get(release).is_some_and(|train| trains.contains(train)) {
                proxy.count_of(release, version, each);
            }
        }
    }

    fn count(&mut self, version: &str, each: [u64; GROUP_COUNTERS.len()]) {
        for proxy in self.by_pod.values_mut() {
            for release in proxy.counting.clone() {
                proxy.count_of(&release, version, each);
            }
        }
    }

    /// The fuse of a canary, `<version>/<epoch>`, opens in so many of the proxies until a time.
    pub fn open_fuses(&mut self, count: usize, release: &str, canary: &str, until: Timestamp) {
        let until = u64::try_from(until.as_second()).unwrap();
        for proxy in self.by_pod.values_mut().take(count) {
            proxy.fuses.insert((release.to_owned(), canary.to_owned()), until);
        }
    }

    /// The first proxy has counted the latencies of a version, `<version>/<role>`: responses up to so many milliseconds, and all of them.
    pub fn set_latencies<const EDGES: usize>(
        &mut self,
        release: &str,
        tag: &str,
        up_to: [(u64, u64); EDGES],
        all: u64,
    ) {
        let name = format!("canary_latency.component.{release}.tag.{tag};.milliseconds");
        let labels = format!("component=\"{release}\",tag=\"{tag}\"");
        let bucket =
            |(edge, count)| format!("canary_latency_milliseconds_bucket{{{labels},le=\"{edge}\"}} {count}");
        let mut lines: Vec<String> = up_to.map(bucket).into();
        lines.push(format!("canary_latency_milliseconds_bucket{{{labels},le=\"+Inf\"}} {all}"));
        lines.push(format!("canary_latency_milliseconds_count{{{labels}}} {all}"));
        if let Some(proxy) = self.by_pod.values_mut().next() {
            proxy.latencies = lines.into_iter().map(|line| (name.clone(), line)).collect();
        }
    }

    /// All proxies start again: their counters are 0.
    pub fn restart(&mut self) {
        self.by_pod.values_mut().for_each(|proxy| proxy.groups.clear());
    }

    /// The number of proxies.
    pub fn len(&self) -> usize {
        self.by_pod.len()
    }

    /// Whether a proxy counts by user group.
    pub fn is_counting(&self) -> bool {
        self.by_pod.values().any(|proxy| !proxy.counting.is_empty())
    }

    /// Sends the proxies all objects.
    pub(super) fn push(&mut self, store: &Store) {
        if self.is_istiod_away {
            return;
        }
        // Parsed once for all proxies: an object of a thousand releases is large.
        let configs: Vec<(&Value, Option<FilterConfig>)> =
            store.of_kind("EnvoyFilter").map(|object| (object, deployed_config(object).unwrap())).collect();
        for pod in store.of_kind("Pod").filter(|pod| has_proxy(pod) && is_ready(pod)) {
            let [namespace, name] =
                ["namespace", "name"].map(|field| pod["metadata"][field].as_str().unwrap());
            let proxy = self.by_pod.entry(format!("/api/v1/namespaces/{namespace}/pods/{name}")).or_default();
            let objects: Vec<_> = configs.iter().filter(|(object, _)| is_for(object, pod)).collect();
            if !self.are_listeners_held {
                proxy.subscriptions.extend(objects.iter().flat_map(|(object, _)| subscriptions(object)));
            }
            for (object, config) in objects {
                if !proxy.subscriptions.contains(resource_name(object)) {
                    continue;
                }
                let is_reachable = self.unreachable_module.as_ref().is_none_or(|url| !names(object, url));
                if let Some(config) = config.as_ref().filter(|_| is_reachable) {
                    let counts = |(_, release): &(&String, &ReleaseConfig)| release.rollout_since_seconds > 0;
                    proxy.counting =
                        config.releases.iter().filter(counts).map(|(name, _)| name.clone()).collect();
                    proxy.generations = generations(config);
                    let counting = config.releases.iter().filter(counts);
                    proxy.counting_trains =
                        counting.filter_map(|(_, release)| release.train.clone()).collect();
                    let is_inside = config.position == Position::Mesh;
                    let inside = config.releases.iter().filter(|_| is_inside);
                    proxy.following = inside
                        .filter_map(|(name, release)| Some((name.clone(), release.train.clone()?)))
                        .collect();
                }
            }
            // A rule for its own namespace alone is one of other callers.
            let is_seen = |rule: &&Value| rule["spec"]["exportTo"] != serde_json::json!(["."]);
            let rules = store.of_kind("DestinationRule").filter(is_seen);
            let services = store.of_kind("Service").map(|service| service["metadata"]["name"].to_string());
            let clusters: BTreeSet<String> = rules.flat_map(subsets).chain(services).collect();
            proxy.clusters_added += clusters.difference(&proxy.clusters).count();
            proxy.clusters = clusters;
        }
    }

    /// The metrics of a proxy, if the request is for metrics.
    pub(super) fn metrics(&self, request: &Request) -> Option<Response<Body>> {
        let (pod, _) = request.path.split_once(":15090/proxy/stats/prometheus")?;
        let filter = Regex::new(&request.query["filter"]).unwrap();
        let is_silent =
            self.are_silent || pod.rsplit('/').next().is_some_and(|name| self.silent.contains(name));
        let Some(text) = self.page(pod, &filter).filter(|_| !is_silent) else {
            return Some(failure(503, "Unavailable", "no endpoint"));
        };
        let mut response = json(200, &Value::Null);
        *response.body_mut() = Body::from(text.into_bytes());
        Some(response)
    }

    /// What a scraper reads of a proxy that no client of the API server reaches.
    pub fn scrape(&self, namespace: &str, pod: &str) -> Option<String> {
        let all = Regex::new("").unwrap();
        self.page(&format!("/api/v1/namespaces/{namespace}/pods/{pod}"), &all)
    }

    /// The metrics of a proxy whose names in Envoy match a filter.
    fn page(&self, pod: &str, filter: &Regex) -> Option<String> {
        let proxy = self.by_pod.get(pod)?;
        let lines = proxy.lines().into_iter().filter(|(name, _)| filter.is_match(name));
        Some(lines.map(|(_, line)| line + "\n").collect())
    }
}

impl Proxy {
    fn count_of(&mut self, release: &str, version: &str, each: [u64; GROUP_COUNTERS.len()]) {
        for group in 0..16 {
            let counters = self.groups.entry((release.to_owned(), version.to_owned(), group)).or_default();
            for (counter, more) in counters.iter_mut().zip(each) {
                *counter += more;
            }
        }
    }

    /// All metrics: names in Envoy, and lines for Prometheus.
    fn lines(&self) -> Vec<(String, String)> {
        let own = [
            ("wasm.envoy.wasm.runtime.v8.created", "envoy_wasm_envoy_wasm_runtime_v8_created", 1),
            ("cluster_manager.cluster_added", "envoy_cluster_manager_cluster_added", self.clusters_added),
            ("cluster_manager.warming_clusters", "envoy_cluster_manager_warming_clusters", 0),
        ];
        let own = own.map(|(name, metric, value)| (name.to_owned(), format!("{metric}{{}} {value}")));
        let generation = |(release, generation): (&String, &ReleaseGeneration)| {
            let ReleaseGeneration { installed_at_seconds, generation } = generation;
            of_release("canary_generation", "active", release, &installed_at_seconds.to_string(), *generation)
        };
        let fuse = |((release, canary), until): (&(String, String), &u64)| {
            of_release("canary_fuse", "open_until_seconds", release, canary, *until)
        };
        let mut lines: Vec<(String, String)> = own.into();
        lines.extend(self.generations.iter().map(generation));
        lines.extend(self.fuses.iter().map(fuse));
        lines.extend(self.latencies.iter().cloned());
        for ((release, version, group), counters) in &self.groups {
            for (what, count) in GROUP_COUNTERS.into_iter().zip(counters).filter(|(_, count)| **count > 0) {
                let name = format!("canary_group_{what}");
                lines.push(of_release(&name, "total", release, &format!("{version}/{group}"), *count));
            }
        }
        lines
    }
}

/// A metric of the filter: its name in Envoy, and its line for Prometheus.
fn of_release(name: &str, end: &str, release: &str, tag: &str, value: u64) -> (String, String) {
    (
        format!("{name}.component.{release}.tag.{tag};.{end}"),
        format!("{name}_{end}{{component=\"{release}\",tag=\"{tag}\"}} {value}"),
    )
}

fn has_proxy(pod: &Value) -> bool {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    containers.into_iter().any(|container| container["name"] == "istio-proxy")
}

/// A proxy that is not ready has not been sent anything yet.
fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Whether an EnvoyFilter selects a pod.
fn is_for(object: &Value, pod: &Value) -> bool {
    let labels = object["spec"]["workloadSelector"]["labels"].as_object().into_iter().flatten();
    object["metadata"]["namespace"] == pod["metadata"]["namespace"]
        && labels.into_iter().all(|(name, value)| pod["metadata"]["labels"][name.as_str()] == *value)
}

/// The name of the configuration in an object.
fn resource_name(object: &Value) -> &str {
    object["spec"]["configPatches"][0]["patch"]["value"]["name"].as_str().unwrap_or_default()
}

/// The names under which the filters of an object ask for their configurations.
fn subscriptions(object: &Value) -> impl Iterator<Item = String> + '_ {
    let patches = object["spec"]["configPatches"].as_array().into_iter().flatten();
    let values = patches.map(|patch| &patch["patch"]["value"]);
    let asking = values.filter(|value| !value["config_discovery"].is_null());
    asking.filter_map(|value| value["name"].as_str().map(str::to_owned))
}

/// Whether an object names a module.
fn names(object: &Value, url: &str) -> bool {
    object.to_string().contains(url)
}

fn generations(config: &FilterConfig) -> BTreeMap<String, ReleaseGeneration> {
    let releases = config.releases.iter();
    let active = |release: &ReleaseConfig| ReleaseGeneration {
        installed_at_seconds: release.installed_at_seconds,
        generation: release.generation,
    };
    releases.map(|(name, release)| (name.clone(), active(release))).collect()
}

fn subsets(rule: &Value) -> impl Iterator<Item = String> {
    let host = &rule["spec"]["host"];
    let subsets = rule["spec"]["subsets"].as_array().into_iter().flatten();
    subsets.map(move |subset| format!("{host} {}", subset["name"]))
}
