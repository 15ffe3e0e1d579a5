//! `rollback`: read the record, say who loses what, write, wait, report. It asks nothing.

use super::target::{self, Subject};
use super::{role_change, situation};
use crate::cli::Rollback;
use crate::cluster::{EffectiveSettings, RollbackOptions};
use crate::plan::{Record, RollbackTarget, drains_for, ends_after};
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::contract::{Role, Stickiness};
use jiff::Timestamp;

pub(super) async fn run(arguments: &Rollback, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let subject = target::subject(&arguments.on).await?;
    let Subject { name, cluster, stored } = &subject;
    let settings = cluster.effective_settings(name, stored).await?;
    let back = to_roll_back(arguments, &stored.record)?;
    let how = RollbackOptions { back: &back, deadline: deadline(arguments, &back, settings) };
    check_target(arguments, &subject, &back).await?;
    announce(&subject, how, settings.stickiness, printer).await?;
    if let Some(by) = arguments.writes.dry_run {
        let turn = |record: &mut Record| {
            record.roll_back(&back, how.deadline, "");
            record.leaving.clear();
        };
        return role_change::server_dry_run(by, &subject, turn, printer).await;
    }
    let turned = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        cluster.roll_back(name, stored.clone(), how, &mut waiting).await?
    };
    printer.report(&role_change::Roles::of(name, &turned))?;
    afterwards(&turned.stored.record, printer);
    Ok(Outcome::Done)
}

/// A version that drains after a rollback is ended only where that is asked for: a call that is repeated must not do more
/// than the first one.
fn to_roll_back(arguments: &Rollback, record: &Record) -> Result<RollbackTarget, Error> {
    Ok(match record.to_roll_back().map_err(crate::cluster::Error::from)? {
        RollbackTarget::Draining(_) if !arguments.now && arguments.drain.is_none() => RollbackTarget::Done,
        back => back,
    })
}

/// A canary is taken back at once, because it may be broken; a version that everybody is on lets its sessions finish.
fn deadline(arguments: &Rollback, back: &RollbackTarget, settings: EffectiveSettings) -> Option<Timestamp> {
    let finish = match (arguments.now, back) {
        (true, _) => None,
        (false, RollbackTarget::Promotion(_)) => {
            arguments.drain.or_else(|| drains_for(settings.stickiness, settings.max_age))
        }
        (false, _) => arguments.drain,
    };
    finish.map(|finish| ends_after(Some(finish)))
}

/// The version that gets everybody has to be there: its pods may have been scaled down since.
async fn check_target(arguments: &Rollback, subject: &Subject, back: &RollbackTarget) -> Result<(), Error> {
    let Subject { name, cluster, stored } = subject;
    let record = &stored.record;
    let mut after = record.clone();
    after.roll_back(back, None, "");
    let stable = after.standing.version_of(Role::Stable).unwrap_or_default();
    Ok(cluster.check_pods(name, record, stable, &arguments.on.checks.skipped).await?)
}

/// Says who loses what, before anybody does. It takes no time that an emergency has not: one look at the counters.
async fn announce(
    subject: &Subject,
    how: RollbackOptions<'_>,
    stickiness: Stickiness,
    printer: &mut Printer,
) -> Result<(), Error> {
    let Subject { name, cluster, stored } = subject;
    let (RollbackTarget::Canary(from) | RollbackTarget::Promotion(from) | RollbackTarget::Draining(from)) =
        how.back
    else {
        printer.message("rolled back already: what is missing of it is written");
        return Ok(());
    };
    if matches!(how.back, RollbackTarget::Canary(_)) {
        let weight = stored.record.standing.weight_at(situation::now());
        let whose = match stickiness {
            Stickiness::Session => "new sessions",
            Stickiness::User => "users",
        };
        printer.message(&format!("`{from}` has {weight} of the {whose}"));
    }
    let part = cluster.traffic(&name.to_string(), &stored.record).await?.of(from);
    printer.message(&format!(
        "`{from}` has had {} of {} requests since the proxies started to count, {} of them by sessions that stay there",
        part.requests, part.of, part.sessions
    ));
    printer.message(&match (how.deadline, stickiness) {
        (Some(deadline), _) => format!("its sessions finish there until {deadline:.0}; nobody new comes"),
        (None, Stickiness::Session) => {
            "its sessions lose their state: they are on stable with their next request".to_owned()
        }
        (None, Stickiness::User) => "its users are on stable with their next request".to_owned(),
    });
    Ok(())
}

fn afterwards(record: &Record, printer: &mut Printer) {
    let Some(turn) = &record.role_change else { return };
    let (from, to) = (&turn.from, &turn.to);
    printer
        .hint(&format!("the file has to say `versions.stable: {to}` and no canary: an older one is refused"));
    printer
        .hint(&format!("a fixed build, under the label `{from}` too, comes by `canary-ctl apply --again`"));
}
