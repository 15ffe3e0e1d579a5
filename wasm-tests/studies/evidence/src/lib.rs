//! Simulated rollouts: how often a test of the canary is wrong when both versions are equally good, and how soon it is
//! right when the canary is worse.
//!
//! ```text
//! users       sessions that come, send requests and go          seed            -> VersionCounts of an interval
//! detectors   the test of `canary_release::evidence`, and others that operators use
//! rollouts    many rollouts, each seen by every detector        scenario        -> Alarms
//! tables      the scenarios of the page
//! plot        shares over time                                  Alarms          -> SVG
//! whole       rollouts by the whole driver, of another generator             -> Markdown
//! page        docs/evidence.md                                  tables          -> Markdown
//! ```

pub mod detectors;
pub mod page;
pub mod plot;
pub mod rollouts;
pub mod tables;
pub mod users;
pub mod whole;
