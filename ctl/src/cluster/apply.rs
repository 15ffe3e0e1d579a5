//! Brings a cluster to what a release asks for: the record first, then the objects, make before break.
//!
//! ```text
//! lease        of the release, to the end; and of what releases share, as long as it is read and written
//! keys         drawn or copied where they are missing
//! module       a new one alone, seen in every proxy; the old one again where it does not run
//! record       what is going to be: killed after it, the next call carries it out
//! objects      where the filter comes: configuration at weight 0 -> filter, seen in every proxy;
//!              then subset -> route -> configuration at weight 0
//! wait         until every proxy runs it, where a weight or a removal depends on it
//! weight       the file's, once
//! narrow       routes, then subsets, of versions that have left
//! ```

use super::desired::{self, Reconciliation};
use super::execute::PendingRollout;
use super::keys::Found;
use super::lease::{self, Task};
use super::objects::WriteMode;
use super::set_weight::Asked;
use super::{Arrival, Cluster, Error, StoredRecord, WaitOptions};
use crate::config::Standing;
use crate::manifest::{self, Stage, held_configuration};
use crate::plan::{
    Coverage, Plan, PreflightCheck, Record, Reference, Trial, Ways, check_claims, check_edits, install,
};
use crate::spec::Release;

/// How a release is applied.
pub struct ApplyOptions<'a> {
    /// How long proxies are waited for, where the order of writes asks for it.
    pub waiting: WaitOptions<'a>,
    /// Whether to wait for them at the end too.
    pub wait: bool,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
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
    /// Who comes, or may come, past its routes, where there is a canary.
    pub coverage: Coverage,
}

/// Everything that is worked out before the first write.
struct Prepared {
    before: Option<Record>,
    stored: StoredRecord,
    keys: Found,
    reconciliation: Reconciliation,
    plan: Plan,
}

impl Cluster {
    /// What `apply` would write. Reads only.
    pub async fn plan(&self, release: &Release) -> Result<Plan, Error> {
        self.plan_again(release, false).await
    }

    /// The same; `again` says whether a version that was rolled back may come again.
    pub async fn plan_again(&self, release: &Release, again: bool) -> Result<Plan, Error> {
        let Prepared { mut plan, stored, .. } = self.prepare(release, again).await?;
        plan.notes.extend(self.runtime_note(&plan, &stored.record).await?);
        Ok(plan)
    }

    /// Lets the API server check a plan, and forget it.
    pub async fn server_dry_run(&self, plan: &Plan) -> Result<(), Error> {
        for change in &plan.changes {
            self.carry_out(change, WriteMode::DryRun).await?;
        }
        Ok(())
    }

    /// Brings the cluster to what a release asks for. Writes nothing where nothing differs.
    ///
    /// Fails before the first write where a preflight check fails, where the file is older than a promotion or a rollback, and
    /// where somebody else is at it. Killed anywhere, the next call continues.
    pub async fn apply(&self, release: &Release, mut how: ApplyOptions<'_>) -> Result<Applied, Error> {
        let Prepared { before, stored, plan, keys, .. } = self.prepare(release, how.again).await?;
        let is_nothing = plan.is_empty() && before.as_ref() == Some(&stored.record) && keys.is_complete();
        if is_nothing && is_settled(&stored.record) {
            let mut arrival = None;
            if how.wait {
                let name = release.name.to_string();
                arrival = Some(self.wait(&name, &stored.record, &mut how.waiting).await?);
            }
            return Ok(Applied { plan, record: stored.record, arrival, coverage: Coverage::default() });
        }
        let task = Task { verb: "apply", release: &release.name };
        self.with_leases(vec![task.place()], task, async || {
            Box::pin(self.apply_locked(release, task, how)).await
        })
        .await
    }

    /// The same, as the only one who does anything to the release.
    async fn apply_locked(
        &self,
        release: &Release,
        task: Task<'_>,
        mut how: ApplyOptions<'_>,
    ) -> Result<Applied, Error> {
        let name = release.name.to_string();
        let mut prepared = self.prepare(release, how.again).await?;
        let around = (prepared.before.as_ref(), &prepared.stored.record);
        self.check_apply(release, around, how.skipped).await?;
        check_edits(&prepared.plan, &prepared.reconciliation.observed, self.writing.take_over)?;
        check_claims(&prepared.plan, self.writing.force_conflicts)?;
        self.check_runtimes(&prepared.plan, &prepared.stored.record, how.skipped).await?;
        let coming: Vec<Reference> =
            prepared.reconciliation.kept().into_iter().map(|(_, reference)| reference).collect();
        let coverage = self.check_coverage(&release.name, around, &coming, how.skipped).await?;
        prepared = self.with_keys(release, task, prepared, how.again).await?;
        let mut first = None;
        if let Some(trial) = prepared.trial(&name) {
            self.try_module(release, trial, &mut how.waiting).await?;
            first = Some(prepared.plan);
            prepared = self.prepare(release, how.again).await?;
        }
        let Prepared { before, mut stored, reconciliation, plan, .. } = prepared;
        stored.record.objects = union(&stored.record.objects, &reconciliation);
        if before.as_ref() != Some(&stored.record) {
            self.save_record(&release.name, &mut stored).await?;
        }
        let coming = PendingRollout { subsets: reconciliation.new_subsets(), plan };
        self.execute(release, &stored, &coming, &mut how.waiting).await?;
        let plan = coming.plan;
        if how.wait && plan.has_ways() {
            self.wait_for_istiod_push(&name, &stored.record).await?;
        }
        let mut arrival = None;
        if how.wait || !is_settled(&stored.record) {
            arrival = Some(self.wait(&name, &stored.record, &mut how.waiting).await?);
        }
        self.prune(release, &mut stored).await?;
        if let Some(weight) = stored.record.initial_weight {
            self.check_canary(&release.name, &stored.record, how.skipped).await?;
            let asked = Asked { weight, until: None, why: "apply" };
            stored = self.set_weight(&release.name, stored, asked).await?.stored;
            if how.wait {
                arrival = Some(self.wait(&name, &stored.record, &mut how.waiting).await?);
            }
        }
        Ok(Applied { plan: first.unwrap_or(plan), record: stored.record, arrival, coverage })
    }

