//! A process namespace: the kernel kills everything in it when its first process ends.

use std::fs::{File, read_link};
use std::io;
use std::os::fd::AsRawFd as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};

use super::network::Network;
use super::thread::on_thread;

/// The number and the interval of polls for the first process: two seconds in all.
const LOOKS: (usize, Duration) = (400, Duration::from_millis(5));

/// A process namespace, or the machine's own.
#[derive(Debug)]
pub(crate) struct Processes(Option<Namespace>);

/// Its first process waits for the end of a pipe that only the test has open, and reaps orphans meanwhile.
#[derive(Debug)]
struct Namespace {
    first: Child,
    pipe: Option<ChildStdin>,
    file: File,
}

/// Runs a command that ends when the standard input does.
const TIED: &str =
    r#"exec 3<&0; "$@" </dev/null 3<&- & p=$!; { read -r _ <&3; kill -KILL $p; } & exec 3<&-; wait $p"#;

impl Processes {
    /// A new namespace, whose first process is in this network.
    pub(crate) fn start(network: &Network) -> io::Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "--", "bash", "-c", "read -r _"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut first = on_thread(|| {
            network.enter()?;
            command.spawn()
        })??;
        let pipe = first.stdin.take();
        let file = open(first.id())?;
        Ok(Self(Some(Namespace { first, pipe, file })))
    }

    /// No namespace: each process ends with a pipe of its own.
    pub(crate) const fn of_the_machine() -> Self {
        Self(None)
    }

    /// What the calling thread starts from now on is born in it; the thread itself stays where it is.
    pub(crate) fn enter(&self) -> io::Result<()> {
        match &self.0 {
            Some(namespace) => Ok(setns(&namespace.file, CloneFlags::CLONE_NEWPID)?),
            None => Ok(()),
        }
    }

    /// The command as it ends with this process, and whether its standard input has to be a pipe that is kept open.
    pub(super) fn tied(&self, command: Command) -> (Command, bool) {
        if self.0.is_some() {
            return (command, false);
        }
        let mut tied = Command::new("bash");
        tied.args(["-c", TIED, "bash"]).arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            tied.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => tied.env(name, value),
                None => tied.env_remove(name),
            };
        }
        (tied, true)
    }

    /// A process whose network is the lab's, for `nsenter`.
    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().map_or_else(std::process::id, |namespace| namespace.first.id())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // Fails only if the process was waited for already.
        drop(self.first.wait());
    }
}

/// Opens the namespace that this `unshare` creates. Before that its file is the machine's namespace; then, until the
/// first process exists, it cannot be opened.
fn open(unshare: u32) -> io::Result<File> {
    let ours = read_link("/proc/self/ns/pid")?;
    let path = format!("/proc/{unshare}/ns/pid_for_children");
    let (looks, pause) = LOOKS;
    for _ in 0..looks {
        let file = File::open(&path);
        // Asked after it was opened: once it is another one, it stays.
        if let Ok(file) = file
            && read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))? != ours
        {
            return Ok(file);
        }
        sleep(pause);
    }
    Err(io::Error::other("unshare made no process namespace"))
}

#[cfg(test)]
mod tests_as_root {
    use super::super::{Ended, Process};
    use super::*;

    #[tokio::test]
    async fn what_was_started_ends_with_its_namespace() {
        let network = Network::create().unwrap();
        let processes = Processes::start(&network).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        command.arg("60");
        let sleeper =
            Process::start(&processes, &network, None, command, &folder.path().join("log")).unwrap();
        assert!(sleeper.is_running());
        drop(processes);
        assert_eq!(sleeper.ended().await, Ended(128 + 9), "killed by the kernel");
    }
}
