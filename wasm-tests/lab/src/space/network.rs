//! A network namespace, kept by an open file: the kernel deletes it when no process has it open and none runs in it.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};

use nix::sched::{CloneFlags, setns, unshare};

use super::thread::on_thread;

/// A network of its own, with nothing but a loopback device; or the machine's.
#[derive(Debug)]
pub(crate) struct Network(Option<File>);

impl Network {
    /// A new one.
    pub(crate) fn create() -> io::Result<Self> {
        let network = on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        })??;
        let network = Self(Some(network));
        network.ip("link set lo up\n")?;
        Ok(network)
    }

    /// The one that every process of the machine is in.
    pub(crate) const fn of_the_machine() -> Self {
        Self(None)
    }

    /// Moves the calling thread into it, and with it what the thread starts.
    pub(crate) fn enter(&self) -> io::Result<()> {
        match &self.0 {
            Some(namespace) => Ok(setns(namespace, CloneFlags::CLONE_NEWNET)?),
            None => Ok(()),
        }
    }

    /// Runs these lines by `ip -batch` in it.
    pub(super) fn ip(&self, batch: &str) -> io::Result<()> {
        on_thread(|| {
            self.enter()?;
            run("ip", &["-batch", "-"], batch)
        })?
    }

    /// Writes settings below `/proc/sys`, where those of the network are the calling thread's.
    pub(crate) fn set(&self, settings: &[(&str, &str)]) -> io::Result<()> {
        on_thread(|| {
            self.enter()?;
            settings.iter().try_for_each(|(name, value)| {
                let path = format!("/proc/sys/{}", name.replace('.', "/"));
                std::fs::write(&path, value)
                    .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
            })
        })?
    }

    /// The file that `ip` finds it by, as long as this process holds it open.
    pub(super) fn path(&self) -> String {
        let process = std::process::id();
        self.0.as_ref().map_or_else(
            || format!("/proc/{process}/ns/net"),
            |namespace| format!("/proc/{process}/fd/{}", namespace.as_raw_fd()),
        )
    }
}

/// Runs a program with this input; its output is the error when it fails.
fn run(program: &str, arguments: &[&str], input: &str) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{program} {}: {}; its input:\n{input}", arguments.join(" "), said.trim())))
}
