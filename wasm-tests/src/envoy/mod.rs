//! A real Envoy as a child process: found, started, watched, asked, and gone when the test is.

mod admin;
mod binary;
mod error;
mod ports;
mod process;
mod processor;
mod samples;

pub use admin::Admin;
pub use binary::{EnvoyBinary, MINORS, minors, newest};
pub use error::EnvoyError;
pub use ports::free_ports;
pub use process::{Envoy, Options};
pub use processor::has_protection_keys;
pub use samples::{COUNTED_WITHIN, Sample, parse_samples};
