//! A limit of the kernel that many pods on one machine meet.

use std::fs;
use std::io;

/// How many watchers of files one user may have. Each agent of Istio is a few, and all agents are one user.
const WATCHERS: &str = "/proc/sys/fs/inotify/max_user_instances";
/// Enough for a hundred agents. The kernel's default, 128, was met by the tests' forty; clusters' nodes raise it as well.
const ENOUGH: u32 = 1024;

/// Raises the limit where it is lower. It is the machine's and stays so until that is restarted.
pub(crate) fn allow_watchers() -> io::Result<()> {
    let allowed = fs::read_to_string(WATCHERS)?;
    if allowed.trim().parse().is_ok_and(|allowed: u32| allowed >= ENOUGH) {
        return Ok(());
    }
    fs::write(WATCHERS, ENOUGH.to_string())
}
