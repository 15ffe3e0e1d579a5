//! Another key takes over: each step is written to every Secret first, and `apply` brings it to the proxies before the
//! next one begins. Killed anywhere, the next call continues: the Secrets say how far it came.

use crate::stores::key_store::KeySecret;
use crate::{Applied, ApplyOptions, Cluster, Error, Protected, StoredRecord, WaitOptions};
use assignment::contract::{OverrideMode, ReleaseConfig};
use assignment::decide::MAX_TOKEN_LIFE_SECONDS;
use canary_release::config::{self, SigningKeys};
use canary_release::delivery::deployed_config;
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::spec::{Release, ReleaseName};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// The time for which an old key outlives its seals: proxies get a step later than the Secret.
const SLACK: SignedDuration = SignedDuration::from_hours(1);

/// The options of a key rotation.
pub struct RotateOptions<'a> {
    /// The wait for proxies at each step.
    pub waiting: WaitOptions<'a>,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// The keys after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotated {
    /// The ring.
    pub ring: SigningKeys,
    /// From when on the keys that signed before may go; `None` if there are none.
    pub retire_from: Option<Timestamp>,
    /// The `apply` that brought it to the proxies; `None` if none was needed.
    pub applied: Option<Applied>,
}

impl Cluster {
    /// Makes a new key the signing key. An interrupted rotation is continued.
    ///
    /// # Errors
    ///
    /// Before the first write: if the cluster differs from the file, or if proxies that this release does not configure
    /// have these keys: they would reject the new key's seals as forged. Between two steps: if a proxy does not run the
    /// first one in time.
    pub async fn rotate_keys(&self, release: &Release, how: RotateOptions<'_>) -> Result<Rotated, Error> {
        let mut secrets = self.keys.secrets(release).await?;
        let mut ring = merged(&secrets)?;
        if ring.successor().is_none() && secrets.iter().all(|secret| secret.ring == ring) {
            self.check_rotation(release, how.skipped).await?;
            ring = ring.with_successor().map_err(config::Error::from)?;
            self.rotate_record_keys(release).await?;
        }
        let RotateOptions { waiting: WaitOptions { timeout, progress }, skipped } = how;
        let mut brought = None;
        while brought.is_none() {
            let (step, is_last) = (ring.clone(), ring.successor().is_none());
            self.keys.save(&mut secrets, &step).await?;
            let waiting = WaitOptions { timeout, progress: &mut *progress };
            let applying = ApplyOptions { waiting, wait: true, skipped, allow_rolled_back: false };
            let applied = self.apply(release, applying).await?;
            if is_last {
                brought = Some(applied);
            } else {
                ring = ring.succeeded();
            }
        }
        Ok(Rotated { retire_from: self.retire_from(&release.name, &secrets).await?, ring, applied: brought })
    }

    /// Takes the keys away that signed before. Does nothing if there are none.
    ///
    /// # Errors
    ///
    /// As [`Cluster::rotate_keys`], and as long as something that they have signed may count.
    pub async fn retire_keys(&self, release: &Release, how: RotateOptions<'_>) -> Result<Rotated, Error> {
        let mut secrets = self.keys.secrets(release).await?;
        let ring = merged(&secrets)?;
        let Some(from) = self.retire_from(&release.name, &secrets).await? else {
            return Ok(Rotated { ring, retire_from: None, applied: None });
        };
        check_retirement(&ring, from, how.skipped)?;
        self.retire_record_keys(release).await?;
        let ring = ring.without_superseded();
        self.keys.save(&mut secrets, &ring).await?;
        let applying =
            ApplyOptions { waiting: how.waiting, wait: true, skipped: how.skipped, allow_rolled_back: false };
        let applied = self.apply(release, applying).await?;
        Ok(Rotated { ring, retire_from: None, applied: Some(applied) })
    }

    /// The keys as either would leave them. Reads only.
    ///
    /// # Errors
    ///
    /// As they, before their first write.
    pub async fn dry_run_rotation(
        &self,
        release: &Release,
        retire: bool,
        skipped: &[PreflightCheck],
    ) -> Result<Rotated, Error> {
        let secrets = self.keys.secrets(release).await?;
        let ring = merged(&secrets)?;
        let retire_from = self.retire_from(&release.name, &secrets).await?;
        let ring = if retire {
            if let Some(from) = retire_from {
                check_retirement(&ring, from, skipped)?;
            }
            ring.without_superseded()
        } else if ring.successor().is_none() {
            self.check_rotation(release, skipped).await?;
            ring.with_successor().map_err(config::Error::from)?.succeeded()
        } else {
            ring.succeeded()
        };
        Ok(Rotated { ring, retire_from, applied: None })
    }

    /// Another key seals records from now on. No proxy has these keys, so one step is enough: the old ones verify until they are retired.
    async fn rotate_record_keys(&self, release: &Release) -> Result<(), Error> {
        let record = self.records.get(&release.name).await?.record;
        let namespaces = record.sealing_namespaces(&release.name);
        self.records.keys.rotate(&namespaces).await?;
        self.reseal(&release.name, &namespaces).await.map(drop)
    }

