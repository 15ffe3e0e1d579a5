//! What all shoppers saw, counted while they shop.

use crate::environment::CANARY;
use crate::shopper::{Incident, Shopper};
use canary_release::stats::as_f64;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shoppers, and how many of them the canary serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) canary: u64,
    /// All of them.
    pub(crate) total: u64,
}

impl Share {
    /// In percent; 0 of none.
    pub(crate) fn percent(self) -> f64 {
        if self.total == 0 { 0.0 } else { 100.0 * as_f64(self.canary) / as_f64(self.total) }
    }
}

/// What was seen until now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// Shoppers with a first response.
    pub(crate) shoppers: u64,
    /// Requests, with and without a response.
    pub(crate) requests: u64,
    /// [`Incident::Flip`].
    pub(crate) flips: u64,
    /// [`Incident::LostCart`].
    pub(crate) lost_carts: u64,
    /// [`Incident::Error`].
    pub(crate) errors: u64,
    /// The first incidents, as sentences.
    pub(crate) incidents: Vec<String>,
}

/// As many incidents as a report shows.
const MAX_INCIDENTS: usize = 3;

/// A shopper who has not left.
#[derive(Clone, Debug)]
struct Present {
    version: String,
    cookies: String,
    /// The round in which they arrived.
    round: Option<u64>,
}

#[derive(Debug, Default)]
struct Inner {
    counters: Counters,
    /// The round in which arrivals are counted; `None` while a weight is not active yet.
    round: Option<u64>,
    arrivals: BTreeMap<u64, Share>,
    present: BTreeMap<u32, Present>,
}

/// The statistics that all shoppers share.
#[derive(Debug, Default)]
pub(crate) struct ShopperStats {
    inner: Mutex<Inner>,
}

impl ShopperStats {
    /// From now on arrivals belong to this round, or to none.
    pub(crate) fn set_round(&self, round: Option<u64>) {
        self.inner().round = round;
    }

    /// The round now; a shopper reads it before the first request.
    pub(crate) fn current_round(&self) -> Option<u64> {
        self.inner().round
    }

    /// Counts a shopper with a first response, in the round of the request where that is still the current one.
    pub(crate) fn count_arrival(&self, shopper: &Shopper, requested_in: Option<u64>) {
        let Some(version) = shopper.version() else { return };
        let mut inner = self.inner();
        let round = requested_in.filter(|round| Some(*round) == inner.round);
        if let Some(round) = round {
            let share = inner.arrivals.entry(round).or_default();
            share.total += 1;
            share.canary += u64::from(version == CANARY);
        }
        inner.counters.shoppers += 1;
        let present = Present { version: version.to_owned(), cookies: shopper.cookies(), round };
        inner.present.insert(shopper.number, present);
    }

    /// Counts a request and its incidents. The shopper's cookies may have changed.
    pub(crate) fn count_request(&self, shopper: &Shopper, incidents: Vec<Incident>) {
        let mut inner = self.inner();
        inner.counters.requests += 1;
        if let Some(present) = inner.present.get_mut(&shopper.number) {
            present.cookies = shopper.cookies();
            shopper.version().unwrap_or_default().clone_into(&mut present.version);
        }
        for incident in incidents {
            let (count, text) = match incident {
                Incident::Flip(text) => (&mut inner.counters.flips, text),
                Incident::LostCart(text) => (&mut inner.counters.lost_carts, text),
                Incident::Error(text) => (&mut inner.counters.errors, text),
            };
            *count += 1;
            if inner.counters.incidents.len() < MAX_INCIDENTS {
                inner.counters.incidents.push(text);
            }
        }
    }

    /// A shopper has left.
    pub(crate) fn remove(&self, shopper: &Shopper) {
        self.inner().present.remove(&shopper.number);
    }

    /// The shoppers who arrived in a round.
    pub(crate) fn arrivals(&self, round: u64) -> Share {
        self.inner().arrivals.get(&round).copied().unwrap_or_default()
    }

    /// The shoppers who have not left.
    pub(crate) fn present(&self) -> Share {
        let inner = self.inner();
        let canary = inner.present.values().filter(|present| present.version == CANARY).count();
        Share { canary: canary as u64, total: inner.present.len() as u64 }
    }

    /// The cookies of the shoppers who arrived in a round, have not left, and are on the canary.
    pub(crate) fn canary_cookies_of(&self, round: u64) -> Vec<String> {
        let inner = self.inner();
        let matching = inner
            .present
            .values()
            .filter(|shopper| shopper.round == Some(round) && shopper.version == CANARY);
        matching.map(|shopper| shopper.cookies.clone()).collect()
    }

    /// Everything until now.
    pub(crate) fn counters(&self) -> Counters {
        self.inner().counters.clone()
    }

    /// Every change is one call, so a panic elsewhere leaves no half of one.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
