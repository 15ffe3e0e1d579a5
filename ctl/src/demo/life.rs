//! What a shopper does, and when: arrive, fill a cart, perhaps log in, look at it again and again, perhaps leave.

use super::client::Client;
use super::ledger::Ledger;
use super::shopper::{Incident, Shopper};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// What all shoppers share.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) client: Client,
    pub(super) ledger: Arc<Ledger>,
    /// Turns true when the shop closes: everybody looks at the cart once more.
    pub(super) closing: watch::Receiver<bool>,
}

/// How long somebody stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    /// Until the shop closes.
    ToTheEnd,
    /// For so many looks, and then they log out.
    Looks(u32),
}

/// Between two looks at the cart.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A whole life, from the first request on.
pub(super) async fn live(mut shopper: Shopper, stay: Stay, mut world: World) {
    let asked_in = world.ledger.round();
    let incidents = shopper.arrive(&world.client, "").await;
    world.ledger.arrived(&shopper, asked_in);
    world.ledger.note(&shopper, incidents);
    for step in 0..4 {
        world.pause(moment(shopper.number, step)).await;
        let incidents = opening(&mut shopper, step, &world.client).await;
        world.ledger.note(&shopper, incidents);
    }
    browse(&mut shopper, stay, &mut world).await;
    if let Stay::Looks(_) = stay {
        let incidents = shopper.leave(&world.client).await;
        world.ledger.note(&shopper, incidents);
        world.ledger.left(&shopper);
    }
}

/// The first things after the page: two goods, a look, and every other shopper logs in.
async fn opening(shopper: &mut Shopper, step: u32, client: &Client) -> Vec<Incident> {
    match step {
        0 | 3 => shopper.buy(client).await,
        1 if shopper.number.is_multiple_of(2) => shopper.log_in(client).await,
        _ => shopper.look(client).await,
    }
}

/// Looks at the cart, again and again, and once more when the shop closes.
async fn browse(shopper: &mut Shopper, stay: Stay, world: &mut World) {
    let mut looks = 0;
    loop {
        if stay == Stay::Looks(looks) {
            return;
        }
        world.pause(LOOK_EVERY + moment(shopper.number, looks)).await;
        let is_last = *world.closing.borrow();
        if is_last {
            // One after the other: a thousand at once would be a test of Envoy's circuit breakers.
            tokio::time::sleep(moment(shopper.number, looks) * 2).await;
        }
        let incidents = shopper.look(&world.client).await;
        world.ledger.note(shopper, incidents);
        looks += 1;
        if is_last {
            return;
        }
    }
}

impl World {
    /// Waits, or not any longer when the shop closes.
    async fn pause(&mut self, time: Duration) {
        let closed = self.closing.wait_for(|is_closing| *is_closing);
        // Either way the pause is over; a sender that is gone means closing too.
        let _over = tokio::time::timeout(time, closed).await;
    }
}

/// A quarter to a whole second, another for each shopper and step, so that the crowd does not move in step.
fn moment(number: u32, step: u32) -> Duration {
    Duration::from_millis(250 + u64::from(number.wrapping_mul(37).wrapping_add(step.wrapping_mul(211)) % 750))
}
