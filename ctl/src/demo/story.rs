//! The weight goes up and down by itself, while shoppers come, stay and leave.

use super::checks::{self, Told};
use super::crowd::Crowd;
use super::life::Stay;
use super::round::{self, Round};
use super::screen::Screen;
use super::stage::{RELEASE, Stage};
use super::stream::Stream;
use super::tester::Tester;
use super::{Error, explained, proxy};
use crate::report::seconds;
use std::time::{Duration, Instant};

/// The weights, in percent. The first call brings the filter too.
const PLAN: [u32; 6] = [0, 10, 20, 50, 20, 0];
/// The turn whose newcomers are explained in the next one, when the weight is lower again.
const HIGHEST: u64 = 3;
/// The turn of those who are older than the filter.
const OLD: u64 = u64::MAX;
/// How long those arrive, and how many newcomers of a turn there are for each of them.
const BEFORE: Duration = Duration::from_millis(1500);
const NEW_FOR_OLD: u32 = 4;

/// Tells the whole story, and says whether everything that it showed is true.
pub async fn tell(stage: &Stage, users: u32, screen: &mut Screen<'_>) -> Result<bool, Error> {
    let begun = Instant::now();
    let mut crowd = Crowd::new(stage)?;
    let old = users / NEW_FOR_OLD;
    introduce(stage, users, old, screen)?;
    let before = proxy::deeds(&stage.admin).await?;
    crowd.ledger().turn_to(Some(OLD));
    crowd.admit_over(old, BEFORE, |_| Stay::ToTheEnd).await?;
    let stream = Stream::open(crowd.client());
    let mut tester = Tester::invite(stage, &mut crowd).await?;
    let (mut rounds, mut explanation, mut highest) = (Vec::<Round>::new(), String::new(), 0);
    for (id, percent) in (0..).zip(PLAN) {
        let turn = Round::play(stage, &mut crowd, (id, percent), users, screen).await?;
        screen.line(&turn.to_string())?;
        tester.shop(&crowd).await;
        if id == HIGHEST {
            highest = percent;
        } else if id == HIGHEST + 1 {
            let came = (HIGHEST, highest);
            explanation = explained::newcomer(stage, crowd.ledger(), came, percent).await?;
        }
        rounds.push(turn);
    }
    screen.live("closing: everybody looks at their cart once more".to_owned());
    crowd.gather().await;
    let told = Told {
        rounds,
        old: crowd.ledger().arrivals(OLD),
        old_on_canary: crowd.ledger().on_canary_since(OLD).len(),
        adoptions: adoptions(stage).await?,
        sums: crowd.ledger().sums(),
        stream: stream.close().await,
        deeds: proxy::deeds(&stage.admin).await?.since(before),
        tester: tester.into_versions(),
    };
    screen.still();
    screen.line(&format!("\n{explanation}\n"))?;
    conclude(&told, begun, screen)
}

fn introduce(stage: &Stage, users: u32, old: u32, screen: &mut Screen<'_>) -> Result<(), Error> {
    screen.line(&format!(
        "A shop that keeps carts in memory: v1 and v2, two processes each, behind Envoy {} on http://{}/\n\
         {old} shoppers are older than the filter; at each weight {users} new ones come, and most of them stay.\n",
        stage.envoy_version, stage.listen
    ))?;
    screen.line(round::HEADING)
}

fn conclude(told: &Told, begun: Instant, screen: &mut Screen<'_>) -> Result<bool, Error> {
    let checks = checks::all(told);
    for check in &checks {
        screen.line(&check.to_string())?;
    }
    for incident in &told.sums.incidents {
        screen.line(&format!("      {incident}"))?;
    }
    let is_true = checks.iter().all(|check| check.holds);
    let verdict = if is_true { "All of it held" } else { "NOT all of it held" };
    screen.line(&format!("{verdict}, in {}.", seconds(begun.elapsed())))?;
    Ok(is_true)
}

/// Requests by which sessions older than the filter were kept on their version; later ones have a pin.
async fn adoptions(stage: &Stage) -> Result<u64, Error> {
    let requests = stage.admin.stats().await?.release(RELEASE).requests;
    Ok(requests.iter().filter(|((_, _, reason), _)| reason == "adopted").map(|(_, count)| count).sum())
}
