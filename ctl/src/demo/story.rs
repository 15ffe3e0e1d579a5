//! The weight goes up and down by itself, while shoppers come, stay and leave.

use super::checks::{self, Told, Turn};
use super::crowd::Crowd;
use super::ledger::Ledger;
use super::life::Stay;
use super::screen::Screen;
use super::shopper::Shopper;
use super::stage::{CANARY, RELEASE, Stage};
use super::stream::Stream;
use super::{Error, proxy};
use crate::report::seconds;
use std::time::{Duration, Instant};

/// The weights, in percent. The first call brings the filter too.
const PLAN: [u32; 6] = [0, 10, 20, 50, 20, 0];
/// How long shoppers arrive at each weight.
const TURN: Duration = Duration::from_millis(4500);
/// How long those arrive who are older than the filter, and how many of them there are to those of a turn.
const BEFORE: Duration = Duration::from_millis(1500);
const OLD_TO_NEW: u32 = 4;
/// The turn of those who are older than the filter.
pub(super) const OLD: u64 = u64::MAX;
/// The turn after the highest weight: whoever it gave to the canary stays there.
const EXPLAINED_IN: usize = 4;

/// Tells the whole story, and says whether everything that it showed is true.
pub async fn tell(stage: &Stage, users: u32, screen: &mut Screen<'_>) -> Result<bool, Error> {
    let begun = Instant::now();
    let mut crowd = Crowd::new(stage)?;
    let old = users / OLD_TO_NEW;
    introduce(stage, users, old, screen)?;
    crowd.ledger().turn_to(Some(OLD));
    crowd.admit_over(old, BEFORE, |_| Stay::ToTheEnd).await?;
    let stream = Stream::open(crowd.client());
    let mut tester = None;
    let mut turns = Vec::new();
    let mut explained = String::new();
    for (number, percent) in PLAN.into_iter().enumerate() {
        let turn = turn(stage, &mut crowd, (number, percent), users, screen).await?;
        turns.push(turn);
        let tester = match &mut tester {
            Some(tester) => tester,
            none => none.insert(Tester::invite(stage, &mut crowd).await?),
        };
        tester.shop(&crowd).await;
        if number == EXPLAINED_IN {
            explained = explain(stage, crowd.ledger(), percent).await?;
        }
    }
    screen.live("closing: everybody looks at their cart once more".to_owned());
    crowd.gather().await;
    let stream = stream.close().await;
    let adopted = adopted(stage).await?;
    let told = Told {
        turns,
        old: crowd.ledger().arrivals(OLD),
        adopted,
        sums: crowd.ledger().sums(),
        stream,
        deeds: proxy::deeds(&stage.admin).await?,
        tester: tester.map(|tester| tester.versions).unwrap_or_default(),
    };
    screen.still();
    screen.line(&format!("\n{explained}\n"))?;
    let checks = checks::all(&told);
    for check in &checks {
        screen.line(&check.to_string())?;
    }
    for incident in &told.sums.incidents {
        screen.line(&format!("        {incident}"))?;
    }
    let is_true = checks.iter().all(|check| check.holds);
    let verdict = if is_true { "All of it held" } else { "NOT all of it held" };
    screen.line(&format!("{verdict}, in {}.", seconds(begun.elapsed())))?;
    Ok(is_true)
}

fn introduce(stage: &Stage, users: u32, old: u32, screen: &mut Screen<'_>) -> Result<(), Error> {
    screen.line(&format!(
        "A shop that keeps its carts in memory, v1 and v2, two processes each, behind Envoy {} on http://{}/\n\
         {old} shoppers are there before the filter. At each weight {users} new ones come; three of five stay to the end.\n",
        stage.envoy_version, stage.listen
    ))?;
    screen.line("$ canary-ctl              active   new shoppers on v2     all sessions on v2  flips  lost carts  errors")
}