    /// Keys with which a record may be sealed that this user cannot seal again stay: a user who may list all records retires them.
    async fn retire_record_keys(&self, release: &Release) -> Result<(), Error> {
        let record = self.records.get(&release.name).await?.record;
        let namespaces = record.sealing_namespaces(&release.name);
        if self.reseal(&release.name, &namespaces).await? {
            self.records.keys.retire(&namespaces).await?;
        }
        Ok(())
    }

    /// Seals the records that these namespaces vouch for with their newest keys: that of the release, and as far as this user may list and write them
    /// those of others. Whether these are all.
    async fn reseal(&self, release: &ReleaseName, namespaces: &BTreeSet<String>) -> Result<bool, Error> {
        self.records.reseal(release).await?;
        let found = match self.records.list_all().await {
            Err(Error::Forbidden { .. }) => return Ok(false),
            found => found?,
        };
        let mut are_all = true;
        for (other, record) in found {
            let of = record.map(|record| record.sealing_namespaces(&other)).unwrap_or_default();
            if !of.is_disjoint(namespaces) {
                match self.records.reseal(&other).await {
                    Err(Error::Forbidden { .. }) => are_all = false,
                    sealed => sealed?,
                }
            }
        }
        Ok(are_all)
    }

    /// When all seals of keys that no longer sign have expired. Computed from the deployed configuration of every
    /// release with these keys in the same proxies: the file may differ already, and has no other releases.
    async fn retire_from(
        &self,
        release: &ReleaseName,
        secrets: &[KeySecret],
    ) -> Result<Option<Timestamp>, Error> {
        let has_superseded = |secret: &&KeySecret| secret.ring.superseded().next().is_some();
        let since = secrets.iter().filter(has_superseded).filter_map(|secret| secret.signing_since).max();
        let Some(since) = since else { return Ok(None) };
        let stored = self.records.get(release).await?;
        let mut life = 0;
        for body in self.configurations(&stored.record).await?.values() {
            let held = deployed_config(body)?.into_iter().flat_map(|config| config.releases.into_values());
            life = held.map(|release| seals_live(&release)).fold(life, u64::max);
        }
        let life = SignedDuration::from_secs(i64::try_from(life).unwrap_or(i64::MAX));
        Ok(since.checked_add(life).and_then(|end| end.checked_add(SLACK)).ok())
    }

    /// The other releases whose configuration is in the same objects.
    async fn neighbours(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<BTreeSet<ReleaseName>, Error> {
        let mut names = BTreeSet::new();
        for body in self.configurations(&stored.record).await?.values() {
            let held = deployed_config(body)?.into_iter().flat_map(|config| config.releases.into_keys());
            names.extend(held.filter_map(|name| name.parse::<ReleaseName>().ok()));
        }
        names.remove(release);
        Ok(names)
    }

    /// Refuses a rotation that must not begin now.
    async fn check_rotation(&self, release: &Release, skipped: &[PreflightCheck]) -> Result<(), Error> {
        if !self.plan(release).await?.is_empty() {
            return Err(Error::NotApplied);
        }
        if let Some(train) = &release.train {
            let message =
                format!("sidecars of other releases of train `{train}` verify what these keys sign");
            let alternative = Alternative::ApplyTrain { train: train.clone() };
            PreflightCheck::MovesUsers.refuse(skipped, message, alternative)?;
        }
        let stored = self.records.get(&release.name).await?;
        self.check_proxies_seen(&release.name, &stored.record).await?;
        let reached: Vec<_> = stored.record.objects.iter().map(|(_, object)| object).collect();
        for other in self.neighbours(&release.name, &stored).await? {
            let Some(theirs) = self.records.find(&other).await? else { continue };
            if let Some(beyond) = theirs.record.config_objects().find(|object| !reached.contains(object)) {
                return Err(Protected::SharedKeys { beyond: Box::new(beyond.clone()), other }.into());
            }
        }
        Ok(())
    }
}

/// The later of the steps at which Secrets are.
fn merged(secrets: &[KeySecret]) -> Result<SigningKeys, Error> {
    let mut rest = secrets.iter();
    let lost = || Error::LostKeys { namespaces: "the gateways' namespaces".to_owned() };
    let first = rest.next().ok_or_else(lost)?;
    rest.try_fold(first.ring.clone(), |ring, secret| {
        let differ =
            || Error::KeysDiffer { first: first.namespace.clone(), second: secret.namespace.clone() };
        ring.merged(&secret.ring).ok_or_else(differ)
    })
}

/// The time for which a signed text of a release counts, in seconds.
fn seals_live(release: &ReleaseConfig) -> u64 {
    let pins = release.pin.as_ref().map_or(0, |pin| pin.max_age_seconds);
    let tokens = if release.overrides.mode == OverrideMode::Token { MAX_TOKEN_LIFE_SECONDS } else { 0 };
    pins.max(tokens)
}

fn check_retirement(ring: &SigningKeys, from: Timestamp, skipped: &[PreflightCheck]) -> Result<(), Error> {
    if Timestamp::now() >= from {
        return Ok(());
    }
    let old: Vec<&str> = ring.superseded().map(|key| key.id.as_str()).collect();
    let message = format!("what {} signed counts until {from:.0}", old.join(", "));
    Ok(PreflightCheck::MovesUsers.refuse(skipped, message, Alternative::WaitUntil { time: from })?)
}
