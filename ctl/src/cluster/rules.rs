//! The `DestinationRule`s that may be in force for a release's Service, and the proxies that go by them.

use super::{Cluster, Error};
use crate::manifest::Stage;
use crate::plan::{self, Called, Client, HostRule, Object, Proxies, ROOT_NAMESPACE, Record, inherit};
use crate::spec::{Release, ReleaseName, Routes, service_host};
use std::collections::BTreeSet;

/// The rules for a Service, as far as they may be seen.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) found: Vec<HostRule>,
    /// Whether those of the whole mesh may not be listed.
    is_root_hidden: bool,
}

impl Rules {
    /// What a person should know of what was not seen.
    pub(super) fn note(&self) -> Option<String> {
        let hidden = format!(
            "not allowed to list DestinationRules in `{ROOT_NAMESPACE}`: the settings of a mesh-wide rule for the Service, if there is \
             one, are not taken over (`canary-ctl generate rbac` prints the right)"
        );
        self.is_root_hidden.then_some(hidden)
    }
}

impl Cluster {
    /// The rules of every namespace in which istiod looks for one: the proxies', the Service's, the root. Who has rights in
    /// the former alone sees those.
    pub(super) async fn rules(&self, namespace: &str, record: &Record) -> Result<Rules, Error> {
        let proxies = record.proxies.iter().map(|proxies| proxies.namespace.as_str());
        let namespaces: BTreeSet<&str> = proxies.chain([namespace]).collect();
        let (mut bodies, mut is_root_hidden) = (Vec::new(), false);
        for namespace in &namespaces {
            bodies.extend(self.list_istio("DestinationRule", namespace).await?);
        }
        if !namespaces.contains(ROOT_NAMESPACE) {
            match self.list_istio("DestinationRule", ROOT_NAMESPACE).await {
                Err(Error::Forbidden { .. }) => is_root_hidden = true,
                listed => bodies.extend(listed?),
            }
        }
        let host = service_host(&record.service.name, namespace);
        let mut found = bodies.iter().map(HostRule::of).collect::<Result<Vec<_>, _>>()?;
        found.retain(|rule| rule.matches(&host));
        Ok(Rules { found, is_root_hidden })
    }

    /// Makes our rule one that stands among the others. Fails where it cannot, before anything is written.
    pub(super) async fn fit_in(
        &self,
        release: &Release,
        record: &Record,
        rules: &[HostRule],
        desired: &mut [Object],
    ) -> Result<(), Error> {
        let namespace = release.name.namespace.as_str();
        let host = service_host(&record.service.name, namespace);
        let mut clients = Vec::new();
        for proxies in &record.proxies {
            clients.extend(self.clients(proxies, rules).await?);
        }
        let called = Called { host: &host, namespace };
        for ours in desired.iter_mut().filter(|object| object.stage == Stage::Subsets) {
            inherit(ours, rules, &clients, called).map_err(plan::Error::from)?;
        }
        Ok(())
    }

    /// Fails where routes of others lead to a subset that nobody but us provides: without it they would lead nowhere.
    pub(super) async fn protect_subsets(&self, release: &ReleaseName, record: &Record) -> Result<(), Error> {
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
            if let Some(name) = self.names_subset(release, record, subset).await? {
                let message = format!("VirtualService `{name}` leads to subset `{subset}` of {rule}");
                let hint = "everybody is on stable; let its routes lead to the Service without subsets, and call again".to_owned();
                return Err(Error::Protected { message, hint });
            }
        }
        Ok(())
    }

    /// Some proxies, as rules see them. What labels their pods have is asked only where a rule is for some of them.
    async fn clients(&self, proxies: &Proxies, rules: &[HostRule]) -> Result<Vec<Client>, Error> {
        let Proxies { namespace, labels } = proxies;
        let selects = |rule: &HostRule| rule.selects_pods() && rule.reference.namespace == *namespace;
        let client = |labels| Client { namespace: namespace.clone(), labels };
        let mut clients = vec![client(labels.clone())];
        if rules.iter().any(selects) {
            let pods = self.pods(namespace, labels).await?;
            clients.extend(pods.into_iter().map(|pod| client(pod.metadata.labels.unwrap_or_default())));
            clients.dedup();
        }
        Ok(clients)
    }
}
