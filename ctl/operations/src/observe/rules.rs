//! The `DestinationRule`s that may be in force for a release's Service, and the proxies that go by them.

use crate::{Cluster, Error, Protected};
use canary_release::destination_rule::{CalledService, Client, HostRule, ROOT_NAMESPACE};
use canary_release::object::Stage;
use canary_release::plan::PlanNote;
use canary_release::preflight::{PreflightCheck, UnroutedCalls, hidden_subsets};
use canary_release::record::{Proxies, Record};
use canary_release::spec::{ReleaseName, Routes, ServiceHost};
use serde_json::Value;
use std::collections::BTreeSet;

const RULE_KIND: &str = "DestinationRule";

/// The rules for a Service, as far as they may be seen.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) found: Vec<HostRule>,
    /// Those in other namespaces, by which callers there go; none where these may not be listed.
    pub(crate) elsewhere: Vec<HostRule>,
    /// All rules of the namespaces, those for other Services too.
    pub(crate) bodies: Vec<Value>,
    /// Whether those of the whole mesh may not be listed.
    is_root_hidden: bool,
}

impl Rules {
    /// A note on a plan that was made without the rules of the whole mesh.
    pub(crate) fn note(&self) -> Option<PlanNote> {
        self.is_root_hidden.then(|| PlanNote::RulesNotListed { namespace: ROOT_NAMESPACE.to_owned() })
    }
}

impl Cluster {
    /// The rules of every namespace that istiod searches: the proxies', the Service's, the root. Without rights in the
    /// root namespace only the others are returned.
    pub(crate) async fn rules(&self, namespace: &str, record: &Record) -> Result<Rules, Error> {
        let namespaces = namespaces(record, namespace);
        let (all, is_root_hidden) = match self.client.list_istio(RULE_KIND, "").await {
            Err(Error::Forbidden { .. }) => self.rules_in(&namespaces).await?,
            listed => (listed?, false),
        };
        let namespace_of =
            |body: &Value| body.pointer("/metadata/namespace").and_then(Value::as_str).map(str::to_owned);
        let is_searched = |body: &Value| {
            namespace_of(body).is_some_and(|found| found == ROOT_NAMESPACE || namespaces.contains(&found))
        };
        let (bodies, others): (Vec<Value>, Vec<Value>) = all.into_iter().partition(is_searched);
        let host = ServiceHost::new(&record.service.name, namespace).fqdn();
        let of_host = |bodies: &[Value]| {
            let mut rules = bodies.iter().map(HostRule::of).collect::<Result<Vec<_>, _>>()?;
            rules.retain(|rule| rule.matches(&host));
            Ok::<_, Error>(rules)
        };
        Ok(Rules { found: of_host(&bodies)?, elsewhere: of_host(&others)?, bodies, is_root_hidden })
    }

    /// The rules of these namespaces and of the root, and whether the latter may not be listed.
    async fn rules_in(&self, namespaces: &BTreeSet<String>) -> Result<(Vec<Value>, bool), Error> {
        let mut bodies = self.client.list_istio_in(RULE_KIND, namespaces).await?;
        if namespaces.contains(ROOT_NAMESPACE) {
            return Ok((bodies, false));
        }
        match self.client.list_istio(RULE_KIND, ROOT_NAMESPACE).await {
            Err(Error::Forbidden { .. }) => Ok((bodies, true)),
            listed => {
                bodies.extend(listed?);
                Ok((bodies, false))
            }
        }
    }

    /// Refuses to send users to a canary where callers go by a rule of others without our subsets: they would get 503.
    pub(crate) async fn check_subsets(
        &self,
        release: &ReleaseName,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if skipped.contains(&PreflightCheck::HiddenSubsets) {
            return Ok(());
        }
        let hidden = self.hidden_subsets(release, record).await?;
        match hidden.iter().find_map(|calls| calls.hides_subsets(record.routes)) {
            Some(failed) => Err(failed.into()),
            None => Ok(()),
        }
    }

    /// The callers that go by a rule of others without our subsets.
    pub(crate) async fn hidden_subsets(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<Vec<UnroutedCalls>, Error> {
        let namespace = release.namespace.as_str();
        let rule = record.objects.iter().find(|(stage, _)| *stage == Stage::Subsets);
        let Some((_, ours)) = rule.filter(|_| !record.service.per_version) else { return Ok(Vec::new()) };
        let rules = self.rules(namespace, record).await?;
        let all: Vec<HostRule> = rules.found.into_iter().chain(rules.elsewhere).collect();
        let host = ServiceHost::new(&record.service.name, namespace).fqdn();
        let called = CalledService { host: &host, namespace };
        let ours = all.iter().find(|rule| rule.reference == *ours);
        Ok(ours.map(|ours| hidden_subsets(called, ours, &all)).unwrap_or_default())
    }

    /// Fails if external routes lead to a subset that only our rule has: without it they would lead to no pods.
    pub(crate) async fn protect_subsets(&self, release: &ReleaseName, record: &Record) -> Result<(), Error> {
        if record.routes != Routes::External {
            return Ok(());
        }
        let rules = self.rules(release.namespace.as_str(), record).await?;
        let is_ours = |rule: &&HostRule| record.objects.iter().any(|(_, object)| *object == rule.reference);
        let (ours, others): (Vec<&HostRule>, Vec<&HostRule>) = rules.found.iter().partition(is_ours);
        for (rule, subset) in
            ours.iter().flat_map(|rule| rule.subset_names().map(|name| (&rule.reference, name)))
        {
            if others.iter().any(|other| other.has_subset(subset)) {
                continue;
            }
            if let Some(route_object) = self.names_subset(release, record, subset).await? {
                let (subset, rule) = (subset.to_owned(), Box::new(rule.clone()));
                return Err(Protected::RoutedSubset { route_object, subset, rule }.into());
            }
        }
        Ok(())
    }

    /// The proxies of a release, as rules select them. The labels of their pods are read only if a rule selects pods.
    pub(crate) async fn clients(&self, record: &Record, rules: &[HostRule]) -> Result<Vec<Client>, Error> {
        let mut clients = Vec::new();
        for Proxies { namespace, labels } in &record.proxies {
            let selects = |rule: &HostRule| rule.selects_pods() && rule.reference.namespace == *namespace;
            let client = |labels| Client { namespace: namespace.clone(), labels };
            let mut group = vec![client(labels.clone())];
            if rules.iter().any(selects) {
                let pods = self.client.pods(namespace, labels).await?;
                group.extend(pods.into_iter().map(|pod| client(pod.metadata.labels.unwrap_or_default())));
                group.dedup();
            }
            clients.extend(group);
        }
        Ok(clients)
    }
}

/// The namespaces of a release's proxies and of its Service.
pub(crate) fn namespaces(record: &Record, of_service: &str) -> BTreeSet<String> {
    let proxies = record.proxies.iter().map(|proxies| proxies.namespace.clone());
    proxies.chain([of_service.to_owned()]).collect()
}
