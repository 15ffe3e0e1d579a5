//! The current state of a release, as opposed to its file: weight, epochs, generation.

use crate::metrics::ReleaseGeneration;
use crate::spec::{Release, ReleaseName};
use assignment::Weight;
use assignment::contract::{GoneVersion, Role, Until, VersionConfig};
use serde::{Deserialize, Serialize};

/// The state of a release that is kept between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReleaseState {
    /// Distinguishes this release from an earlier one of the same name.
    pub uid: String,
    /// Rises with every write.
    pub generation: u64,
    /// The desired share, in basis points.
    pub weight: Weight,
    /// When that ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The live versions.
    pub versions: Vec<VersionConfig>,
    /// The versions whose pins no longer count.
    #[serde(default)]
    pub gone: Vec<GoneVersion>,
    /// The version that was stable when the filter came.
    pub adopt: String,
    /// When the release was installed in its proxies, seconds since 1970-01-01 UTC; 0 if unknown.
    #[serde(default)]
    pub installed_at_seconds: u64,
    /// When the step began of the rollout that goes on, seconds since 1970-01-01 UTC: the proxies count by user group, of sessions that are
    /// not older. 0 if none goes on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rollout_since_seconds: u64,
    /// A response that takes longer than this is slow for that rollout, in milliseconds. 0 if none is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slower_than_milliseconds: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The number of characters of a uid: with a version of as many, a MAC takes two compressions.
const UID_LEN: usize = 12;

/// The number of random characters of a routing value: 124 bits.
const ROUTING_LEN: usize = 24;

/// A fresh uid: 12 random characters of `a-z 0-9`.
///
/// # Errors
///
/// If the system has no randomness.
pub fn new_uid() -> Result<String, getrandom::Error> {
    random_text::<UID_LEN>()
}

/// Random characters of `a-z 0-9`.
fn random_text<const LEN: usize>() -> Result<String, getrandom::Error> {
    const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    // Bytes beyond the largest multiple of 36 would favour the first letters; they are drawn again.
    const FAIR: u8 = 252;
    let mut text = String::with_capacity(LEN);
    while text.len() < LEN {
        let mut byte = [0];
        getrandom::fill(&mut byte)?;
        let [byte] = byte;
        let letter = ALPHABET.get(usize::from(byte % 36)).filter(|_| byte < FAIR);
        text.extend(letter.map(|letter| char::from(*letter)));
    }
    Ok(text)
}

impl ReleaseState {
    /// The first state of a release: the file's weight, epoch 1, generation 1.
    pub fn first(release: &Release, uid: String) -> Self {
        let version =
            |name: &str, role| VersionConfig { name: name.to_owned(), role, epoch: 1, routing: None };
        let canary = release.versions.canary.as_deref().map(|name| version(name, Role::Canary));
        Self {
            uid,
            generation: 1,
            weight: if canary.is_some() { release.weight } else { Weight::ZERO },
            until: None,
            versions: std::iter::once(version(&release.versions.stable, Role::Stable))
                .chain(canary)
                .collect(),
            gone: Vec::new(),
            adopt: release.versions.stable.clone(),
            installed_at_seconds: 0,
            rollout_since_seconds: 0,
            slower_than_milliseconds: 0,
        }
    }

    /// The state after a change of the file: roles as in the file, the next generation.
    ///
    /// A version that was removed from the file drains while `still_runs` returns true for it, and is removed after
    /// that. A version that is added (again) gets a new epoch, so that its earlier pins are not valid. A new canary
    /// begins at the file's weight, because the old weight was given to another version.
    #[must_use]
    pub fn revised(&self, release: &Release, still_runs: impl Fn(&str) -> bool) -> Self {
        let old_canary = self.version_of(Role::Canary);
        let same_canary = release.versions.canary.as_deref() == old_canary;
        let weight = match release.versions.canary {
            Some(_) if same_canary => self.weight,
            Some(_) => release.weight,
            None => Weight::ZERO,
        };
        let live = |name: &str, role| VersionConfig {
            name: name.to_owned(),
            role,
            epoch: self.epoch_for(name),
            routing: self.routing_of(name),
        };
        let mut versions = vec![live(&release.versions.stable, Role::Stable)];
        versions.extend(release.versions.canary.as_deref().map(|name| live(name, Role::Canary)));
        let mut gone = self.gone.clone();
        for version in &self.versions {
            if versions.iter().any(|other| other.name == version.name) {
                continue;
            }
            if still_runs(&version.name) {
                versions.push(VersionConfig { role: Role::Draining, ..version.clone() });
            } else {
                gone.retain(|other| other.name != version.name);
                gone.push(GoneVersion { name: version.name.clone(), epoch: version.epoch });
            }
        }
        // By age: whether the version that drains was stable before is known of the objects alone, too.
        let age = |name: &str| self.versions.iter().position(|version| version.name == name);
        versions.sort_by_key(|version| age(&version.name).unwrap_or(usize::MAX));
        let until = self.until.filter(|_| same_canary);
        Self { generation: self.generation + 1, weight, until, versions, gone, ..self.clone() }
    }

