//! How long a configuration blocks the requests of the worker that receives it, and when it is active.

use crate::bed::{Bed, Placement};
use crate::config::{HOST, Releases};
use crate::contender::{MANY, PINNED, pinned};
use crate::error::BenchError;
use crate::memory::wait;
use crate::request::{Headers, single};
use crate::say;
use crate::summary::{Summary, percentile_99};
use assignment::contract::Stickiness;
use browser::{ClientError, Connection};
use canary_ctl::local::{ecds, replace};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Configurations that are measured.
const COUNTS: [usize; 3] = [1, 100, MANY];

const UPDATES: usize = 7;

/// Between two probes; a pause is known to this and a probe's own time.
const EVERY: Duration = Duration::from_millis(1);

/// An update's effects are over after this time.
const WINDOW: Duration = Duration::from_millis(2_500);

/// What a steady stream of requests saw of updates. Milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    /// Releases in the configuration.
    pub(crate) releases: usize,
    /// 99 of 100 requests without any update took no longer.
    pub(crate) quiet_99: f64,
    /// The longest without any update.
    pub(crate) quiet_max: f64,
    /// The longest request of each update.
    pub(crate) pause: Summary,
    /// 99 of 100 requests within the window of an update took no longer.
    pub(crate) window_99: f64,
    /// From the file's rename until a worker reported the new generation.
    pub(crate) active: Summary,
}

/// A request: when it was sent and how long it took.
type Probe = (Instant, Duration);

/// For one release and for many.
pub(crate) async fn measure(module: &Path) -> Result<Vec<Update>, BenchError> {
    let mut updates = Vec::new();
    for count in COUNTS {
        say(&format!("updates of {count} releases"));
        updates.push(of(module, count).await?);
    }
    Ok(updates)
}

async fn of(module: &Path, count: usize) -> Result<Update, BenchError> {
    let mut releases = Releases::new(Stickiness::Session, HOST, count)?;
    let placement = Placement { core: None, workers: 1, is_counted: false };
    let bed = Bed::start(&pinned(PINNED, module, &releases)?, None, placement).await?;
    wait(&bed, releases.generation()).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let probes = tokio::spawn(probe(bed.address, bed.headers.clone(), Arc::clone(&stop)));
    tokio::time::sleep(WINDOW).await;
    let begun = Instant::now();
    let mut pushed = Vec::new();
    for _ in 0..UPDATES {
        push(&bed, module, &mut releases)?;
        pushed.push(Instant::now());
        // Nothing is asked meanwhile: ten thousand statistics would be a load of their own.
        tokio::time::sleep(WINDOW).await;
    }
    stop.store(true, Ordering::Relaxed);
    let probes = probes.await.map_err(|_| BenchError::NoFigures("updates"))??;
    let mut active = Vec::new();
    for _ in 0..UPDATES {
        let generation = push(&bed, module, &mut releases)?;
        active.push(milliseconds(wait(&bed, generation).await?));
    }
    summarise(count, &probes, begun, &pushed, active).ok_or(BenchError::NoFigures("updates"))
}

/// Replaces the configuration; answers its generation.
fn push(bed: &Bed, module: &Path, releases: &mut Releases) -> Result<u64, BenchError> {
    releases.next();
    let generation = releases.generation();
    replace(&bed.layout.ecds(), &ecds(&releases.config, module, &generation.to_string())?)?;
    Ok(generation)
}

/// Sends one request after the other on one connection until it is stopped.
async fn probe(
    address: SocketAddr,
    headers: Headers,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Probe>, ClientError> {
    let mut connection = Connection::http1(address);
    let mut probes = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let sent = Instant::now();
        connection.send(single(&headers)?).await?;
        probes.push((sent, sent.elapsed()));
        tokio::time::sleep(EVERY).await;
    }
    Ok(probes)
}

fn summarise(
    releases: usize,
    probes: &[Probe],
    begun: Instant,
    pushed: &[Instant],
    active: Vec<f64>,
) -> Option<Update> {
    let (quiet, during): (Vec<Probe>, Vec<Probe>) = probes.iter().partition(|(sent, _)| *sent < begun);
    let all = |probes: &[Probe]| -> Vec<f64> { probes.iter().map(|(_, took)| milliseconds(*took)).collect() };
    // A request that an update blocks was sent shortly before the rename was noticed, or after.
    let longest = |at: &Instant| {
        let within = during.iter().filter(|(sent, took)| *sent + *took >= *at && *sent < *at + WINDOW);
        within.map(|(_, took)| milliseconds(*took)).fold(0.0, f64::max)
    };
    Some(Update {
        releases,
        quiet_99: percentile_99(all(&quiet))?,
        quiet_max: Summary::of(all(&quiet))?.max,
        pause: Summary::of(pushed.iter().map(longest))?,
        window_99: percentile_99(all(&during))?,
        active: Summary::of(active)?,
    })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
