//! `recover`: read the objects, write the record, report.

use super::target::{self, ReleaseTarget};
use crate::cli::Recover;
use crate::module;
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::contract::Role;
use canary_operations::{Cluster, StoredRecord};
use canary_release::record::RecordTrust;
use canary_release::spec::ReleaseName;

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
    let stored = if arguments.dry_run { stored } else { cluster.rebuild_record(&name, stored).await? };
    let state = &stored.record.state;
    let version = |role| state.version_of(role).unwrap_or("none").to_owned();
    let verb = if arguments.dry_run { "the record would say" } else { "the record says now" };
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
        let ReleaseTarget { name, cluster, stored } = target::connect_release(&arguments.on).await?;
        return Ok((name, cluster, stored));
    }
    let document = module::load(&arguments.on.spec.file)?;
    target::for_a_cluster(&document)?;
    let name = target::release(arguments.on.release.as_deref(), &arguments.on.cluster, Some(&document))?;
    let release = document.release;
    if name != release.name {
        let message = format!("expected the file of `{name}`, found that of `{}`", release.name);
        return Err(Error::usage(message, "name its file by `-f`"));
    }
    let cluster = target::connect(&arguments.on.cluster).await?;
    let stored = cluster.accept_record(&release).await?;
    Ok((name, cluster, stored))
}
