//! The programs that the tests run: where the built files are, and child processes whose logs are kept.

pub mod artifact;
pub mod child;