    /// The same with keys, which come where they are missing.
    async fn with_keys(
        &self,
        release: &Release,
        task: Task<'_>,
        prepared: Prepared,
        again: bool,
    ) -> Result<Prepared, Error> {
        if prepared.keys.is_complete() {
            return Ok(prepared);
        }
        // Of releases that come at the same moment one draws them, and the others find them.
        let shared = shared(release, &prepared.stored.record)?;
        self.with_leases(shared, task, async || self.ensure_keys(release, &prepared.keys).await).await?;
        self.prepare(release, again).await
    }

    async fn prepare(&self, release: &Release, again: bool) -> Result<Prepared, Error> {
        let found = self.find_record(&release.name).await?;
        let before = found.as_ref().map(|stored| stored.record.clone());
        let mut stored = match found {
            Some(stored) => stored,
            None => StoredRecord::new(Record::first(release, first(release))),
        };
        stored.record.trial = None;
        let notes = self.choose(release, before.as_ref(), &mut stored.record).await?;
        if before.is_some() {
            stored.record.accept(release, again)?;
            let running = self.running(release, &stored.record).await?;
            let still_runs = |version: &str| running.iter().any(|other| other == version);
            stored.record.follow(release, &self.user, still_runs);
        }
        let observation = self.observe(release, &stored.record).await?;
        let keys = self.keys(release).await?.or_signing(observation.signing());
        let ring = keys.or_placeholder();
        let reconciliation = self.reconcile(release, &stored.record, &ring, observation).await?;
        let mut plan = build_plan(release, &stored.record, &reconciliation)?;
        plan.notes = self.order(release, &stored.record, &reconciliation, notes).await?;
        plan.notes.extend(reconciliation.note.clone());
        let Some(old) = &before else {
            stored.record.note(&self.user, assignment::Weight::ZERO, "apply");
            return Ok(Prepared { before, stored, keys, reconciliation, plan });
        };
        let configures = plan.changes.iter().any(|change| change.stage == Stage::Configuration);
        if stored.record.standing == old.standing && !(reconciliation.is_held && configures) {
            return Ok(Prepared { before, stored, keys, reconciliation, plan });
        }
        stored.record.standing.generation += 1;
        stored.record.note(&self.user, old.standing.weight, "apply");
        let observation = self.observe(release, &stored.record).await?;
        let reconciliation = self.reconcile(release, &stored.record, &ring, observation).await?;
        let plan = Plan { notes: plan.notes, ..build_plan(release, &stored.record, &reconciliation)? };
        Ok(Prepared { before, stored, keys, reconciliation, plan })
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
}

impl Prepared {
    /// The module that has to be tried before the rest comes.
    fn trial(&self, release: &str) -> Option<Trial> {
        let before = self.before.as_ref()?;
        // Where an earlier call did not come so far that every proxy holds the release, it comes with the rest.
        let holds = |reference: &Reference| {
            let held = self.reconciliation.observed.get(reference).map(held_configuration);
            held.and_then(Result::ok).flatten().is_some_and(|config| config.releases.contains_key(release))
        };
        if !before.config_objects().all(holds) {
            return None;
        }
        Trial::of(&self.reconciliation.desired, &self.reconciliation.observed, before.trial.as_ref())
    }
}

impl Reconciliation {
    /// The objects that a release needs.
    pub(super) fn kept(&self) -> Vec<(Stage, Reference)> {
        self.desired.iter().map(|object| (object.stage, object.reference.clone())).collect()
    }
}

/// Whether nothing is left to do but what was asked.
fn is_settled(record: &Record) -> bool {
    record.initial_weight.is_none() && record.leaving.is_empty()
}

/// The Leases of the objects that a release shares with others.
pub(super) fn shared(release: &Release, record: &Record) -> Result<Vec<lease::Place>, Error> {
    Ok(manifest::places(&desired::member(release, record))?)
}

/// With the uid that `generate` and `token` go by, who do not ask the cluster: what they have signed counts here.
fn first(release: &Release) -> Standing {
    let installed_at_seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    Standing { installed_at_seconds, ..Standing::first(release, release.uid_or_derived()) }
}

pub(super) fn build_plan(
    release: &Release,
    record: &Record,
    reconciliation: &Reconciliation,
) -> Result<Plan, Error> {
    Ok(install(
        &Ways::of(&release.name.to_string(), record),
        &reconciliation.desired,
        &reconciliation.observed,
        &record.objects,
    )?)
}

/// Everything that is there or going to be.
fn union(before: &[(Stage, Reference)], reconciliation: &Reconciliation) -> Vec<(Stage, Reference)> {
    let mut all = reconciliation.kept();
    all.extend(
        before
            .iter()
            .filter(|kept| !reconciliation.desired.iter().any(|object| object.reference == kept.1))
            .cloned(),
    );
    all
}
