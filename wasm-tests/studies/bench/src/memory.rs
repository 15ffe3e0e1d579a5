//! What ten thousand releases take of Envoy's memory.

use crate::bed::{Bed, Placement};
use crate::config::{HOST, Releases};
use crate::contender::{MANY, PINNED, pinned};
use crate::error::BenchError;
use crate::{cpu, say};
use assignment::contract::Stickiness;
use canary_ctl::local::{Admin, ecds, replace, wait_for_generation};
use std::path::Path;
use std::time::Duration;

/// How often the configuration is replaced before memory is read again: what leaks or fragments shows by then.
const UPDATES: u32 = 5;

/// Reading ten thousand releases takes a busy machine seconds.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Resident memory of an Envoy, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// One release, one worker.
    pub(crate) one: u64,
    /// Ten thousand releases, one worker.
    pub(crate) many: u64,
    /// Ten thousand releases, one worker, after [`UPDATES`] weights.
    pub(crate) many_updated: u64,
    /// One release, two workers.
    pub(crate) one_two_workers: u64,
    /// Ten thousand releases, two workers.
    pub(crate) many_two_workers: u64,
    /// Length of the configuration of ten thousand releases, bytes of JSON.
    pub(crate) json: u64,
}

impl Memory {
    /// What the releases take where one worker runs: the VMs of worker, main thread and configuration check, and the text.
    pub(crate) const fn for_releases(&self) -> u64 {
        self.many.saturating_sub(self.one)
    }

    /// What they take for each further worker.
    pub(crate) const fn for_each_worker(&self) -> u64 {
        self.many_two_workers.saturating_sub(self.one_two_workers).saturating_sub(self.for_releases())
    }
}

/// Starts four Envoys, one after the other.
pub(crate) async fn measure(module: &Path) -> Result<Memory, BenchError> {
    say("memory");
    let (few, mut many) =
        (Releases::new(Stickiness::Session, HOST, 1)?, Releases::new(Stickiness::Session, HOST, MANY)?);
    let json = many.config.to_json().map_err(canary_release::config::Error::from)?.len() as u64;
    let one = cpu::resident_bytes(start(module, &few, 1).await?.pid())?;
    let one_two_workers = cpu::resident_bytes(start(module, &few, 2).await?.pid())?;
    let many_two_workers = cpu::resident_bytes(start(module, &many, 2).await?.pid())?;
    let bed = start(module, &many, 1).await?;
    let fresh = cpu::resident_bytes(bed.pid())?;
    for _ in 0..UPDATES {
        many.next();
        replace(&bed.layout.ecds(), &ecds(&many.config, module, &many.generation().to_string())?)?;
        wait(&bed, many.generation()).await?;
    }
    let many_updated = cpu::resident_bytes(bed.pid())?;
    Ok(Memory { one, many: fresh, many_updated, one_two_workers, many_two_workers, json })
}

async fn start(module: &Path, releases: &Releases, workers: u32) -> Result<Bed, BenchError> {
    let bed = Bed::start(
        &pinned(PINNED, module, releases)?,
        None,
        Placement { core: None, workers, is_counted: false },
    )
    .await?;
    wait(&bed, releases.generation()).await?;
    Ok(bed)
}

/// Waits until a worker runs this generation; answers how long that took.
pub(crate) async fn wait(bed: &Bed, generation: u64) -> Result<Duration, BenchError> {
    let admin = Admin::new(bed.admin);
    let arrival = wait_for_generation(&admin, crate::config::RELEASE, generation, 0, TIMEOUT).await?;
    Ok(arrival.waited)
}
