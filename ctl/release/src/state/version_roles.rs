//! How versions of a release change roles, or are removed: the results of promotions, rollbacks and removals.

use super::ReleaseState;
use assignment::Weight;
use assignment::contract::{GoneVersion, Role, VersionConfig};

impl ReleaseState {
    /// The next generation, in which each version has the role that `role_of` gives it; `None` removes it, so that its
    /// pins are no longer valid. Epochs do not change: a version that stays keeps its sessions. Without a canary there
    /// is no weight.
    #[must_use]
    pub fn with_roles(&self, role_of: impl Fn(&VersionConfig) -> Option<Role>) -> Self {
        let (mut versions, mut gone) = (Vec::new(), self.gone.clone());
        for version in &self.versions {
            if let Some(role) = role_of(version) {
                versions.push(VersionConfig { role, ..version.clone() });
            } else {
                gone.retain(|other| other.name != version.name);
                gone.push(GoneVersion { name: version.name.clone(), epoch: version.epoch });
            }
        }
        let has_canary = versions.iter().any(|version| version.role == Role::Canary);
        Self {
            generation: self.generation + 1,
            weight: if has_canary { self.weight } else { Weight::ZERO },
            until: self.until.filter(|_| has_canary),
            versions,
            gone,
            ..self.clone()
        }
    }

    /// The next generation, in which this version is stable and the one that was drains.
    #[must_use]
    pub fn with_stable(&self, name: &str) -> Self {
        self.with_roles(|version| match version.role {
            _ if version.name == name => Some(Role::Stable),
            Role::Stable => Some(Role::Draining),
            role => Some(role),
        })
    }

    /// The next generation, without these versions.
    #[must_use]
    pub fn without(&self, names: &[String]) -> Self {
        self.with_roles(|version| (!names.contains(&version.name)).then_some(version.role))
    }

    /// Whether a version of this name has a role now.
    pub fn is_live(&self, name: &str) -> bool {
        self.versions.iter().any(|version| version.name == name)
    }

    /// Whether a version of this name had a role, and has none now.
    pub fn has_gone(&self, name: &str) -> bool {
        !self.is_live(name) && self.gone.iter().any(|gone| gone.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assignment::contract::{ExpiryAction, Until};

    fn at_a_fifth() -> ReleaseState {
        let version =
            |name: &str, role| VersionConfig { name: name.to_owned(), role, epoch: 3, routing: None };
        ReleaseState {
            uid: "u".to_owned(),
            generation: 7,
            weight: "20".parse().unwrap(),
            until: Some(Until { at_seconds: 1, action: ExpiryAction::Stop }),
            versions: vec![version("v1", Role::Stable), version("v2", Role::Canary)],
            gone: vec![GoneVersion { name: "v2".to_owned(), epoch: 2 }],
            adopt: "v1".to_owned(),
            installed_at_seconds: 0,
            rollout_since_seconds: 0,
            slower_than_milliseconds: 0,
        }
    }

    fn roles(state: &ReleaseState) -> Vec<(&str, Role, u32)> {
        state.versions.iter().map(|one| (one.name.as_str(), one.role, one.epoch)).collect()
    }

    #[test]
    fn a_promotion_swaps_roles_keeps_epochs_and_leaves_no_weight() {
        let promoted = at_a_fifth().with_stable("v2");
        assert_eq!(roles(&promoted), [("v1", Role::Draining, 3), ("v2", Role::Stable, 3)]);
        assert_eq!((promoted.weight, promoted.until, promoted.generation), (Weight::ZERO, None, 8));
        let back = promoted.with_stable("v1");
        assert_eq!(roles(&back), [("v1", Role::Stable, 3), ("v2", Role::Draining, 3)]);
    }

    #[test]
    fn a_version_that_is_gone_is_gone_at_its_epoch_once() {
        let back = at_a_fifth().without(&["v2".to_owned()]);
        assert_eq!(back.gone, [GoneVersion { name: "v2".to_owned(), epoch: 3 }]);
        assert_eq!((roles(&back), back.weight), (vec![("v1", Role::Stable, 3)], Weight::ZERO));
        assert!(back.has_gone("v2"), "{:?}", back.gone);
        assert!(!back.has_gone("v1"), "{:?}", back.gone);
        assert!(!at_a_fifth().has_gone("v2"), "{:?}", at_a_fifth().gone);
    }

    #[test]
    fn an_old_version_leaves_without_touching_the_canary_beside_it() {
        let mut three = at_a_fifth();
        three.versions.push(VersionConfig {
            name: "v0".to_owned(),
            role: Role::Draining,
            epoch: 1,
            routing: None,
        });
        let left = three.without(&["v0".to_owned()]);
        assert_eq!((left.weight, left.until), (three.weight, three.until));
    }
}
