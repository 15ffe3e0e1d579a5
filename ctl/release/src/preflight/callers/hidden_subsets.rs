//! Callers that go by a rule without our subsets.
//!
//! istiod searches the caller's namespace first, so a rule there replaces the one of the Service for all its pods, and a rule with a
//! `workloadSelector` for those that it selects. A route to a subset that a proxy does not know is answered with 503.

use super::{Callers, UnroutedCalls};
use crate::destination_rule::{CalledService, Client, HostRule, effective};
use crate::spec::Release;
use std::collections::BTreeSet;

pub(super) fn of(release: &Release, callers: &Callers) -> Vec<UnroutedCalls> {
    let host = release.service_host().fqdn();
    let called = CalledService { host: &host, namespace: release.name.namespace.as_str() };
    callers.ours.iter().flat_map(|ours| hidden_subsets(called, ours, &callers.rules)).collect()
}

/// The callers of a Service that go by a rule of others without the subsets of ours. `rules` may contain ours.
pub fn hidden_subsets(called: CalledService<'_>, ours: &HostRule, rules: &[HostRule]) -> Vec<UnroutedCalls> {
    let host = called.host;
    let others = rules.iter().filter(|rule| !rule.is_ours && rule.reference != ours.reference);
    let mut all: Vec<HostRule> = others.clone().filter(|rule| rule.matches(host)).cloned().collect();
    all.push(ours.clone());
    let mut seen = BTreeSet::new();
    let hidden = |rule: &HostRule| {
        let labels = rule.selector().cloned().unwrap_or_default();
        let client = Client { namespace: rule.reference.namespace.clone(), labels };
        if !seen.insert((client.namespace.clone(), client.labels.clone())) {
            return None;
        }
        let found = effective(&all, &client, called)?;
        if ours.subset_names().all(|name| found.subset(name).is_some()) {
            return None;
        }
        let mut from = found.from.iter().cloned();
        let by = from.next().unwrap_or_else(|| rule.reference.clone());
        let others = from.collect();
        let names_service = all.iter().any(|other| other.reference == by && other.host == host);
        let Client { namespace, labels } = client;
        Some(UnroutedCalls::HiddenSubsets { namespace, labels, rule: by, others, names_service })
    };
    others.filter(|rule| rule.matches(host)).filter_map(hidden).collect()
}
