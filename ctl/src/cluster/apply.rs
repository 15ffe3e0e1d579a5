//! Brings a cluster to what a release asks for: the record first, then the objects, make before break.
//!
//! ```text
//! keys         drawn or copied where they are missing
//! record       what is going to be: killed after it, the next call carries it out
//! objects      where the filter comes: configuration at weight 0 -> filter, seen in every proxy;
//!              then subset -> route -> configuration at weight 0
//! wait         until every proxy runs it, where a weight or a removal depends on it
//! weight       the file's, once
//! narrow       routes, then subsets, of versions that have left
//! ```

use super::desired::Picture;
use super::keys::Found;
use super::objects::Really;
use super::weigh::Asked;
use super::{Arrival, Cluster, Error, Stored, Waiting};
use crate::config::Standing;
use crate::manifest::Stage;
use crate::plan::{Plan, Record, Reference, install};
use crate::spec::Release;
use assignment::contract::Role;

/// How a release is applied.
pub struct Applying<'a> {
    /// How long proxies are waited for, where the order of writes asks for it.
    pub waiting: Waiting<'a>,
    /// Whether to wait for them at the end too.
    pub wait: bool,
    /// Whether stable may have no ready pod.
    pub allow_unready: bool,
    /// Whether a version that was rolled back may come again.
    pub again: bool,
}

/// What was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The changes of the first round: what `diff` would have shown.
    pub plan: Plan,
    /// The record afterwards.
    pub record: Record,
    /// Where it was waited for.
    pub arrival: Option<Arrival>,
}

/// Everything that is worked out before the first write.
struct Prepared {
    before: Option<Record>,
    stored: Stored,
    keys: Found,
    picture: Picture,
    plan: Plan,
}

impl Cluster {
    /// What `apply` would write. Reads only.
    pub async fn plan(&self, release: &Release) -> Result<Plan, Error> {
        self.plan_again(release, false).await
    }

    /// The same; `again` says whether a version that was rolled back may come again.
    pub async fn plan_again(&self, release: &Release, again: bool) -> Result<Plan, Error> {
        Ok(self.prepare(release, again).await?.plan)
    }

    /// Lets the API server check a plan, and forget it.
    pub async fn rehearse(&self, plan: &Plan) -> Result<(), Error> {
        for change in &plan.changes {
            self.carry_out(change, Really::OnlyAsk).await?;
        }
        Ok(())
    }

    /// Brings the cluster to what a release asks for. Writes nothing where nothing differs.
    ///
    /// Fails before the first write where stable has no ready pod, and where the file is older than a promotion or a
    /// rollback. Killed anywhere, the next call continues.
    pub async fn apply(&self, release: &Release, mut how: Applying<'_>) -> Result<Applied, Error> {
        let name = release.name.to_string();
        let mut prepared = self.prepare(release, how.again).await?;
        let is_settled = |record: &Record| record.begin_with.is_none() && record.leaving.is_empty();
        if prepared.is_nothing() && is_settled(&prepared.stored.record) {
            let Prepared { stored, plan, .. } = prepared;
            let mut arrival = None;
            if how.wait {
                arrival = Some(self.wait(&name, &stored.record, &mut how.waiting).await?);
            }
            return Ok(Applied { plan, record: stored.record, arrival });
        }
        if !how.allow_unready {
            self.protect_stable(release, &prepared.stored.record).await?;
        }
        if !prepared.keys.is_complete() {
            self.ensure_keys(&prepared.keys).await?;
            prepared = self.prepare(release, how.again).await?;
        }
        let Prepared { before, mut stored, picture, plan, .. } = prepared;
        stored.record.objects = union(&stored.record.objects, &picture);
        if before.as_ref() != Some(&stored.record) {
            self.keep(&release.name, &mut stored).await?;
        }
        self.make(release, &stored, &plan, &mut how.waiting).await?;
        let mut arrival = None;
        if how.wait || !is_settled(&stored.record) {
            arrival = Some(self.wait(&name, &stored.record, &mut how.waiting).await?);
        }
        self.narrow(release, &mut stored).await?;
        if let Some(weight) = stored.record.begin_with {
            self.protect_canary(release, &stored.record).await?;
            let asked = Asked { weight, until: None, why: "apply" };
            stored = self.weigh(&release.name, stored, asked).await?.stored;
            if how.wait {
                arrival = Some(self.wait(&name, &stored.record, &mut how.waiting).await?);
            }
        }
        Ok(Applied { plan, record: stored.record, arrival })
    }

