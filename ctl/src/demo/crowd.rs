//! Many shoppers at once: they are let in one after the other, and all gather when the shop closes.

use super::Error;
use super::client::Client;
use super::ledger::Ledger;
use super::life::{Stay, World, live};
use super::shopper::Shopper;
use super::stage::{HOST, Stage};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

/// The shoppers, while the shop is open. Dropping it sends everybody home at once.
#[derive(Debug)]
pub(super) struct Crowd {
    world: World,
    closing: watch::Sender<bool>,
    shoppers: JoinSet<()>,
    next: u32,
    url: Url,
}

/// How long the last arrivals may take.
const PATIENCE: Duration = Duration::from_secs(10);

impl Crowd {
    /// Nobody yet. Fails never, but for an address that is no URL.
    pub(super) fn new(stage: &Stage) -> Result<Self, Error> {
        let (closing, open) = watch::channel(false);
        let url = format!("http://{HOST}:{}/", stage.listen.port());
        let url = url.parse().map_err(|error| {
            Error::Make("the shop's address", std::io::Error::new(std::io::ErrorKind::InvalidInput, error))
        })?;
        let world =
            World { client: Client::new(stage.listen), ledger: Arc::new(Ledger::default()), closing: open };
        Ok(Self { world, closing, shoppers: JoinSet::new(), next: 0, url })
    }

    /// What they see.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.world.ledger
    }

    /// The same, to look at while the crowd is busy.
    pub(super) fn book(&self) -> Arc<Ledger> {
        Arc::clone(&self.world.ledger)
    }

    /// How they ask.
    pub(super) fn client(&self) -> &Client {
        &self.world.client
    }

    /// Somebody who does nothing by themselves.
    pub(super) fn stranger(&mut self) -> Shopper {
        self.next += 1;
        Shopper::new(self.next, self.url.clone())
    }

    /// Lets one in.
    pub(super) fn admit(&mut self, stay: Stay) {
        let shopper = self.stranger();
        self.shoppers.spawn(live(shopper, stay, self.world.clone()));
    }

    /// Lets so many in, evenly over a time, and waits until each has a first answer. `stay` says by turn how long.
    pub(super) async fn admit_over(
        &mut self,
        count: u32,
        time: Duration,
        stay: impl Fn(u32) -> Stay,
    ) -> Result<(), Error> {
        let expected = self.ledger().sums().shoppers + u64::from(count);
        let begun = tokio::time::Instant::now();
        for turn in 0..count {
            tokio::time::sleep_until(begun + time * turn / count).await;
            self.admit(stay(turn));
        }
        let waiting = Instant::now();
        loop {
            let sums = self.ledger().sums();
            // Who got no answer is in the ledger as an error, and is not waited for.
            if sums.shoppers + sums.errors >= expected {
                return Ok(());
            }
            if waiting.elapsed() > PATIENCE {
                return Err(Error::Late { waited: waiting.elapsed(), expected, found: sums.shoppers });
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Closes the shop: everybody looks at their cart once more, and goes.
    pub(super) async fn gather(&mut self) {
        // Nobody listens where nobody is there.
        let _heard = self.closing.send(true);
        while self.shoppers.join_next().await.is_some() {}
    }

    /// Forgets those who have gone.
    pub(super) fn tidy(&mut self) {
        while self.shoppers.try_join_next().is_some() {}
    }
}
