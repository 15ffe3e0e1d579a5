//! What a release is *now*, as opposed to what its file says: weight, epochs, generation.

use crate::spec::Release;
use assignment::Weight;
use assignment::contract::{GoneVersion, Role, Until, VersionConfig};
use serde::{Deserialize, Serialize};

/// What the CLI keeps about a release between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Standing {
    /// Tells this release from an earlier one of the same name.
    pub uid: String,
    /// Rises with every write.
    pub generation: u64,
    /// The share asked for, in basis points.
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
}

/// The number of characters of a uid: with a version of as many, a MAC takes two compressions.
const UID_LEN: usize = 12;

/// A fresh uid: 12 random characters of `a-z 0-9`.
pub fn new_uid() -> Result<String, getrandom::Error> {
    const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    // Bytes beyond the largest multiple of 36 would favour the first letters; they are drawn anew.
    const FAIR: u8 = 252;
    let mut uid = String::with_capacity(UID_LEN);
    while uid.len() < UID_LEN {
        let mut byte = [0];
        getrandom::fill(&mut byte)?;
        let [byte] = byte;
        let letter = ALPHABET.get(usize::from(byte % 36)).filter(|_| byte < FAIR);
        uid.extend(letter.map(|letter| char::from(*letter)));
    }
    Ok(uid)
}

impl Standing {
    /// A release that nobody has seen yet: the file's weight, epoch 1, generation 1.
    pub fn first(release: &Release, uid: String) -> Self {
        let version = |name: &str, role| VersionConfig { name: name.to_owned(), role, epoch: 1 };
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
        }
    }

    /// What the release is after its file changed: roles as the file has them, the next generation.
    ///
    /// A version that left the file drains while `still_runs` says that its pods are there, and is gone after that. A
    /// version that comes (again) gets a new epoch, so that pins of its earlier life do not count. A new canary begins
    /// at the file's weight, because the old weight was given to another version.
    #[must_use]
    pub fn revised(&self, release: &Release, still_runs: impl Fn(&str) -> bool) -> Self {
        let old_canary = self.version_of(Role::Canary);
        let same_canary = release.versions.canary.as_deref() == old_canary;
        let weight = match release.versions.canary {
            Some(_) if same_canary => self.weight,
            Some(_) => release.weight,
            None => Weight::ZERO,
        };
        let live =
            |name: &str, role| VersionConfig { name: name.to_owned(), role, epoch: self.epoch_for(name) };
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
        let until = self.until.filter(|_| same_canary);
        Self { generation: self.generation + 1, weight, until, versions, gone, ..self.clone() }
    }

    /// The live version of a role.
    pub fn version_of(&self, role: Role) -> Option<&str> {
        self.versions.iter().find(|version| version.role == role).map(|version| version.name.as_str())
    }

    /// The weight at a moment (seconds since 1970-01-01 UTC).
    pub fn weight_at(&self, now: u64) -> Weight {
        match self.until {
            Some(until) if now >= until.at_seconds => Weight::ZERO,
            _ => self.weight,
        }
    }

    fn epoch_for(&self, name: &str) -> u32 {
        if let Some(live) = self.versions.iter().find(|version| version.name == name) {
            return live.epoch;
        }
        self.gone.iter().find(|gone| gone.name == name).map_or(1, |gone| gone.epoch + 1)
    }
}
