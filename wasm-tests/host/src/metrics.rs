//! The statistics store: names to values, with the refusals that Envoy has (`Context::incrementMetric` and neighbours).

use std::collections::BTreeMap;

use super::abi::Status;

/// What a metric is; the numbers are the ABI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Is set, grows and shrinks.
    Gauge,
    /// Collects values.
    Histogram,
}

impl MetricKind {
    pub(crate) fn from_abi(number: u32) -> Result<Self, Status> {
        match number {
            0 => Ok(Self::Counter),
            1 => Ok(Self::Gauge),
            2 => Ok(Self::Histogram),
            _ => Err(Status::BadArgument),
        }
    }
}

/// Values by kind and name; a counter and a gauge of one name are two metrics, as in Envoy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    values: BTreeMap<(MetricKind, String), u64>,
    recorded: BTreeMap<String, Vec<u64>>,
}

impl Metrics {
    pub(crate) fn define(&mut self, kind: MetricKind, name: &str) {
        if kind == MetricKind::Histogram {
            self.recorded.entry(name.to_owned()).or_default();
        } else {
            self.values.entry((kind, name.to_owned())).or_default();
        }
    }

    /// Counters take positive offsets only: zero and less are a bad argument; histograms take none.
    pub(crate) fn increment(&mut self, kind: MetricKind, name: &str, offset: i64) -> Result<(), Status> {
        let allowed = match kind {
            MetricKind::Counter => offset > 0,
            MetricKind::Gauge => true,
            MetricKind::Histogram => false,
        };
        if !allowed {
            return Err(Status::BadArgument);
        }
        let value = self.values.entry((kind, name.to_owned())).or_default();
        *value = value.wrapping_add_signed(offset);
        Ok(())
    }

    /// Adds to a counter, sets a gauge, collects into a histogram.
    pub(crate) fn record(&mut self, kind: MetricKind, name: &str, value: u64) {
        match kind {
            MetricKind::Counter => {
                let total = self.values.entry((kind, name.to_owned())).or_default();
                *total = total.wrapping_add(value);
            }
            MetricKind::Gauge => {
                self.values.insert((kind, name.to_owned()), value);
            }
            MetricKind::Histogram => self.recorded.entry(name.to_owned()).or_default().push(value),
        }
    }

    /// A histogram has no value to read: bad argument.
    pub(crate) fn read(&self, kind: MetricKind, name: &str) -> Result<u64, Status> {
        match kind {
            MetricKind::Histogram => Err(Status::BadArgument),
            _ => self.values.get(&(kind, name.to_owned())).copied().ok_or(Status::NotFound),
        }
    }

    pub(crate) fn values(&self) -> BTreeMap<String, u64> {
        self.values.iter().map(|((_, name), value)| (name.clone(), *value)).collect()
    }

    pub(crate) fn recorded(&self, name: &str) -> Option<&[u64]> {
        self.recorded.get(name).map(Vec::as_slice)
    }
}
