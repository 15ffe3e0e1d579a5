//! Where the filter stands in a gateway's chain, and that authentication and authorization hold whatever it decides.
//!
//! ```text
//! chain     the filters of the gateway, as its Envoy lists them
//! jwt       JSON Web Tokens, genuine and not
//! policies  what Istio is asked to check
//! order     the tests
//! ```

mod chain;
mod jwt;
mod order;
pub(crate) mod policies;
