//! A program in the lab, with its log in a file.

use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::sync::watch;

use super::network::Network;
use super::processes::Processes;
use super::root::Root;
use super::thread::on_thread;

/// How much of a log an error shows, in lines.
const LOG_TAIL: usize = 30;

/// How a program ended: its exit code, or as shells have it 128 and the number of the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) i32);

/// A running program, and all that it started and that stayed in its group. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Process {
    group: Pid,
    ended: watch::Receiver<Option<Ended>>,
    log: PathBuf,
    /// Its end is the end of a process of the machine.
    #[cfg_attr(not(test), expect(dead_code, reason = "its end is what counts"))]
    pipe: Option<ChildStdin>,
}

impl Process {
    /// Starts this command in these namespaces; what it prints is appended to `log`.
    ///
    /// `root` is what it sees instead of parts of the machine's file system; without one it sees the machine's.
    pub(crate) fn start(
        processes: &Processes,
        network: &Network,
        root: Option<&Root>,
        command: Command,
        log: &Path,
    ) -> io::Result<Self> {
        let (mut command, is_tied) = processes.tied(command);
        let file = OpenOptions::new().create(true).append(true).open(log)?;
        // Programs of other users open it again, as `/dev/stdout`.
        file.set_permissions(Permissions::from_mode(0o666))?;
        let input = if is_tied { Stdio::piped() } else { Stdio::null() };
        command.stdin(input).stdout(file.try_clone()?).stderr(file).process_group(0);
        let mut child = on_thread(|| {
            network.enter()?;
            processes.enter()?;
            root.map_or(Ok(()), Root::enter)?;
            command.spawn()
        })??;
        // A process's number is far below i32::MAX.
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
        let pipe = child.stdin.take();
        let (tell, ended) = watch::channel(None);
        std::thread::Builder::new().name("lab-wait".to_owned()).spawn(move || {
            let ended = child.wait().map_or(Ended(-1), |status| Ended(code(status)));
            // Children that the program left behind would keep its ports.
            let _ = killpg(group, Signal::SIGKILL);
            // Fails only if all receivers are dropped.
            let _ = tell.send(Some(ended));
        })?;
        Ok(Self { group, ended, log: log.to_owned(), pipe })
    }

    pub(crate) async fn ended(&self) -> Ended {
        let mut ended = self.ended.clone();
        let last = ended.wait_for(Option::is_some).await;
        last.ok().and_then(|ended| *ended).unwrap_or(Ended(-1))
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Asks it to end (SIGTERM); what it started is its own to end.
    pub(crate) fn terminate(&self) {
        if self.is_running() {
            let _ = kill(self.group, Signal::SIGTERM);
        }
    }

    /// Ends it and all that it started, at once.
    pub(crate) fn kill(&self) {
        if self.is_running() {
            let _ = killpg(self.group, Signal::SIGKILL);
        }
    }

    /// Its number outside the lab.
    pub(crate) fn id(&self) -> i32 {
        self.group.as_raw()
    }

    /// The end of its log.
    pub(crate) fn log_tail(&self) -> String {
        tail(&self.log)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The last lines of a log, below its name.
pub(crate) fn tail(log: &Path) -> String {
    let text =
        std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let lines = lines.get(lines.len().saturating_sub(LOG_TAIL)..).unwrap_or_default();
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    format!("--- the end of {name} ---\n{}\n", lines.join("\n"))
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_of_the_machine_ends_with_its_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        command.arg("60");
        let (processes, network) = (Processes::of_the_machine(), Network::of_the_machine());
        let mut sleeper =
            Process::start(&processes, &network, None, command, &folder.path().join("log")).unwrap();
        assert!(sleeper.is_running());
        drop(sleeper.pipe.take());
        assert_eq!(sleeper.ended().await, Ended(128 + 9), "as when the test is killed");
    }
}
