//! `rollback`: read the record, say who loses what, write, wait, report. It asks nothing.

use super::target::{self, Subject};
use super::{situation, turn};
use crate::cli::Rollback;
use crate::cluster::{Manner, TakingBack};
use crate::plan::{Back, Record, drains_for, ends_after};
use crate::report::Printer;
use crate::{Error, Outcome};
use assignment::contract::{Role, Stickiness};
use jiff::Timestamp;

pub(super) async fn run(arguments: &Rollback, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let subject = target::subject(&arguments.on).await?;
    let Subject { name, cluster, stored } = &subject;
    let manner = cluster.manner(name, stored).await?;
    let back = to_roll_back(arguments, &stored.record)?;
    let how = TakingBack { back: &back, deadline: deadline(arguments, &back, manner) };
    judge_target(arguments, &subject, &back).await?;
    announce(&subject, how, manner.stickiness, printer).await?;
    if let Some(by) = arguments.writes.dry_run {
        let turn = |record: &mut Record| {
            record.roll_back(&back, how.deadline, "");
            record.leaving.clear();
        };
        return turn::rehearse(by, &subject, turn, printer).await;
    }
    let turned = {
        let mut progress = target::progress(printer);
        let mut waiting = target::waiting(arguments.writes.timeout, &mut progress);
        cluster.roll_back(name, stored.clone(), how, &mut waiting).await?
    };
    printer.report(&turn::Roles::of(name, &turned))?;
    afterwards(&turned.stored.record, printer);
    Ok(Outcome::Done)
}

/// A version that drains after a rollback is ended only where that is asked for: a call that is repeated must not do more
/// than the first one.
fn to_roll_back(arguments: &Rollback, record: &Record) -> Result<Back, Error> {
    Ok(match record.to_roll_back().map_err(crate::cluster::Error::from)? {
        Back::Draining(_) if !arguments.now && arguments.drain.is_none() => Back::Done,
        back => back,
    })
}

/// A canary is taken back at once, because it may be broken; a version that everybody is on lets its sessions finish.
fn deadline(arguments: &Rollback, back: &Back, manner: Manner) -> Option<Timestamp> {
    let finish = match (arguments.now, back) {
        (true, _) => None,
        (false, Back::Promotion(_)) => {
            arguments.drain.or_else(|| drains_for(manner.stickiness, manner.max_age))
        }
        (false, _) => arguments.drain,
    };
    finish.map(|finish| ends_after(Some(finish)))
}

/// The version that gets everybody has to be there: its pods may have been scaled down since.
async fn judge_target(arguments: &Rollback, subject: &Subject, back: &Back) -> Result<(), Error> {
    let Subject { name, cluster, stored } = subject;
    let record = &stored.record;
    let mut after = record.clone();
    after.roll_back(back, None, "");
    let stable = after.standing.version_of(Role::Stable).unwrap_or_default();
    Ok(cluster.judge_pods(name, record, stable, &arguments.on.guards.overridden).await?)
}

/// Says who loses what, before anybody does. It takes no time that an emergency has not: one look at the counters.
async fn announce(
    subject: &Subject,
    how: TakingBack<'_>,
    stickiness: Stickiness,
    printer: &mut Printer,
) -> Result<(), Error> {
    let Subject { name, cluster, stored } = subject;
    let (Back::Canary(from) | Back::Promotion(from) | Back::Draining(from)) = how.back else {
        printer.message("rolled back already: what is missing of it is written");
        return Ok(());
    };
    if matches!(how.back, Back::Canary(_)) {
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
    let Some(turn) = &record.turn else { return };
    let (from, to) = (&turn.from, &turn.to);
    printer
        .hint(&format!("the file has to say `versions.stable: {to}` and no canary: an older one is refused"));
    printer
        .hint(&format!("a fixed build, under the label `{from}` too, comes by `canary-ctl apply --again`"));
}
