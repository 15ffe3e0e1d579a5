//! Waits until Envoy runs what was written, and notices where it refuses.

use super::{Admin, Error, Stats};
use std::time::{Duration, Instant};

/// A generation that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The generation that the workers report: the one waited for, or a later one.
    pub generation: u64,
    /// The time that it took.
    pub waited: Duration,
}

/// The polling interval. Each poll takes about a millisecond.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until the workers run at least this generation of a release.
///
/// `refusals` is the value of [`Stats::refusals`] before the write.
///
/// # Errors
///
/// If Envoy refuses the configuration, does not respond, or does not run it in time.
pub async fn wait_for_generation(
    admin: &Admin,
    release: &str,
    generation: u64,
    refusals: u64,
    timeout: Duration,
) -> Result<Arrival, Error> {
    let begun = Instant::now();
    let what = format!("generation {generation} of `{release}`");
    let seen = until(admin, &what, timeout, |stats| {
        let count = stats.refusals().saturating_sub(refusals);
        match stats.release(release).generation() {
            Some(found) if found >= generation => Ok(Some(found)),
            _ if count > 0 => Err(Error::Refused { what: "the configuration of the filter", count }),
            _ => Ok(None),
        }
    });
    Ok(Arrival { generation: seen.await?, waited: begun.elapsed() })
}

/// Polls until `look` returns something, fails, or the timeout ends.
pub(super) async fn until<T>(
    admin: &Admin,
    what: &str,
    timeout: Duration,
    look: impl Fn(&Stats) -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look(&admin.stats().await?)? {
            return Ok(found);
        }
        let waited = begun.elapsed();
        if waited >= timeout {
            return Err(Error::Late { what: what.to_owned(), waited });
        }
        tokio::time::sleep(PAUSE).await;
    }
}
