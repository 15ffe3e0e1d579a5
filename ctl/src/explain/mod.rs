//! Which version a request would get, and why, by the very code that runs in the proxy.
//!
//! ```text
//! shell, curl   a command as a browser's tools copy it  -> Asked
//! asked         a request, from arguments               -> header pairs as the filter sees them
//! world         arguments for what is not in a request  -> assignment::Environment
//! explanation   policy × request                        -> version, row, bucket, from which weight on that changes
//! carried       cookies of ours in the request          -> what each of them is worth
//! why, memory   a decision                              -> sentences
//! text          an explanation                          -> lines for people
//! ```

mod asked;
mod carried;
mod curl;
mod explanation;
#[cfg(test)]
mod explanation_tests;
mod memory;
mod shell;
mod text;
mod why;
mod world;

pub use asked::{Asked, AskedError};
pub use curl::CurlError;
pub use explanation::{Chance, Explanation, explain};
pub use world::{Claim, ClaimError, World};
