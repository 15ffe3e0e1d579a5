//! Shows what users get while somebody else changes the weight, until Ctrl-C.

use super::Error;
use super::crowd::Crowd;
use super::ledger::Ledger;
use super::life::Stay;
use super::screen::Screen;
use super::stage::{CANARY, RELEASE, Stage};
use crate::local::{Layout, State};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// `--users` come in this time.
const SPAN: Duration = Duration::from_secs(10);
/// Between two looks at the state and at Envoy.
const LOOK: Duration = Duration::from_millis(50);
/// Looks at the cart before a shopper leaves: a minute or so.
const LOOKS: u32 = 10;

/// A weight that holds, and the generation that it came with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Held {
    generation: u64,
    weight: String,
}

/// Shows it until Ctrl-C.
pub async fn watch(stage: &Stage, users: u32, screen: &mut Screen<'_>) -> Result<(), Error> {
    introduce(stage, screen)?;
    let mut crowd = Crowd::new(stage)?;
    let mut held = Held::default();
    tokio::select! {
        ended = keep_coming(stage, users, &mut crowd, &mut held, screen) => { ended?; }
        // Where no handler can be had Ctrl-C ends the process the hard way.
        _ = tokio::signal::ctrl_c() => {}
    }
    screen.still();
    screen.line(&now(crowd.ledger(), &held))
}

async fn keep_coming(
    stage: &Stage,
    users: u32,
    crowd: &mut Crowd,
    held: &mut Held,
    screen: &mut Screen<'_>,
) -> Result<Infallible, Error> {
    let mut next = Instant::now();
    loop {
        while next <= Instant::now() {
            crowd.admit(Stay::Looks(LOOKS));
            next += SPAN / users;
        }
        follow(stage, crowd.ledger(), held, screen).await?;
        crowd.tidy();
        screen.live(now(crowd.ledger(), held));
        tokio::time::sleep(LOOK).await;
    }
}

/// Counts arrivals for the weight that is asked for, once Envoy runs it, and says what became of the one before.
async fn follow(
    stage: &Stage,
    ledger: &Ledger,
    held: &mut Held,
    screen: &mut Screen<'_>,
) -> Result<(), Error> {
    let known = State::read(&Layout::new(stage.tool.folder.join(".canary")))?;
    let Some(entry) = known.releases.get(RELEASE) else { return Ok(()) };
    let asked = entry.standing.generation;
    if asked == held.generation {
        return Ok(());
    }
    ledger.turn_to(None);
    if stage.admin.stats().await?.release(RELEASE).generation < Some(asked) {
        return Ok(());
    }
    if held.generation > 0 {
        screen.line(&now(ledger, held))?;
    }
    *held = Held { generation: asked, weight: entry.standing.weight.to_string() };
    ledger.turn_to(Some(asked));
    Ok(())
}

fn now(ledger: &Ledger, held: &Held) -> String {
    let (new, all, sums) = (ledger.arrivals(held.generation), ledger.present(), ledger.sums());
    format!(
        "weight {:<4} {CANARY} has {:.1} % of {} new, {:.1} % of {} in all; {} flips, {} lost, {} errors",
        held.weight,
        new.percent(),
        new.of,
        all.percent(),
        all.of,
        sums.flips,
        sums.lost_carts,
        sums.errors
    )
}

fn introduce(stage: &Stage, screen: &mut Screen<'_>) -> Result<(), Error> {
    let (envoy, listen) = (&stage.envoy_version, stage.listen);
    let (program, folder) = (stage.tool.program.display(), stage.tool.folder.display());
    screen.line(&format!(
        "A shop that keeps its carts in memory, v1 and v2, two processes each, behind Envoy {envoy}.\n\
         The filter is in place, the weight is 0 %, and shoppers are coming.\n\n\
         In a browser: http://{listen}/\n\
         In a second terminal:\n  \
         alias canary-ctl={program}; cd {folder}\n  \
         canary-ctl weight 20 --wait    # a fifth of those who are new\n  \
         canary-ctl weight 50 --wait    # half of them; who is there stays where they are\n  \
         canary-ctl weight 0            # nobody new; sessions on v2 finish there\n  \
         canary-ctl status              # what is asked for, and what Envoy does\n  \
         canary-ctl token create --version v2 --url http://{listen}/    # a link for a tester\n\
         Ctrl-C ends everything.\n"
    ))
}
