//! Rules about `spec.rollout`: what its driver sends to whom, and what it asks.

use super::Level;
use super::findings::RawFinding;
use super::rules::{NOTHING, raise};
use crate::spec::{AlertReceiver, QueryTemplate, Release, RolloutMetric, SecretSource};

/// A token in a request without TLS is read by whoever sees the request.
pub(super) fn tokens_need_encryption(release: &Release) -> Vec<RawFinding> {
    let server = release.rollout.analysis.prometheus.as_ref();
    let is_plain = server.is_some_and(|server| {
        server.bearer_token_from.is_some() && server.address.join("").starts_with("http://")
    });
    if !is_plain {
        return NOTHING;
    }
    let message = "the token of Prometheus is sent without encryption";
    raise(Level::Warning, "spec.rollout.prometheus.address", message, "give an `https` address")
}

/// Whatever goes wrong in stable, or anywhere else, would roll the canary back.
pub(super) fn metrics_of_both_versions_are_no_reason_against_one(release: &Release) -> Vec<RawFinding> {
    let analysis = &release.rollout.analysis;
    let is_of_both = |metric: &RolloutMetric| {
        let query = analysis.queries.get(&metric.name);
        query.is_some_and(|query| !QueryTemplate(&query.template).names_version())
    };
    let of_both = analysis.metrics.iter().enumerate().filter(|(_, metric)| is_of_both(metric));
    let found = of_both.flat_map(|(index, metric)| {
        let message = format!(
            "metric `{}` does not tell versions apart: what stable does can end the rollout of the canary",
            metric.name
        );
        let field = format!("spec.rollout.metrics[{index}].query");
        raise(Level::Warning, &field, message, "select the version in the query: `{{ version }}`")
    });
    found.collect()
}

/// The rollout of the release behind the gateways reads the times of the others from their records, and measures no percentile of theirs.
pub(super) fn percentiles_inside_a_train_count_in_its_own_rollouts(release: &Release) -> Vec<RawFinding> {
    let is_inside = release.train.is_some() && release.gateways.is_empty();
    let Some(percentile) = release.rollout.slower_than_of_stable.filter(|_| is_inside) else {
        return NOTHING;
    };
    let message = format!(
        "inside a train `{percentile}` counts in the rollouts of this release alone: that of the release behind the gateways does not see slow responses of it"
    );
    raise(Level::Warning, "spec.rollout.slowerThan", message, "give a time, for example `800ms`")
}

/// A rollout that sees too little waits in its first step until its deadline.
pub(super) fn plans_end_with_little_traffic(release: &Release) -> Vec<RawFinding> {
    const MUCH: f64 = 1.0;
    let rollout = &release.rollout;
    let found = rollout.plans.keys().flat_map(|plan| {
        let deadline = rollout.policy.deadline;
        let message = match rollout.least_requests_per_second(plan) {
            Some(rate) if rate <= MUCH => return NOTHING,
            Some(rate) => format!(
                "the plan `{plan}` needs {rate:.1} requests a second to end within the deadline of {deadline}"
            ),
            None => format!("the steps of the plan `{plan}` take longer than the deadline of {deadline}"),
        };
        let hint = "begin with a larger weight, or give fewer `minResponses` or a longer `deadline`";
        raise(Level::Warning, "spec.rollout.deadline", message, hint)
    });
    found.collect()
}

/// Whoever has the URL of a webhook can write there.
pub(super) fn urls_of_receivers_are_secrets(release: &Release) -> Vec<RawFinding> {
    let alerts = &release.rollout.alerts;
    let is_inline = |receiver: &AlertReceiver| {
        let endpoint = alerts.endpoints.get(&receiver.name);
        endpoint.is_some_and(|endpoint| endpoint.url_from == SecretSource::Inline)
    };
    let inline = alerts.receivers.iter().enumerate().filter(|(_, receiver)| is_inline(receiver));
    let found = inline.flat_map(|(index, receiver)| {
        let field = format!("spec.rollout.alerts[{index}].url");
        let message = format!(
            "the URL of receiver `{}` is a secret, and whoever reads this file has it",
            receiver.name
        );
        raise(
            Level::Warning,
            &field,
            message,
            "name a Secret, an environment variable or a file in `urlFrom`",
        )
    });
    found.collect()
}
