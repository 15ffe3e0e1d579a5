//! What the kernel says of this lab's istiod: processor time and memory.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Ticks of `/proc/PID/stat` in a second, on every Linux.
const TICKS: f64 = 100.0;

/// At one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Of its processors, in seconds since it started.
    pub(crate) seconds: f64,
    /// Resident, in bytes.
    pub(crate) memory: f64,
}

impl Usage {
    /// Now.
    pub(crate) fn read() -> io::Result<Self> {
        let missing = || io::Error::other("expected a process `pilot-discovery` of this lab, found none");
        let folder = processes()?.find(|folder| is_istiod(folder)).ok_or_else(missing)?;
        let [user, system] = [11, 12].map(|field| after_name::<f64>(&folder, field));
        let status = std::fs::read_to_string(folder.join("status"))?;
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse().ok());
        let (user, system) = user.zip(system).ok_or_else(missing)?;
        Ok(Self {
            seconds: (user + system) / TICKS,
            memory: resident.map_or(0.0, |kilobytes: f64| kilobytes * 1024.0),
        })
    }
}

fn processes() -> io::Result<impl Iterator<Item = PathBuf>> {
    let entries = std::fs::read_dir("/proc")?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| path.join("stat").exists()))
}

/// Whether it is an istiod that this process has started: another lab may run beside this one.
fn is_istiod(folder: &Path) -> bool {
    let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
    let mut ancestor = Some(folder.to_owned());
    name.trim() == "pilot-discovery"
        && std::iter::from_fn(|| {
            let parent: u32 = after_name(ancestor.as_ref()?, 1)?;
            ancestor = (parent > 1).then(|| format!("/proc/{parent}").into());
            Some(parent)
        })
        .any(|parent| parent == std::process::id())
}

/// A field of `/proc/PID/stat`, counted behind the name, which may contain blanks.
fn after_name<T: FromStr>(folder: &Path, field: usize) -> Option<T> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(field)?.parse().ok()
}
