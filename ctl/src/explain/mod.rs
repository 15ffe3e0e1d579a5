//! Which version a request would get, and why, decided by the same code as in the proxy.
//!
//! ```text
//! shell, curl      a command as a browser's tools copy it  -> ExplainRequest
//! explain_request  a request, from arguments               -> header pairs as the filter sees them
//! context          arguments for what is not in a request  -> assignment::DecisionContext
//! explanation      policy × request                        -> version, row, bucket, from which weight on that changes
//! credentials      the filter's cookies in the request     -> whether each of them is valid
//! why, memory      a decision                              -> sentences
//! text             an explanation                          -> lines of text
//! ```

mod context;
mod credentials;
mod curl;
mod explain_request;
mod explanation;
#[cfg(test)]
mod explanation_tests;
mod shell;
mod text;
mod why;

pub use context::{Claim, ClaimError, ExplainContext};
pub use curl::CurlError;
pub use explain_request::{ExplainRequest, ExplainRequestError};
pub use explanation::{Chance, Explanation, explain};
