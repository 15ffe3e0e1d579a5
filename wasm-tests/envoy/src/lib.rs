//! A real Envoy as a child process: found, started, watched, queried, and ended with the test.

mod admin;
mod binary;
mod error;
mod ports;
mod process;
mod processor;

pub use admin::Admin;
pub use binary::{EnvoyBinary, each_tested, newest, oldest};
pub use canary_release::metrics::{Sample, parse_samples};
pub use error::EnvoyError;
pub use ports::free_ports;
pub use process::{Envoy, Options};
pub use processor::has_protection_keys;

use std::time::Duration;

/// Long enough for every worker to flush what our filter has counted, which it does once a second.
pub const COUNTED_WITHIN: Duration = Duration::from_millis(1_500);
