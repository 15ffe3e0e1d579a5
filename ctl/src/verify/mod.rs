//! Verifies that the running system behaves as the release specifies.
//!
//! ```text
//! expected    the specified behaviour
//! client      requests over HTTP/1.1, with and without TLS     answer   status, version, cookies
//! jar         a browser's cookies
//! population  many users with a jar each                       -> User
//! forge       forged cookies and headers                       -> the one list, for the tests too
//! checks      users, forgeries                                 -> a verdict each
//! report      verdicts                                         -> text, JSON or YAML
//! ```

mod checks;
mod client;
mod expected;
mod forge;
mod jar;
mod population;
mod report;
mod response;

pub use checks::{Check, Verdict};
pub use client::{Client, ClientError};
pub use expected::Expected;
pub use forge::{Carrier, Forgery, GenuineCookies, forgeries};
pub use population::Size;
pub use report::VerifyReport;
pub use response::{VersionSource, VersionSourceError};

use checks::CheckContext;
use std::sync::Arc;
use url::Url;

/// Runs simulated users, then sends forgeries. `done` is called after each user.
///
/// `url` decides which cookies a browser would keep; the client may connect elsewhere.
///
/// # Errors
///
/// If a request gets no response.
pub async fn verify(
    client: Client,
    url: &Url,
    expected: &Expected,
    size: Size,
    done: impl Fn() + Clone + Send + 'static,
) -> Result<VerifyReport, ClientError> {
    let client = Arc::new(client);
    let users = population::visit_all(&client, url, size, done).await?;
    let context = CheckContext { client: &client, expected, users: &users };
    let checks = checks::all(&context).await?;
    Ok(VerifyReport::new(url, expected, size, &users, checks))
}
