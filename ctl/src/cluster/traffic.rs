//! Who is still on a version, as far as the proxies' counters can say.
//!
//! The filter counts requests by version, role and reason. A request by pin is one of a session that stays where it is;
//! how many sessions there are no proxy knows, because a session that rests sends nothing.

use super::pods::is_ready;
use super::{Cluster, Error, proxies};
use crate::plan::Record;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio::task::JoinSet;

/// The counter of requests, as Prometheus has it.
const COUNTER: &str = "canary_requests_total";
/// The part of its name that it has in the proxy too.
const FILTER: &str = "canary_requests";

/// The requests of a release that its proxies have counted since they started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// By version and reason. A version that changed its role is one version.
    requests: BTreeMap<(String, String), u64>,
}

/// What a version had of all requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Requests of sessions that stay there: by pin, or adopted.
    pub sessions: u64,
    /// All requests that it had, testers left out.
    pub requests: u64,
    /// The requests of all versions.
    pub of: u64,
}

impl Cluster {
    /// What the ready proxies of a release have counted. A proxy that does not answer counts nothing.
    pub async fn traffic(&self, release: &str, record: &Record) -> Result<Traffic, Error> {
        let mut asked = JoinSet::new();
        let mut known = std::collections::BTreeSet::new();
        for proxies in &record.proxies {
            for pod in
                self.pods(&proxies.namespace, &proxies.labels).await?.iter().filter(|pod| is_ready(pod))
            {
                let pod = pod.metadata.name.clone().unwrap_or_default();
                if known.insert((proxies.namespace.clone(), pod.clone())) {
                    let (client, namespace) = (self.client.clone(), proxies.namespace.clone());
                    asked.spawn(async move { proxies::metrics(client, &namespace, &pod, FILTER).await });
                }
            }
        }
        let mut traffic = Traffic::default();
        for answer in asked.join_all().await {
            if let Ok(text) = answer? {
                traffic.add(&text, release);
            }
        }
        Ok(traffic)
    }
}

impl Traffic {
    /// What was counted since an earlier look. A proxy that went away meanwhile takes its counts with it.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |key| earlier.requests.get(key).copied().unwrap_or_default();
        let later = self.requests.iter().map(|(key, count)| (key.clone(), count.saturating_sub(before(key))));
        Self { requests: later.collect() }
    }

    /// A version's part of it.
    pub fn of(&self, version: &str) -> Part {
        let mut part = Part::default();
        for ((of, reason), count) in self.requests.iter().filter(|((_, reason), _)| reason != "override") {
            part.of += count;
            if of == version {
                part.requests += count;
                let is_session = matches!(reason.as_str(), "pin" | "adopted");
                part.sessions += if is_session { *count } else { 0 };
            }
        }
        part
    }

    /// Adds one proxy's text: `canary_requests_total{component="shop/shop",tag="v2/canary/pin"} 3`. A version holds no `/`.
    fn add(&mut self, text: &str, release: &str) {
        let component = format!("component=\"{release}\"");
        for line in text.lines().filter(|line| line.starts_with(COUNTER) && line.contains(&component)) {
            let count = line.rsplit_once(' ').and_then(|(_, count)| count.parse::<u64>().ok());
            let tag = line.split_once("tag=\"").and_then(|(_, rest)| rest.split_once('"'));
            let (Some(count), Some((tag, _))) = (count, tag) else { continue };
            if let [version, _role, reason] = tag.split('/').collect::<Vec<_>>().as_slice() {
                let key = ((*version).to_owned(), (*reason).to_owned());
                *self.requests.entry(key).or_default() += count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> Traffic {
        let mut traffic = Traffic::default();
        traffic.add(text, "shop/shop");
        traffic
    }

    #[test]
    fn requests_by_pin_are_those_of_sessions_and_testers_do_not_count() {
        let traffic = counted(
            "# TYPE canary_requests_total counter\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v1/draining/pin\"} 3\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v1/stable/hash\"} 4\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v2/stable/minted\"} 5\n\
             canary_requests_total{component=\"shop/shop\",tag=\"v2/canary/override\"} 100\n\
             canary_requests_total{component=\"shop/blog\",tag=\"v1/stable/pin\"} 100\n",
        );
        assert_eq!(traffic.of("v1"), Part { sessions: 3, requests: 7, of: 12 });
        assert_eq!(traffic.of("v2"), Part { sessions: 0, requests: 5, of: 12 });
    }

    #[test]
    fn between_two_looks_only_what_came_counts_and_a_restarted_proxy_is_no_debt() {
        let line = |count| {
            format!("canary_requests_total{{component=\"shop/shop\",tag=\"v1/draining/pin\"}} {count}\n")
        };
        assert_eq!(counted(&line(9)).since(&counted(&line(4))).of("v1").sessions, 5);
        assert_eq!(counted(&line(1)).since(&counted(&line(4))).of("v1").sessions, 0);
    }
}
