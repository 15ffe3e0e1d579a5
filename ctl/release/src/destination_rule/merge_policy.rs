//! Merges our `DestinationRule` with the existing ones: it takes over the host's current settings and must be visible
//! to every proxy; otherwise there is no plan.
//!
//! The result is checked: the rules in force with ours included are computed as istiod does and compared with the rules
//! in force without it.

use super::{CalledService, Client, Clients, Effective, HostRule, RuleConflict, effective};
use crate::object::{Object, Reference};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// All other proxies of the mesh: those in namespaces without a rule for the host.
const ELSEWHERE: &str = "";

/// The rules beside ours.
struct MergeInput<'s> {
    ours: &'s Reference,
    called: CalledService<'s>,
    /// All rules but ours.
    others: Vec<HostRule>,
    /// The creation time of ours.
    created: Option<String>,
    /// The rule in force for each client without a rule of any release.
    before: Vec<(Client, Option<Effective>)>,
}

/// Gives our rule the `trafficPolicy` that the host has for its clients, and an `exportTo` with which istiod merges it
/// with the rules of the same host and namespace. `there` are all rules that may apply, ours included if it exists.
///
/// `sessionAffinity: identity` applies if the host has no `consistentHash` of its own.
///
/// # Errors
///
/// If a proxy would not have all subsets, the existing and ours, or if proxies use different policies.
pub fn merge_rule(
    ours: &mut Object,
    there: &[HostRule],
    clients: &[Client],
    called: CalledService<'_>,
) -> Result<(), RuleConflict> {
    let input = MergeInput::of(&ours.reference, there, clients, called);
    let mut first = None;
    for export_to in input.exports() {
        match input.tried(&ours.body, &export_to) {
            Ok(body) => {
                ours.body = body;
                return Ok(());
            }
            Err(conflict) => drop(first.get_or_insert(conflict)),
        }
    }
    first.map_or(Ok(()), Err)
}

impl<'s> MergeInput<'s> {
    fn of(ours: &'s Reference, there: &[HostRule], clients: &[Client], called: CalledService<'s>) -> Self {
        let (own, others): (Vec<HostRule>, Vec<HostRule>) =
            there.iter().cloned().partition(|rule| rule.reference == *ours);
        let theirs: Vec<HostRule> = others.iter().filter(|rule| !rule.is_ours).cloned().collect();
        let further = [called.namespace, ELSEWHERE]
            .map(|namespace| Client { namespace: namespace.to_owned(), labels: BTreeMap::new() });
        let before = clients.iter().cloned().chain(further);
        let before = before.map(|client| (client.clone(), effective(&theirs, &client, called))).collect();
        let created = own.first().and_then(|rule| rule.created().map(str::to_owned));
        Self { ours, called, others, created, before }
    }

    /// The possible `exportTo` of our rule, the best first: istiod merges rules of one host whose lists are the same.
    fn exports(&self) -> Vec<BTreeSet<String>> {
        let beside = |rule: &&HostRule| {
            rule.host == self.called.host
                && rule.reference.namespace == self.called.namespace
                && !rule.selects_pods()
        };
        let theirs = self.others.iter().filter(beside).map(|rule| rule.export_to().clone());
        std::iter::once(BTreeSet::new()).chain(theirs).collect()
    }

    /// Our rule as it would be; a conflict if a proxy would use other settings than it needs.
    fn tried(&self, body: &Value, export_to: &BTreeSet<String>) -> Result<Value, RuleConflict> {
        let mut body = body.clone();
        if let Some(spec) = body.get_mut("spec").and_then(Value::as_object_mut) {
            if !export_to.is_empty() {
                spec.insert("exportTo".to_owned(), json!(export_to));
            }
            // A client that does not see our rule at all has no policy to compare.
            self.seen(&json!({"spec": spec}))?;
            take_over(spec, self.agreed()?);
        }
        for ((_, before), (client, after)) in self.before.iter().zip(self.seen(&body)?) {
            self.compare(&client, before.as_ref(), &after, &body)?;
        }
        Ok(body)
    }

    /// The rule in force for each client. Fails if ours is not part of it.
    fn seen(&self, body: &Value) -> Result<Vec<(Client, Effective)>, RuleConflict> {
        let mut all = self.others.clone();
        all.push(HostRule::new(self.ours.clone(), body).made(self.created.clone()));
        let of = |client: &Client| {
            let found = effective(&all, client, self.called).unwrap_or_default();
            if found.is_from(self.ours) {
                return Ok((client.clone(), found));
            }
            let of = Clients(client.namespace.clone());
            Err(RuleConflict::Hidden { ours: Box::new(self.ours.clone()), of, by: found.from })
        };
        self.before.iter().map(|(client, _)| of(client)).collect()
    }

