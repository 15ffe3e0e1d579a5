//! One weight: asked for, awaited, and held while shoppers come.

use super::Error;
use super::crowd::Crowd;
use super::ledger::{Ledger, Share, Sums};
use super::life::Stay;
use super::screen::Screen;
use super::stage::{CANARY, Stage};
use crate::report::seconds;
use std::fmt;
use std::time::{Duration, Instant};

/// How long shoppers arrive at each weight.
const TIME: Duration = Duration::from_millis(4500);
/// Between two drawings of the changing line.
const FRAME: Duration = Duration::from_millis(100);

/// What the columns of a turn are.
pub(super) const HEADING: &str =
    "$ canary-ctl …       active in    new shoppers on v2    all sessions on v2  flips  lost carts  errors";

/// A weight, and what was seen while it held.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) percent: u32,
    /// From the call of `canary-ctl` to its end, which is when Envoy ran the new weight.
    pub(super) active_in: Duration,
    /// Those who came.
    pub(super) new: Share,
    /// Those who were there at its end.
    pub(super) all: Share,
    /// Everything until its end.
    pub(super) sums: Sums,
}

impl Round {
    /// Plays it. Arrivals count while the weight is certain: after `--wait` has returned, before the next call.
    pub(super) async fn play(
        stage: &Stage,
        crowd: &mut Crowd,
        (id, percent): (u64, u32),
        users: u32,
        screen: &Screen<'_>,
    ) -> Result<Self, Error> {
        crowd.ledger().turn_to(None);
        let asked = Instant::now();
        stage.tool.run(&["weight", &percent.to_string(), "--wait"]).await?;
        let active_in = asked.elapsed();
        crowd.ledger().turn_to(Some(id));
        let ledger = crowd.book();
        tokio::select! {
            admitted = crowd.admit_over(users, TIME, stay) => admitted?,
            () = draw(&ledger, id, percent, screen) => {}
        }
        let (new, all, sums) = (ledger.arrivals(id), ledger.present(), ledger.sums());
        Ok(Self { percent, active_in, new, all, sums })
    }
}

/// Three of five stay, two leave after a while.
const fn stay(number: u32) -> Stay {
    if number % 5 < 3 { Stay::ToTheEnd } else { Stay::Looks(number % 3) }
}

async fn draw(ledger: &Ledger, turn: u64, percent: u32, screen: &Screen<'_>) {
    loop {
        let (new, all, sums) = (ledger.arrivals(turn), ledger.present(), ledger.sums());
        screen.live(format!(
            "weight {percent} %: {} of {} new, {} of {} in all on {CANARY}; {} flips, {} lost, {} errors",
            new.canary, new.of, all.canary, all.of, sums.flips, sums.lost_carts, sums.errors
        ));
        tokio::time::sleep(FRAME).await;
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { percent, active_in, new, all, sums } = self;
        write!(f, "    weight {percent:<2} --wait  {:>8}", seconds(*active_in))?;
        for share in [new, all] {
            write!(f, "    {:>4} of {:<4} {:>5.1} %", share.canary, share.of, share.percent())?;
        }
        write!(f, "  {:>5}  {:>10}  {:>6}", sums.flips, sums.lost_carts, sums.errors)
    }
}