    async fn prepare(&self, release: &Release, again: bool) -> Result<Prepared, Error> {
        let found = self.stored(&release.name).await?;
        let before = found.as_ref().map(|stored| stored.record.clone());
        let mut stored = match found {
            Some(stored) => stored,
            None => Stored::new(Record::first(release, first(release))),
        };
        if before.is_some() {
            stored.record.accept(release, again)?;
            let running = self.running(release, &stored.record).await?;
            let still_runs = |version: &str| running.iter().any(|other| other == version);
            stored.record.follow(release, &self.user, still_runs);
        }
        let sight = self.look(release, &stored.record).await?;
        let keys = self.keys(release).await?.or_signing(sight.signing());
        let ring = keys.or_placeholder();
        let picture = self.picture(release, &stored.record, &ring, sight).await?;
        let plan = planned(release, &stored.record, &picture)?;
        let Some(old) = &before else {
            stored.record.note(&self.user, assignment::Weight::ZERO, "apply");
            return Ok(Prepared { before, stored, keys, picture, plan });
        };
        let configures = plan.changes.iter().any(|change| change.stage == Stage::Configuration);
        if stored.record.standing == old.standing && !(picture.is_held && configures) {
            return Ok(Prepared { before, stored, keys, picture, plan });
        }
        stored.record.standing.generation += 1;
        stored.record.note(&self.user, old.standing.weight, "apply");
        let sight = self.look(release, &stored.record).await?;
        let picture = self.picture(release, &stored.record, &ring, sight).await?;
        let plan = planned(release, &stored.record, &picture)?;
        Ok(Prepared { before, stored, keys, picture, plan })
    }

    /// The live versions that drain until a later moment, and of the others those that have pods.
    async fn running(&self, release: &Release, record: &Record) -> Result<Vec<String>, Error> {
        let mut running = Vec::new();
        for version in &record.standing.versions {
            if let Some(deadline) = record.draining.get(&version.name) {
                running.extend((*deadline > jiff::Timestamp::now()).then(|| version.name.clone()));
                continue;
            }
            let pods = self.ready(release.name.namespace.as_str(), &record.service, &version.name).await?;
            if pods.all > 0 {
                running.push(version.name.clone());
            }
        }
        Ok(running)
    }

    async fn protect_stable(&self, release: &Release, record: &Record) -> Result<(), Error> {
        let stable = record.standing.version_of(Role::Stable).unwrap_or_default();
        self.protect(release.name.namespace.as_str(), record, stable, "--allow unready-stable").await
    }

    async fn protect_canary(&self, release: &Release, record: &Record) -> Result<(), Error> {
        let canary = record.standing.version_of(Role::Canary).unwrap_or_default();
        let hint = "`canary-ctl weight 0`, or start its pods and apply again";
        self.protect(release.name.namespace.as_str(), record, canary, hint).await
    }

    /// Refuses to send users to a version that has nobody to serve them.
    pub(crate) async fn protect(
        &self,
        namespace: &str,
        record: &Record,
        version: &str,
        instead: &str,
    ) -> Result<(), Error> {
        let pods = self.ready(namespace, &record.service, version).await?;
        if pods.ready > 0 {
            return Ok(());
        }
        let service = &record.service.name;
        let message =
            format!("version `{version}` has no ready pod of {} behind Service `{service}`", pods.all);
        Err(Error::Protected { message, hint: format!("start its pods, or: {instead}") })
    }
}

impl Prepared {
    /// Whether nothing has to be written.
    fn is_nothing(&self) -> bool {
        self.plan.is_empty() && self.before.as_ref() == Some(&self.stored.record) && self.keys.is_complete()
    }
}

impl Picture {
    /// The objects that a release needs.
    pub(super) fn kept(&self) -> Vec<(Stage, Reference)> {
        self.desired.iter().map(|object| (object.stage, object.reference.clone())).collect()
    }
}

/// With the uid that `generate` and `token` go by, who do not ask the cluster: what they have signed counts here.
fn first(release: &Release) -> Standing {
    let installed_at_seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    Standing { installed_at_seconds, ..Standing::first(release, release.uid_or_derived()) }
}

pub(super) fn planned(release: &Release, record: &Record, picture: &Picture) -> Result<Plan, Error> {
    Ok(install(&release.name.to_string(), &picture.desired, &picture.observed, &record.objects)?)
}

/// Everything that is there or going to be.
fn union(before: &[(Stage, Reference)], picture: &Picture) -> Vec<(Stage, Reference)> {
    let mut all = picture.kept();
    all.extend(
        before
            .iter()
            .filter(|kept| !picture.desired.iter().any(|object| object.reference == kept.1))
            .cloned(),
    );
    all
}
