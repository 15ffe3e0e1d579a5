//! Asks the running system whether it keeps what the release promises.
//!
//! ```text
//! expected    what the release promises
//! client      requests over HTTP/1.1, with and without TLS     answer   status, version, cookies
//! jar         a browser's cookies
//! population  many users with a jar each                       -> User
//! forge       cookies and headers that nobody should believe
//! checks      users, forgeries                                 -> a verdict each
//! report      verdicts                                         -> what people and programs read
//! ```

mod answer;
mod checks;
mod client;
mod expected;
mod forge;
mod jar;
mod population;
mod report;

pub use answer::{Teller, TellerError};
pub use checks::{Check, Verdict};
pub use client::{Client, ClientError};
pub use expected::Expected;
pub use population::Size;
pub use report::Report;

use checks::Scene;
use std::sync::Arc;
use url::Url;

/// Lets users come, then tries to deceive. `done` hears of each user who has left.
///
/// `url` decides which cookies a browser would keep; the client may connect elsewhere.
///
/// Fails where a request gets no answer at all.
pub async fn verify(
    client: Client,
    url: &Url,
    expected: &Expected,
    size: Size,
    done: impl Fn() + Clone + Send + 'static,
) -> Result<Report, ClientError> {
    let client = Arc::new(client);
    let users = population::visit_all(&client, url, size, done).await?;
    let scene = Scene { client: &client, expected, users: &users };
    let checks = checks::all(&scene).await?;
    Ok(Report::new(url, expected, size, &users, checks))
}
