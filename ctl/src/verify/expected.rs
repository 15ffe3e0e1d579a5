//! What the release promises about the system that is verified.

use assignment::contract::Position;
use assignment::policy::Release;
use assignment::{Policy, Weight};

/// The release, from the files of this machine.
pub struct Expected {
    policy: Policy,
    /// Whether the policy's keys are those of the proxies. Without them genuine tokens cannot be made.
    pub has_keys: bool,
    /// Seconds since 1970-01-01 UTC.
    pub now: u64,
}

impl Expected {
    /// A policy at the edge with one release. `None` for another.
    pub fn new(policy: Policy, has_keys: bool, now: u64) -> Option<Self> {
        let is_one = policy.releases().len() == 1 && policy.position == Position::Edge;
        is_one.then_some(Self { policy, has_keys, now })
    }

    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The release. There is one, as [`Expected::new`] has seen to it.
    pub fn release(&self) -> Option<&Release> {
        self.policy.releases().first()
    }

    /// The weight that holds now.
    pub fn weight(&self) -> Weight {
        self.release().map_or(Weight::ZERO, |release| release.weight(|| self.now))
    }

    /// The stable version's name.
    pub fn stable(&self) -> &str {
        self.name(|release| Some(release.stable())).unwrap_or_default()
    }

    /// The canary's name and epoch, where it is live.
    pub fn canary(&self) -> Option<(&str, u32)> {
        let release = self.release()?;
        let version = release.versions.get(release.canary(|| self.now)?)?;
        Some((version.name.as_str(), version.epoch))
    }

    fn name(&self, index: impl FnOnce(&Release) -> Option<usize>) -> Option<&str> {
        let release = self.release()?;
        release.versions.get(index(release)?).map(|version| version.name.as_str())
    }
}
