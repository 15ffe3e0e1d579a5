//! Shows what users get while a second terminal changes the weight, until Ctrl-C.

use crate::behaviour::Stay;
use crate::crowd::Crowd;
use crate::environment::{CANARY, DemoEnv, RELEASE};
use crate::error::Error;
use crate::process::Process;
use crate::screen::Screen;
use crate::stats::ShopperStats;
use canary_ctl::local::{Layout, State};
use std::convert::Infallible;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};

/// `--users` arrive in this time.
const ARRIVALS: Duration = Duration::from_secs(10);
/// Between two readings of the state and of Envoy.
const POLL: Duration = Duration::from_millis(50);
/// Views of the cart before a shopper leaves: about a minute.
const VIEWS: u32 = 10;

/// A weight that Envoy runs, and its generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ActiveWeight {
    generation: u64,
    weight: String,
}

/// Shows it until Ctrl-C.
pub(crate) async fn watch(env: &DemoEnv, users: u32, screen: &mut Screen<'_>) -> Result<(), Error> {
    let (_dashboard, page) = dashboard(env).await?;
    // Before it says that it is up: who reads that may end it at once.
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Runtime)?;
    introduce(env, &page, screen)?;
    let mut crowd = Crowd::new(env);
    let mut active = ActiveWeight::default();
    tokio::select! {
        ended = admit_continuously(env, users, &mut crowd, &mut active, screen) => { ended?; }
        _ = interrupt.recv() => {}
    }
    screen.clear_progress();
    screen.line(&summary(crowd.stats(), &active))
}

/// The dashboard of the demo's release, and its URL.
async fn dashboard(env: &DemoEnv) -> Result<(Process, String), Error> {
    let mut command = Command::new(&env.ctl.program);
    let mut server = Process::start("canary-ctl", command.arg("dashboard").current_dir(&env.ctl.folder))?;
    let url = |log: &str| log.lines().find(|line| line.starts_with("http://")).map(str::to_owned);
    let url = server.ready(async |log| url(log)).await?;
    Ok((server, url))
}

async fn admit_continuously(
    env: &DemoEnv,
    users: u32,
    crowd: &mut Crowd,
    active: &mut ActiveWeight,
    screen: &mut Screen<'_>,
) -> Result<Infallible, Error> {
    let mut next = Instant::now();
    loop {
        while next <= Instant::now() {
            crowd.admit(Stay::Views(VIEWS));
            next += ARRIVALS / users;
        }
        follow_weight(env, crowd.stats(), active, screen).await?;
        crowd.reap();
        screen.progress(summary(crowd.stats(), active));
        tokio::time::sleep(POLL).await;
    }
}

/// Counts arrivals for the desired weight once Envoy runs it, and prints a summary of the one before.
async fn follow_weight(
    env: &DemoEnv,
    stats: &ShopperStats,
    active: &mut ActiveWeight,
    screen: &mut Screen<'_>,
) -> Result<(), Error> {
    let releases = State::read(&Layout::new(env.ctl.folder.join(".canary")))?.releases;
    let Some(entry) = releases.get(RELEASE) else { return Ok(()) };
    let desired = entry.state.generation;
    if desired == active.generation {
        return Ok(());
    }
    stats.set_round(None);
    if env.admin.stats().await?.release(RELEASE).generation() < Some(desired) {
        return Ok(());
    }
    if active.generation > 0 {
        screen.line(&summary(stats, active))?;
    }
    *active = ActiveWeight { generation: desired, weight: entry.state.weight.to_string() };
    stats.set_round(Some(desired));
    Ok(())
}

fn summary(stats: &ShopperStats, active: &ActiveWeight) -> String {
    let (new, all, counters) = (stats.arrivals(active.generation), stats.present(), stats.counters());
    format!(
        "weight {:<4} {CANARY} has {:.1}% of {} new, {:.1}% of {} in all; {} flips, {} lost carts, {} errors",
        active.weight,
        new.percent(),
        new.total,
        all.percent(),
        all.total,
        counters.flips,
        counters.lost_carts,
        counters.errors
    )
}

fn introduce(env: &DemoEnv, page: &str, screen: &mut Screen<'_>) -> Result<(), Error> {
    let (envoy, listen) = (&env.envoy_version, env.listen);
    let (program, folder) = (env.ctl.program.display(), env.ctl.folder.display());
    screen.line(&format!(
        "A shop that keeps carts in memory: v1 and v2, two processes each, behind Envoy {envoy}.\n\
         The filter is installed, the weight is 0%, and shoppers are arriving.\n\n\
         In a browser: http://{listen}/\n\
         Beside it, its users as dots that move with the weight: {page}\n\
         In a second terminal:\n  \
         alias canary-ctl={program}; cd {folder}\n  \
         canary-ctl weight 20 --wait    # a fifth of the new shoppers\n  \
         canary-ctl weight 50 --wait    # half of them; existing sessions stay on their version\n  \
         canary-ctl weight 0            # no new ones; sessions on v2 stay there\n  \
         canary-ctl status              # desired and observed state\n  \
         canary-ctl token create --version v2 --url http://{listen}/    # a link for a tester\n\
         Ctrl-C ends everything.\n"
    ))
}
