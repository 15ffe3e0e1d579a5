//! Proxies in which the fuse of the canary is open: they send new sessions to stable, whatever the weight.

use super::Observation;
use assignment::contract::Role;
use std::fmt;

/// The fuse of the canary is open in some of the proxies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFuse<'o> {
    /// The canary.
    pub version: &'o str,
    /// The proxies in which it is open.
    pub proxies: usize,
    /// All proxies of the release.
    pub of: usize,
    /// After how many seconds the last of them closes.
    pub seconds: u64,
}

impl<'o> OpenFuse<'o> {
    /// Those of an observation; `None` where none is open. `now` in seconds since 1970.
    pub fn observed(observation: &'o Observation, now: u64) -> Option<Self> {
        let version = observation.record.state.version_of(Role::Canary)?;
        let left = observation.proxies.iter().filter_map(|proxy| proxy.fused_until_seconds?.checked_sub(now));
        let open: Vec<u64> = left.filter(|seconds| *seconds > 0).collect();
        let seconds = open.iter().copied().max()?;
        Some(Self { version, proxies: open.len(), of: observation.proxies.len(), seconds })
    }
}

impl fmt::Display for OpenFuse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, proxies, of, seconds } = self;
        write!(
            f,
            "the fuse of version `{version}` is open in {proxies} of {of} proxies, for {seconds} s more: half of its responses failed or did not \
             come, and those of stable did, and new sessions get stable"
        )
    }
}
