//! Decides which version a user gets: everything that must be the same in the proxy and in the CLI.
//!
//! No I/O, no clock, no randomness: external input comes through [`decide::DecisionContext`]. The modules in the order
//! in which a request meets them:
//!
//! ```text
//! contract   the JSON that canary-ctl writes and the filter reads       bytes        -> FilterConfig
//! policy     the same, checked and prepared for look-up                 FilterConfig -> Policy
//! request    host, path, cookies and headers of a request               header pairs -> Request
//! seal       pins, minted ids and tokens: signed text                   text        <-> Seal
//! cohort_mark  what the edge says of a request besides its role         CohortMark   -> text or number
//! decide     the decision table, first row that fits                    Request      -> Decision
//! identity, bucket, weight   the algorithm itself                       key bytes    -> canary or not
//! position   line and column of a byte, for messages                    bytes        -> place
//! ```
//!
//! The algorithm in one line, and as a test (see `README.md` to re-implement it):
//!
//! ```
//! use assignment::{Identity, Salt, Weight};
//!
//! let identity = Identity::of_key(b"4b1d7c0e5f");
//! let bucket = Salt::new("shop/web/v2").bucket(identity);
//! assert!(bucket.is_canary_at(Weight::FULL));
//! assert!(!bucket.is_canary_at(Weight::ZERO));
//! ```

#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod bucket;
mod cohort_mark;
pub mod decide;
mod hmac;
pub mod identity;
pub mod policy;
mod position;
pub mod request;
pub mod seal;

pub use bucket::{BUCKETS, Bucket, Salt};
pub use cohort_mark::CohortMark;
pub use contract::{self, FilterConfig, Weight, weight};
pub use decide::{Decision, DecisionContext, Reason, decide};
pub use identity::Identity;
pub use policy::Policy;
pub use position::position_of;
pub use request::Request;

/// Runs the numbers of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
