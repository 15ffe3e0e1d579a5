//! What a shopper does, and when: load the page, fill a cart, perhaps log in, view the cart repeatedly, perhaps leave.

use crate::connections::ConnectionPool;
use crate::shopper::{Incident, Shopper};
use crate::stats::ShopperStats;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// What all shoppers share.
#[derive(Clone, Debug)]
pub(crate) struct ShopperContext {
    /// How they send requests.
    pub(crate) pool: Arc<ConnectionPool>,
    /// What they see.
    pub(crate) stats: Arc<ShopperStats>,
    /// Becomes true when the shop closes: every shopper views the cart once more.
    pub(crate) closing: watch::Receiver<bool>,
}

/// How long a shopper stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stay {
    /// Until the shop closes.
    UntilClose,
    /// For so many views of the cart, and then they log out.
    Views(u32),
}

/// Between two views of the cart.
const VIEW_INTERVAL: Duration = Duration::from_secs(5);

/// All that a shopper does, from the first request on.
pub(crate) async fn run_shopper(mut shopper: Shopper, stay: Stay, mut context: ShopperContext) {
    let round = context.stats.current_round();
    let incidents = shopper.load_page(&context.pool, "").await;
    context.stats.count_arrival(&shopper, round);
    context.stats.count_request(&shopper, incidents);
    for step in 0..4 {
        context.pause(jitter(shopper.number, step)).await;
        let incidents = first_request(&mut shopper, step, &context.pool).await;
        context.stats.count_request(&shopper, incidents);
    }
    browse(&mut shopper, stay, &mut context).await;
    if let Stay::Views(_) = stay {
        let incidents = shopper.log_out(&context.pool).await;
        context.stats.count_request(&shopper, incidents);
        context.stats.remove(&shopper);
    }
}

/// The first requests after the page: two items, a view of the cart, and every other shopper logs in.
async fn first_request(shopper: &mut Shopper, step: u32, pool: &ConnectionPool) -> Vec<Incident> {
    match step {
        0 | 3 => shopper.add_item(pool).await,
        1 if shopper.number.is_multiple_of(2) => shopper.log_in(pool).await,
        _ => shopper.view_cart(pool).await,
    }
}

/// Views the cart repeatedly, and once more when the shop closes.
async fn browse(shopper: &mut Shopper, stay: Stay, context: &mut ShopperContext) {
    let mut views = 0;
    loop {
        if stay == Stay::Views(views) {
            return;
        }
        context.pause(VIEW_INTERVAL + jitter(shopper.number, views)).await;
        let is_last = *context.closing.borrow();
        if is_last {
            // One after the other: a thousand at once would be a test of Envoy's circuit breakers.
            tokio::time::sleep(jitter(shopper.number, views) * 2).await;
        }
        let incidents = shopper.view_cart(&context.pool).await;
        context.stats.count_request(shopper, incidents);
        views += 1;
        if is_last {
            return;
        }
    }
}

impl ShopperContext {
    /// Waits, but no longer than until the shop closes.
    async fn pause(&mut self, time: Duration) {
        let closed = self.closing.wait_for(|is_closing| *is_closing);
        // In each case the pause is over; a sender that is dropped means closing too.
        let _over = tokio::time::timeout(time, closed).await;
    }
}

/// A quarter of a second to a second, different for each shopper and step, so that requests are spread over time.
fn jitter(number: u32, step: u32) -> Duration {
    Duration::from_millis(250 + u64::from(number.wrapping_mul(37).wrapping_add(step.wrapping_mul(211)) % 750))
}
