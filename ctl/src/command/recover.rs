//! `recover`: read the objects, write the record, report.

use super::arguments::{DryRun, DryRunArgument, OnCluster};
use super::named_release::{self, InvalidFile};
use super::target::{self, ReleaseTarget};
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::contract::Role;
use canary_operations::{Cluster, StoredRecord};
use canary_release::record::RecordTrust;
use canary_release::spec::ReleaseName;
use clap::Args;

/// Rebuild the record of a release from its objects on the cluster
#[derive(Clone, Debug, Args)]
#[command(after_help = "For a record that is not obeyed: it was changed without the keys of records,
copied or restored, or an earlier canary-ctl wrote it. Versions, weight and
sessions stay as they are. The history, a pause and a rollout are lost.

`--accept-record` keeps the record that is there: its history, its pause and its
last promotion, and its versions if the cluster has no objects of the release
yet. Look at it before (`kubectl get configmap`). It is for a record of an
earlier canary-ctl, and for one that was copied to a second cluster.

With a file only the namespaces that it names count. Without one all namespaces
have to agree.

Exit codes: 0 done, 2 failed or refused.

Examples:
  canary-ctl recover
  canary-ctl recover --accept-record
  canary-ctl recover shop/shop --dry-run")]
pub(super) struct Recover {
    /// Accept history, pause and versions of a record whose seals are not genuine; needs the file
    #[arg(long)]
    pub(super) accept_record: bool,
    #[command(flatten)]
    pub(super) dry_run: DryRunArgument,
    #[command(flatten)]
    pub(super) on: OnCluster,
}

pub(super) async fn run(arguments: &Recover, printer: &mut Printer) -> Result<Outcome, Error> {
    let (name, cluster, stored) = find(arguments).await?;
    match stored.trust() {
        RecordTrust::Refused(fault) => printer.message(&format!("{name}: the record is not obeyed: {fault}")),
        RecordTrust::Absent => printer.message(&format!("{name}: there is no record")),
        RecordTrust::Genuine | RecordTrust::Unverified(_) => {
            printer.message(&format!("{name}: the record is genuine; nothing to write"));
            return Ok(Outcome::Done);
        }
    }
    if arguments.dry_run.by == Some(DryRun::Server) {
        cluster.dry_run_record(&name, &stored).await?;
    }
    let is_written = arguments.dry_run.by.is_none();
    let stored = if is_written { cluster.rebuild_record(&name, stored).await? } else { stored };
    let state = &stored.record.state;
    let version = |role| state.version_of(role).unwrap_or("none").to_owned();
    let verb = if is_written { "the record says now" } else { "the record would say" };
    printer.message(&format!(
        "{name}: {verb}: stable {}, canary {} at {}, generation {}",
        version(Role::Stable),
        version(Role::Canary),
        state.weight,
        state.generation
    ));
    printer.hint("`canary-ctl apply` brings everything to what the file says; `canary-ctl rollout start` begins a rollout again");
    Ok(Outcome::Done)
}

/// The record that would be written.
async fn find(arguments: &Recover) -> Result<(ReleaseName, Cluster, StoredRecord), Error> {
    if !arguments.accept_record {
        let ReleaseTarget { name, cluster, stored } =
            target::connect_release(&arguments.on, InvalidFile::Ignored).await?;
        return Ok((name, cluster, stored));
    }
    let release = named_release::with_file(&arguments.on.of, &arguments.on.cluster)?.release;
    let name = release.name.clone();
    let cluster = target::connect(&arguments.on.cluster).await?;
    let stored = cluster.accept_record(&release).await?;
    Ok((name, cluster, stored))
}