    /// The live version of a role.
    pub fn version_of(&self, role: Role) -> Option<&str> {
        self.versions.iter().find(|version| version.role == role).map(|version| version.name.as_str())
    }

    /// The generation, and the installation that it is one of: what every proxy has to report.
    pub const fn release_generation(&self) -> ReleaseGeneration {
        let Self { installed_at_seconds, generation, .. } = *self;
        ReleaseGeneration { installed_at_seconds, generation }
    }

    /// The weight at a moment (seconds since 1970-01-01 UTC).
    pub fn weight_at(&self, now: u64) -> Weight {
        match self.until {
            Some(until) if now >= until.at_seconds => Weight::ZERO,
            _ => self.weight,
        }
    }

    /// Gives each version that has none a routing value that clients cannot guess. It stays as long as the version's epoch.
    ///
    /// # Errors
    ///
    /// If the system has no randomness.
    pub fn draw_routing(&mut self, release: &ReleaseName) -> Result<(), getrandom::Error> {
        for version in self.versions.iter_mut().filter(|version| version.routing.is_none()) {
            version.routing = Some(format!("{release}/{}/{}", version.name, random_text::<ROUTING_LEN>()?));
        }
        Ok(())
    }

    fn routing_of(&self, name: &str) -> Option<String> {
        self.versions.iter().find(|version| version.name == name)?.routing.clone()
    }

    fn epoch_for(&self, name: &str) -> u32 {
        if let Some(live) = self.versions.iter().find(|version| version.name == name) {
            return live.epoch;
        }
        self.gone.iter().find(|gone| gone.name == name).map_or(1, |gone| gone.epoch + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn release(stable: &str, canary: Option<&str>) -> Release {
        let canary = canary.map_or(String::new(), |canary| format!("canary: {canary}"));
        let text = format!(
            "{{apiVersion: canary-ctl.io/v1alpha1, kind: Release, metadata: {{name: a, namespace: b}}, spec: {{\
             versions: {{stable: {stable}, {canary}}}, hosts: [x], stickiness: user, weight: 10, \
             gateways: [{{name: g/g}}], delivery: {{module: 'oci://x/y'}}}}}}"
        );
        crate::file::parse(Path::new("x"), &text).unwrap().release
    }

    fn epoch(state: &ReleaseState, name: &str) -> u32 {
        state.versions.iter().find(|version| version.name == name).unwrap().epoch
    }

    #[test]
    fn a_promotion_swaps_roles_and_keeps_epochs_while_the_old_version_drains() {
        let first = ReleaseState::first(&release("v1", Some("v2")), "uid".to_owned());
        let promoted = first.revised(&release("v2", None), |_| true);
        assert_eq!(promoted.version_of(Role::Stable), Some("v2"));
        assert_eq!(promoted.version_of(Role::Draining), Some("v1"));
        assert_eq!((epoch(&promoted, "v1"), epoch(&promoted, "v2")), (1, 1));
        assert_eq!((promoted.weight, promoted.generation), (Weight::ZERO, 2));
        assert_eq!(promoted.adopt, "v1");
    }

    #[test]
    fn a_version_that_comes_again_gets_a_new_epoch() {
        let first = ReleaseState::first(&release("v1", Some("v2")), "uid".to_owned());
        let rolled_back = first.revised(&release("v1", None), |_| false);
        assert_eq!(rolled_back.gone, [GoneVersion { name: "v2".to_owned(), epoch: 1 }]);
        let again = rolled_back.revised(&release("v1", Some("v2")), |_| false);
        assert_eq!(epoch(&again, "v2"), 2);
        assert_eq!(again.weight.basis_points(), 1000);
    }

    #[test]
    fn a_weight_stays_with_its_canary_and_not_with_the_next() {
        let mut state = ReleaseState::first(&release("v1", Some("v2")), "uid".to_owned());
        state.weight = Weight::FULL;
        assert_eq!(state.revised(&release("v1", Some("v2")), |_| true).weight, Weight::FULL);
        assert_eq!(state.revised(&release("v1", Some("v3")), |_| true).weight.basis_points(), 1000);
    }

    #[test]
    fn a_uid_is_twelve_letters_and_digits() {
        let uid = new_uid().unwrap();
        assert_eq!(uid.len(), UID_LEN);
        assert!(uid.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{uid}");
    }
}
