//! A further command in a running container, for probes and hooks.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

use nix::sched::{CloneFlags, setns, unshare};

use super::network::Network;
use super::process::Process;
use super::processes::Processes;
use super::thread::on_thread;

/// Runs this command in the namespaces of `beside`. Returns whether it ended with 0. Its output is discarded.
pub(crate) fn exec(
    processes: &Processes,
    network: &Network,
    beside: &Process,
    mut command: Command,
) -> io::Result<bool> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mounts = File::open(format!("/proc/{}/ns/mnt", beside.id()))?;
    let mut child = on_thread(|| {
        network.enter()?;
        processes.enter()?;
        // Threads share mounts until they unshare them.
        unshare(CloneFlags::CLONE_FS)?;
        setns(&mounts, CloneFlags::CLONE_NEWNS)?;
        command.spawn()
    })??;
    Ok(child.wait()?.success())
}
