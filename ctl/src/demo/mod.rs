//! The whole tool on one machine: a real Envoy, a stateful shop in two versions, and shoppers who notice every flip.
//!
//! ```text
//! find      the programs that it needs                arguments            -> Programs
//! port      where it listens                          wanted               -> address
//! process   a child that ends when we do              program              -> Process
//! stage     pods, canary.yaml, Envoy                  Programs             -> Stage
//! tool      canary-ctl itself, as a user types it     arguments            -> its words
//! client    one request, one answer                   Errand               -> Answer
//! shopper   a user with a cookie jar, who compares each answer with what they know
//! life      what a shopper does, and when
//! crowd     many of them at once
//! stream    one long answer, open all the time
//! ledger    what they all saw
//! proxy     what Envoy says it did to connections and listeners
//! story     the weight goes up and down by itself     Stage                -> Told
//! turn      one weight of it
//! tester    somebody with a token
//! explained what explain says about one of them
//! checks    whether what was shown is true            Told                 -> lines
//! watch     until Ctrl-C, while somebody else changes the weight
//! screen    a line that changes, and lines that stay
//! ```

mod checks;
mod client;
mod crowd;
mod error;
mod explained;
mod find;
mod ledger;
mod life;
mod port;
mod process;
mod proxy;
mod round;
mod screen;
mod shopper;
mod stage;
mod story;
mod stream;
mod tester;
mod tool;
mod watch;

pub use error::Error;
pub use find::Programs;
pub use screen::Screen;
pub use stage::{Filter, Stage};
pub use story::tell;
pub use watch::watch;
