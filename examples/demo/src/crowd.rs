//! Many shoppers at the same time: they arrive one after the other, and all view their carts when the shop closes.

use crate::behaviour::{ShopperContext, Stay, run_shopper};
use crate::connections::ConnectionPool;
use crate::environment::DemoEnv;
use crate::error::Error;
use crate::shopper::Shopper;
use crate::stats::ShopperStats;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The shoppers, while the shop is open. Dropping it ends them at once.
#[derive(Debug)]
pub(crate) struct Crowd {
    context: ShopperContext,
    closing: watch::Sender<bool>,
    shoppers: JoinSet<()>,
    last_number: u32,
    shop: SocketAddr,
}

/// How long the last arrivals may take.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Crowd {
    pub(crate) fn new(env: &DemoEnv) -> Self {
        let (closing, receiver) = watch::channel(false);
        let context = ShopperContext {
            pool: Arc::new(ConnectionPool::new(env.listen)),
            stats: Arc::new(ShopperStats::default()),
            closing: receiver,
        };
        Self { context, closing, shoppers: JoinSet::new(), last_number: 0, shop: env.listen }
    }

    /// What they see.
    pub(crate) fn stats(&self) -> &ShopperStats {
        &self.context.stats
    }

    /// The same, to read while the crowd is borrowed.
    pub(crate) fn shared_stats(&self) -> Arc<ShopperStats> {
        Arc::clone(&self.context.stats)
    }

    /// How they send requests.
    pub(crate) fn pool(&self) -> &ConnectionPool {
        &self.context.pool
    }

    /// A shopper who does nothing by themselves.
    pub(crate) fn new_shopper(&mut self) -> Shopper {
        self.last_number += 1;
        Shopper::new(self.last_number, self.shop)
    }

    /// Adds a shopper.
    pub(crate) fn admit(&mut self, stay: Stay) {
        let shopper = self.new_shopper();
        self.shoppers.spawn(run_shopper(shopper, stay, self.context.clone()));
    }

    /// Adds so many, evenly over a time, and waits until each has a first response. `stay` gives how long by index.
    pub(crate) async fn admit_over(
        &mut self,
        count: u32,
        time: Duration,
        stay: impl Fn(u32) -> Stay,
    ) -> Result<(), Error> {
        let expected = self.stats().counters().shoppers + u64::from(count);
        let started = tokio::time::Instant::now();
        for index in 0..count {
            tokio::time::sleep_until(started + time * index / count).await;
            self.admit(stay(index));
        }
        let waiting = Instant::now();
        loop {
            let counters = self.stats().counters();
            // A shopper without a response is counted as an error, and is not waited for.
            if counters.shoppers + counters.errors >= expected {
                return Ok(());
            }
            if waiting.elapsed() > TIMEOUT {
                return Err(Error::Late { waited: waiting.elapsed(), expected, found: counters.shoppers });
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Closes the shop: every shopper views the cart once more, and ends.
    pub(crate) async fn close(&mut self) {
        self.closing.send_replace(true);
        while self.shoppers.join_next().await.is_some() {}
    }

    /// Forgets the shoppers who have left.
    pub(crate) fn reap(&mut self) {
        while self.shoppers.try_join_next().is_some() {}
    }
}