    /// The host's policy: the same for all clients.
    fn agreed(&self) -> Result<Option<&Effective>, RuleConflict> {
        let policy = |rule: &Option<Effective>| rule.as_ref().and_then(|rule| rule.policy.clone());
        let from = |rule: &Option<Effective>| rule.as_ref().map(|rule| rule.from.clone()).unwrap_or_default();
        let Some((one, first)) = self.before.first() else { return Ok(None) };
        let Some((other, second)) = self.before.iter().find(|(_, rule)| policy(rule) != policy(first)) else {
            return Ok(first.as_ref());
        };
        Err(RuleConflict::Policies {
            ours: Box::new(self.ours.clone()),
            one: Clients(one.namespace.clone()),
            first: from(first),
            other: Clients(other.namespace.clone()),
            second: from(second),
        })
    }

    /// Every subset of the existing rules must stay unchanged, and every subset of ours must select its version.
    fn compare(
        &self,
        client: &Client,
        before: Option<&Effective>,
        after: &Effective,
        body: &Value,
    ) -> Result<(), RuleConflict> {
        for subset in subsets(body) {
            let found = after.subset(name(&subset)).and_then(|found| found.get("labels"));
            if found != subset.get("labels") {
                return Err(self.differs(name(&subset), body));
            }
        }
        let Some(before) = before else { return Ok(()) };
        if let Some(subset) = before.subsets.iter().find(|subset| after.subset(name(subset)) != Some(subset))
        {
            return Err(self.differs(name(subset), body));
        }
        if before.policy.is_none() || before.policy == after.policy {
            return Ok(());
        }
        let of = Clients(client.namespace.clone());
        Err(RuleConflict::Hidden { ours: Box::new(self.ours.clone()), of, by: after.from.clone() })
    }

    fn differs(&self, subset: &str, body: &Value) -> RuleConflict {
        let has = |rule: &&HostRule| rule.matches(self.called.host) && rule.has_subset(subset);
        let theirs = self.others.iter().find(has).map_or(self.ours, |rule| &rule.reference);
        let wanted = subsets(body).into_iter().find(|ours| name(ours) == subset).unwrap_or_default();
        RuleConflict::Subset {
            ours: Box::new(self.ours.clone()),
            theirs: Box::new(theirs.clone()),
            name: subset.to_owned(),
            wanted: wanted.to_string(),
        }
    }
}

/// Takes over the host's policy, and what its subsets add to it for the pods that our subsets select.
fn take_over(spec: &mut Map<String, Value>, host: Option<&Effective>) {
    let Some(host) = host else { return };
    let affinity =
        spec.get("trafficPolicy").and_then(|policy| policy.pointer("/loadBalancer/consistentHash"));
    let affinity = affinity.cloned();
    if let Some(policy) = &host.policy {
        spec.insert("trafficPolicy".to_owned(), policy.clone());
    }
    let mut ours = spec.remove("subsets").and_then(|list| list.as_array().cloned()).unwrap_or_default();
    let added: Vec<Option<Value>> = ours.iter().map(|subset| added(host, subset)).collect();
    // A version that they have no subset for gets what all the others have: a canary is as sticky as stable.
    let all: Vec<&Value> = added.iter().flatten().collect();
    let common = all.first().filter(|first| all.iter().all(|other| other == *first)).copied().cloned();
    for (subset, added) in ours.iter_mut().zip(&added) {
        let policy = added.clone().or_else(|| common.clone()).unwrap_or_else(|| json!({}));
        let policy = match (&host.policy, &affinity) {
            (Some(general), Some(hash)) if !is_sticky(general) && !is_sticky(&policy) => {
                hashed(policy, general, hash)
            }
            _ => policy,
        };
        if policy != json!({})
            && let Some(fields) = subset.as_object_mut()
        {
            fields.insert("trafficPolicy".to_owned(), policy);
        }
    }
    spec.insert("subsets".to_owned(), ours.into());
}

/// The fields that their subset of the same pods adds to the host's policy.
fn added(host: &Effective, ours: &Value) -> Option<Value> {
    let same = |theirs: &&Value| theirs.get("labels") == ours.get("labels");
    host.subsets.iter().filter(same).find_map(|theirs| theirs.get("trafficPolicy").cloned())
}

/// Whether it keeps users on their pods.
fn is_sticky(policy: &Value) -> bool {
    let has = |settings: &Value| settings.pointer("/loadBalancer/consistentHash").is_some();
    let ports = policy.get("portLevelSettings").and_then(Value::as_array);
    has(policy) || ports.into_iter().flatten().any(has)
}

/// A subset's policy with a hash: its `loadBalancer` takes the place of the host's as a whole.
fn hashed(mut policy: Value, general: &Value, hash: &Value) -> Value {
    let found = policy.get("loadBalancer").or_else(|| general.get("loadBalancer"));
    let mut balancer = found.and_then(Value::as_object).cloned().unwrap_or_default();
    balancer.remove("simple");
    balancer.insert("consistentHash".to_owned(), hash.clone());
    if let Some(fields) = policy.as_object_mut() {
        fields.insert("loadBalancer".to_owned(), balancer.into());
    }
    policy
}

fn subsets(body: &Value) -> Vec<Value> {
    body.pointer("/spec/subsets").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn name(subset: &Value) -> &str {
    subset.get("name").and_then(Value::as_str).unwrap_or_default()
}
