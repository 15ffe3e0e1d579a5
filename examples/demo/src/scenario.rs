//! The weight goes up and down while shoppers arrive, stay and leave; then the checks.

use crate::behaviour::Stay;
use crate::checks::{self, Observations};
use crate::crowd::Crowd;
use crate::environment::{DemoEnv, RELEASE};
use crate::error::Error;
use crate::explain::explain_shopper;
use crate::proxy::ProxyCounters;
use crate::round::{self, Round};
use crate::screen::Screen;
use crate::stream::Stream;
use crate::tester::Tester;
use std::time::{Duration, Instant};

/// The weights, in percent. The first call installs the filter too.
const WEIGHTS: [u32; 6] = [0, 10, 20, 50, 20, 0];
/// The round whose arrivals are explained in the next one, when the weight is lower again.
const HIGHEST: u64 = 3;
/// The round of those who arrive before the filter is installed.
const BEFORE_FILTER: u64 = u64::MAX;
/// How long those arrive, and how many arrivals of a later round there are for each of them.
const BEFORE_FILTER_ARRIVALS: Duration = Duration::from_millis(1500);
const LATER_FOR_EACH: u32 = 4;

/// Runs all of it, and returns whether all checks passed.
pub(crate) async fn run_once(env: &DemoEnv, users: u32, screen: &mut Screen<'_>) -> Result<bool, Error> {
    let started = Instant::now();
    let mut crowd = Crowd::new(env);
    let first = users / LATER_FOR_EACH;
    introduce(env, users, first, screen)?;
    let before = ProxyCounters::read(&env.admin).await?;
    crowd.stats().set_round(Some(BEFORE_FILTER));
    crowd.admit_over(first, BEFORE_FILTER_ARRIVALS, |_| Stay::UntilClose).await?;
    let stream = Stream::open(env.listen);
    let mut tester = Tester::with_token(env, &mut crowd).await?;
    let (rounds, explanation) = run_rounds(env, users, &mut crowd, &mut tester, screen).await?;
    screen.progress("closing: every shopper views the cart once more".to_owned());
    crowd.close().await;
    let observations = Observations {
        rounds,
        before_filter: crowd.stats().arrivals(BEFORE_FILTER),
        moved_to_canary: crowd.stats().canary_cookies_of(BEFORE_FILTER).len() as u64,
        adoptions: adoptions(env).await?,
        counters: crowd.stats().counters(),
        stream: stream.close().await,
        proxy: ProxyCounters::read(&env.admin).await?.since(before),
        tester: tester.into_versions(),
    };
    screen.clear_progress();
    screen.line(&format!("\n{explanation}\n"))?;
    conclude(&observations, started.elapsed(), screen)
}

/// Runs each weight, and explains a shopper of the highest one in the round after it.
async fn run_rounds(
    env: &DemoEnv,
    users: u32,
    crowd: &mut Crowd,
    tester: &mut Tester,
    screen: &mut Screen<'_>,
) -> Result<(Vec<Round>, String), Error> {
    let (mut rounds, mut explanation) = (Vec::<Round>::new(), String::new());
    for (id, percent) in (0..).zip(WEIGHTS) {
        let round = Round::run(env, crowd, (id, percent), users, screen).await?;
        screen.line(&round.to_string())?;
        tester.shop(crowd).await;
        if let Some(highest) = rounds.last().filter(|last| last.id == HIGHEST) {
            explanation = explain_shopper(env, crowd.stats(), highest, percent).await?;
        }
        rounds.push(round);
    }
    Ok((rounds, explanation))
}

fn introduce(env: &DemoEnv, users: u32, first: u32, screen: &mut Screen<'_>) -> Result<(), Error> {
    screen.line(&format!(
        "A shop that keeps carts in memory: v1 and v2, two processes each, behind Envoy {} on http://{}/\n\
         {first} shoppers arrive before the filter is installed, then {users} at each weight; most of them stay.\n",
        env.envoy_version, env.listen
    ))?;
    screen.line(round::HEADING)
}

fn conclude(observations: &Observations, elapsed: Duration, screen: &mut Screen<'_>) -> Result<bool, Error> {
    let checks = checks::run(observations);
    for check in &checks {
        screen.line(&check.to_string())?;
    }
    for incident in &observations.counters.incidents {
        screen.line(&format!("      {incident}"))?;
    }
    let all_passed = checks.iter().all(|check| check.passed);
    let verdict = if all_passed { "All checks passed" } else { "Some checks failed" };
    screen.line(&format!("{verdict} in {:.0} s.", elapsed.as_secs_f64()))?;
    Ok(all_passed)
}

/// Requests by which sessions from before the filter were kept on their version; later ones have a pin.
async fn adoptions(env: &DemoEnv) -> Result<u64, Error> {
    let requests = env.admin.stats().await?.release(RELEASE).requests;
    Ok(requests.iter().filter(|((_, _, reason), _)| reason == "adopted").map(|(_, count)| count).sum())
}