/// One weight: asked for, awaited, and held while shoppers come.
async fn turn(
    stage: &Stage,
    crowd: &mut Crowd,
    (number, percent): (usize, u32),
    users: u32,
    screen: &mut Screen<'_>,
) -> Result<Turn, Error> {
    let id = number as u64;
    crowd.ledger().turn_to(None);
    screen.live(format!("canary-ctl weight {percent} --wait"));
    let asked = Instant::now();
    stage.tool.run(&["weight", &percent.to_string(), "--wait"]).await?;
    let active_after = asked.elapsed();
    crowd.ledger().turn_to(Some(id));
    let book = crowd.book();
    let drawing = async {
        loop {
            screen.live(progress(&book, id));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        admitted = crowd.admit_over(users, TURN, stay) => admitted?,
        () = drawing => {}
    }
    let (new, all, sums) = (book.arrivals(id), book.present(), book.sums());
    screen.line(&format!(
        "weight {percent:<2} --wait        {:>7}     {:>4} of {:<4} {:>5.1} %     {:>4} of {:<4} {:>5.1} %  {:>5}  {:>10}  {:>6}",
        seconds(active_after),
        new.canary,
        new.of,
        new.percent(),
        all.canary,
        all.of,
        all.percent(),
        sums.flips,
        sums.lost_carts,
        sums.errors
    ))?;
    Ok(Turn { percent, new })
}

/// Three of five stay, two leave after a while.
const fn stay(number: u32) -> Stay {
    if number % 5 < 3 { Stay::ToTheEnd } else { Stay::Looks(number % 3) }
}

fn progress(book: &Ledger, turn: u64) -> String {
    let (new, all, sums) = (book.arrivals(turn), book.present(), book.sums());
    format!(
        "new: {} of {} on {CANARY}; all: {} of {}; {} requests, {} flips, {} lost carts, {} errors",
        new.canary, new.of, all.canary, all.of, sums.requests, sums.flips, sums.lost_carts, sums.errors
    )
}

/// Somebody with a signed token, whom no weight concerns.
struct Tester {
    shopper: Shopper,
    versions: Vec<String>,
}

impl Tester {
    async fn invite(stage: &Stage, crowd: &mut Crowd) -> Result<Self, Error> {
        let token = stage.tool.run(&["token", "create", "--version", CANARY, "--ttl", "10m"]).await?;
        let mut shopper = crowd.stranger();
        let incidents = shopper.arrive(crowd.client(), &format!("?canary-token={}", token.trim())).await;
        crowd.ledger().note(&shopper, incidents);
        Ok(Self { shopper, versions: Vec::new() })
    }

    async fn shop(&mut self, crowd: &Crowd) {
        let incidents = self.shopper.buy(crowd.client()).await;
        crowd.ledger().note(&self.shopper, incidents);
        self.versions.push(self.shopper.version().unwrap_or("nobody").to_owned());
    }
}

/// What `explain` says about somebody whom a higher weight gave to the canary and this one would not.
async fn explain(stage: &Stage, ledger: &Ledger, percent: u32) -> Result<String, Error> {
    for cookies in ledger.on_canary_since(EXPLAINED_IN as u64 - 1) {
        let arguments = ["explain", "--path", "/cart", "--cookie", &cookies];
        let answer = stage.tool.ask(&arguments).await?;
        let from = answer.get("canaryFromPercent").and_then(serde_json::Value::as_f64);
        let bucket = answer.get("bucket").and_then(serde_json::Value::as_f64);
        if from.is_some_and(|from| from > f64::from(percent))
            || bucket.is_some_and(|at| at >= f64::from(percent) * 100.0)
        {
            let text = stage.tool.run(&arguments).await?;
            return Ok(format!(
                "$ canary-ctl explain --path /cart --cookie \"$COOKIES_OF_ONE\"     # came at 50 %, asked at {percent} %\n{}",
                text.trim_end()
            ));
        }
    }
    Ok("nobody whom 50 % gave to the canary is left to be explained".to_owned())
}

/// How many sessions older than the filter it has pinned to the version that they were on.
async fn adopted(stage: &Stage) -> Result<u64, Error> {
    let requests = stage.admin.stats().await?.release(RELEASE).requests;
    Ok(requests.iter().filter(|((_, _, reason), _)| reason == "adopted").map(|(_, count)| count).sum())
}
