//! What all shoppers saw, counted while they shop.

use super::shopper::{Incident, Shopper};
use super::stage::CANARY;
use crate::simulate::share::as_f64;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shoppers, and how many of them the canary serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) canary: u64,
    pub(super) of: u64,
}

impl Share {
    /// In percent; 0 of none.
    pub(super) fn percent(self) -> f64 {
        if self.of == 0 { 0.0 } else { 100.0 * as_f64(self.canary) / as_f64(self.of) }
    }
}

/// What was seen until now.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) shoppers: u64,
    pub(super) requests: u64,
    pub(super) flips: u64,
    pub(super) lost_carts: u64,
    pub(super) errors: u64,
    /// The first incidents, as sentences.
    pub(super) incidents: Vec<String>,
}

/// As many incidents as a report shows.
const KEPT: usize = 3;

#[derive(Debug, Default)]
struct Book {
    sums: Sums,
    /// The weight's turn in which who arrives is counted; `None` while a weight is on its way.
    turn: Option<u64>,
    arrivals: BTreeMap<u64, Share>,
    /// The version that serves each shopper who is there, and their cookies.
    present: BTreeMap<u32, Present>,
}

/// A shopper who is there.
#[derive(Clone, Debug)]
pub(super) struct Present {
    pub(super) version: String,
    pub(super) cookies: String,
    /// The turn in which they came.
    pub(super) turn: Option<u64>,
}

/// The book that all write into.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    book: Mutex<Book>,
}

impl Ledger {
    /// From now on arrivals belong to this turn, or to none.
    pub(super) fn turn_to(&self, turn: Option<u64>) {
        self.book().turn = turn;
    }

    /// The turn now; a shopper asks before their first request.
    pub(super) fn round(&self) -> Option<u64> {
        self.book().turn
    }

    /// A shopper has their first answer. It counts where the turn is still the one in which they asked.
    pub(super) fn arrived(&self, shopper: &Shopper, asked_in: Option<u64>) {
        let Some(version) = shopper.version() else { return };
        let mut book = self.book();
        let turn = asked_in.filter(|turn| Some(*turn) == book.turn);
        if let Some(turn) = turn {
            let share = book.arrivals.entry(turn).or_default();
            share.of += 1;
            share.canary += u64::from(version == CANARY);
        }
        book.sums.shoppers += 1;
        let present = Present { version: version.to_owned(), cookies: shopper.cookies(), turn };
        book.present.insert(shopper.number, present);
    }

    /// A shopper has made a request. Their cookies may be others now.
    pub(super) fn note(&self, shopper: &Shopper, incidents: Vec<Incident>) {
        let mut book = self.book();
        book.sums.requests += 1;
        if let Some(present) = book.present.get_mut(&shopper.number) {
            present.cookies = shopper.cookies();
            shopper.version().unwrap_or_default().clone_into(&mut present.version);
        }
        for incident in incidents {
            let (count, what) = match incident {
                Incident::Flip(what) => (&mut book.sums.flips, what),
                Incident::LostCart(what) => (&mut book.sums.lost_carts, what),
                Incident::Error(what) => (&mut book.sums.errors, what),
            };
            *count += 1;
            if book.sums.incidents.len() < KEPT {
                book.sums.incidents.push(what);
            }
        }
    }

    /// A shopper has left.
    pub(super) fn left(&self, shopper: &Shopper) {
        self.book().present.remove(&shopper.number);
    }

    /// Who came in a turn.
    pub(super) fn arrivals(&self, turn: u64) -> Share {
        self.book().arrivals.get(&turn).copied().unwrap_or_default()
    }

    /// Who is there.
    pub(super) fn present(&self) -> Share {
        let book = self.book();
        let canary = book.present.values().filter(|present| present.version == CANARY).count();
        Share { canary: canary as u64, of: book.present.len() as u64 }
    }

    /// The cookies of those who came in a turn, are still there, and are on the canary.
    pub(super) fn on_canary_since(&self, turn: u64) -> Vec<String> {
        let book = self.book();
        let matching = book.present.values().filter(|at| at.turn == Some(turn) && at.version == CANARY);
        matching.map(|present| present.cookies.clone()).collect()
    }

    /// Everything until now.
    pub(super) fn sums(&self) -> Sums {
        self.book().sums.clone()
    }

    /// Every change is one call, so a panic elsewhere leaves nothing half written.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
