//! The time from which on a response is slow, where a file asks for a percentile of stable's responses.

use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::metrics::{LatencyHistogram, MetricFilter};
use canary_release::record::Record;
use canary_release::rollout::VerbError;
use canary_release::spec::{ReleaseName, RolloutSpec};
use std::borrow::Cow;

/// The part of the names of these metrics in the proxy.
const LATENCY: &str = "canary_latency";
/// With fewer a percentile is chance: of so many 50 are slower than the 95th.
const MIN_RESPONSES: u64 = 1_000;

impl Cluster {
    /// The rollouts of a release with the time that is now the percentile of stable's responses, by the histograms of its proxies. A proxy
    /// that does not answer is none of them.
    ///
    /// # Errors
    ///
    /// Where pods may not be listed, and where the proxies have counted too few responses.
    pub async fn resolve_slower_than<'s>(
        &self,
        release: &ReleaseName,
        record: &Record,
        spec: &'s RolloutSpec,
    ) -> Result<Cow<'s, RolloutSpec>, Error> {
        let Some(percentile) = spec.slower_than_of_stable else { return Ok(Cow::Borrowed(spec)) };
        let name = release.to_string();
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let tag = format!("{stable}/{}", Role::Stable.as_str());
        let mut histogram = LatencyHistogram::default();
        let reported = self.metrics(record, MetricFilter::of_release(&name, LATENCY)).await?;
        for metrics in reported.into_values().flatten() {
            histogram.add(&metrics, &name, &tag);
        }
        let responses = histogram.responses();
        let time = histogram.percentile(percentile).filter(|_| responses >= MIN_RESPONSES);
        let time = time.ok_or_else(|| VerbError::NoPercentile {
            percentile,
            stable: stable.to_owned(),
            expected: MIN_RESPONSES,
            found: responses,
        })?;
        let mut resolved = spec.clone();
        (resolved.policy.slower_than, resolved.slower_than_of_stable) = (Some(time), None);
        Ok(Cow::Owned(resolved))
    }
}
