//! One weight: set, awaited, and kept while shoppers arrive.

use crate::behaviour::Stay;
use crate::crowd::Crowd;
use crate::environment::{CANARY, DemoEnv};
use crate::error::Error;
use crate::screen::Screen;
use crate::stats::{Counters, Share, ShopperStats};
use canary_release::format::seconds;
use std::fmt;
use std::time::{Duration, Instant};

/// How long shoppers arrive at each weight.
const ARRIVALS: Duration = Duration::from_millis(4500);
/// Between two updates of the changing line.
const REFRESH: Duration = Duration::from_millis(100);

/// What the columns of a round are.
pub(crate) const HEADING: &str =
    "$ canary-ctl …       active in    new shoppers on v2    all sessions on v2  flips  lost carts  errors";

/// A weight, and what was seen while it was active.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    /// Its place in the scenario.
    pub(crate) id: u64,
    pub(crate) percent: u32,
    /// From the start of `canary-ctl` to its end, which is when Envoy ran the new weight.
    pub(crate) active_in: Duration,
    /// The shoppers who arrived.
    pub(crate) new: Share,
    /// The shoppers who were present at its end.
    pub(crate) all: Share,
    /// Everything until its end.
    pub(crate) counters: Counters,
}

impl Round {
    /// Runs it. Arrivals count while the weight is certain: after `--wait` has returned, before the next call.
    pub(crate) async fn run(
        env: &DemoEnv,
        crowd: &mut Crowd,
        (id, percent): (u64, u32),
        users: u32,
        screen: &Screen<'_>,
    ) -> Result<Self, Error> {
        crowd.stats().set_round(None);
        let started = Instant::now();
        env.ctl.run(&["weight", &percent.to_string(), "--wait"]).await?;
        let active_in = started.elapsed();
        crowd.stats().set_round(Some(id));
        let stats = crowd.shared_stats();
        tokio::select! {
            admitted = crowd.admit_over(users, ARRIVALS, stay) => admitted?,
            () = show_progress(&stats, id, percent, screen) => {}
        }
        let (new, all, counters) = (stats.arrivals(id), stats.present(), stats.counters());
        Ok(Self { id, percent, active_in, new, all, counters })
    }
}

/// Three of five stay, two leave after a while.
const fn stay(index: u32) -> Stay {
    if index % 5 < 3 { Stay::UntilClose } else { Stay::Views(index % 3) }
}

async fn show_progress(stats: &ShopperStats, id: u64, percent: u32, screen: &Screen<'_>) {
    loop {
        let (new, all, counters) = (stats.arrivals(id), stats.present(), stats.counters());
        screen.progress(format!(
            "weight {percent}%: {} of {} new, {} of {} in all on {CANARY}; {} flips, {} lost carts, {} errors",
            new.canary, new.total, all.canary, all.total, counters.flips, counters.lost_carts, counters.errors
        ));
        tokio::time::sleep(REFRESH).await;
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { percent, active_in, new, all, counters, .. } = self;
        write!(f, "    weight {percent:<2} --wait  {:>8}", seconds(*active_in))?;
        for share in [new, all] {
            write!(f, "    {:>4} of {:<4} {:>5.1}%", share.canary, share.total, share.percent())?;
        }
        write!(f, "  {:>5}  {:>10}  {:>6}", counters.flips, counters.lost_carts, counters.errors)
    }
}
