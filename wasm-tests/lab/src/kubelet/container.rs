//! One container: started, probed, restarted when it ends, stopped when the pod is deleted.

use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, LifecycleHandler};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::super::control_plane::Site;
use super::super::space::{Ended, Network, Process, Root, exec};
use super::probe::{self, Finding};

/// A restart waits twice as long as the one before. A real kubelet begins with ten seconds, which tests do not have.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// A command that could not be started.
const NOT_STARTED: i32 = 128;

/// Where a container runs, and what runs.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) site: Arc<Site>,
    pub(super) network: Arc<Network>,
    pub(super) address: Ipv4Addr,
    pub(super) container: Container,
    pub(super) root: Root,
    /// The program, its arguments and environment.
    pub(super) program: ContainerProgram,
    pub(super) log: PathBuf,
}

/// The program that is executed, and its user.
#[derive(Debug)]
pub(super) struct ContainerProgram {
    pub(super) line: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) folder: Option<String>,
}

/// When a container that ended is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    Always,
    OnFailure,
    Never,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(super) struct Terminated {
    pub(super) code: i32,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

/// What a container is doing.
#[derive(Clone, Debug)]
pub(super) enum ContainerPhase {
    Waiting(&'static str),
    Running(Timestamp),
    Terminated(Terminated),
}

/// The state of a container that is reported to the API server.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) phase: ContainerPhase,
    pub(super) started: bool,
    pub(super) ready: bool,
    pub(super) restarts: u32,
    pub(super) last: Option<Terminated>,
}

impl State {
    /// Before the first start.
    pub(super) fn new() -> Self {
        Self {
            phase: ContainerPhase::Waiting("PodInitializing"),
            started: false,
            ready: false,
            restarts: 0,
            last: None,
        }
    }
}

/// Runs a container until it has ended for good or is stopped; then it has ended.
pub(super) async fn live(place: Place, restart: Restart, stop: Stop, state: watch::Sender<State>) {
    let (mut pause, longest) = PAUSES;
    loop {
        let ended = run(&place, &stop, &state).await;
        let over = match restart {
            Restart::Always => false,
            Restart::OnFailure => ended.code == 0,
            Restart::Never => true,
        };
        let stopped = stop.token.is_cancelled();
        if !stopped {
            let mut all = place.site.ended.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((place.log.clone(), ended.code));
        }
        state.send_modify(|state| {
            (state.ready, state.started) = (false, over && ended.code == 0);
            state.phase = ContainerPhase::Terminated(ended.clone());
        });
        if over || stopped {
            return;
        }
        let again = tokio::select! { () = sleep(pause) => true, () = stop.token.cancelled() => false };
        if !again {
            return;
        }
        state.send_modify(|state| {
            state.last = Some(ended);
            state.restarts += 1;
        });
        pause = (pause * 2).min(longest);
    }
}

/// How a container is stopped.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    /// Cancelled to end it.
    pub(super) token: CancellationToken,
    /// When it is killed; known when the token is cancelled.
    pub(super) deadline: watch::Receiver<Option<Instant>>,
}

/// One run, from start to end.
async fn run(place: &Place, stop: &Stop, state: &watch::Sender<State>) -> Terminated {
    let started = Timestamp::now();
    let process = match place.start() {
        Ok(process) => Arc::new(process),
        Err(error) => {
            place.note(&format!("cannot start {:?}: {error}", place.program.line));
            return Terminated { code: NOT_STARTED, started, finished: Timestamp::now() };
        }
    };
    state.send_modify(|state| state.phase = ContainerPhase::Running(started));
    let findings = probe::watch(place, &process, |finding| {
        state.send_if_modified(|state| match finding {
            Finding::Started => !std::mem::replace(&mut state.started, true),
            Finding::Ready(ready) => std::mem::replace(&mut state.ready, ready) != ready,
        });
    });
    let Ended(code) = tokio::select! {
        ended = process.ended() => ended,
        () = findings => {
            place.note("restarted: a probe failed");
            place.end(&process, Instant::now() + Duration::from_secs(30)).await
        }
        () = stop.token.cancelled() => {
            let deadline = stop.deadline.borrow().unwrap_or_else(Instant::now);
            place.end(&process, deadline).await
        }
    };
    Terminated { code, started, finished: Timestamp::now() }
}

impl Place {
    fn start(&self) -> std::io::Result<Process> {
        let command = self.command(&self.program.line);
        Process::start(&self.site.processes, &self.network, Some(&self.root), command, &self.log)
    }

    fn command(&self, line: &[String]) -> Command {
        let (program, arguments) =
            line.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.program.environment.iter().cloned());
        command.uid(self.program.user).gid(self.program.group);
        command.current_dir(self.program.folder.as_deref().unwrap_or("/"));
        command
    }

    /// Runs a command in the container. Returns whether it succeeded.
    pub(super) async fn exec(&self, process: &Arc<Process>, line: &[String]) -> bool {
        let command = self.command(line);
        let (site, network, process) =
            (Arc::clone(&self.site), Arc::clone(&self.network), Arc::clone(process));
        let run = tokio::task::spawn_blocking(move || exec(&site.processes, &network, &process, command));
        matches!(run.await, Ok(Ok(true)))
    }

    /// The hook before the end, SIGTERM, and SIGKILL when it is time.
    async fn end(&self, process: &Arc<Process>, deadline: Instant) -> Ended {
        let hook = self.container.lifecycle.as_ref().and_then(|hooks| hooks.pre_stop.as_ref());
        if let Some(hook) = hook {
            // A hook that takes too long is not waited for.
            drop(timeout_at(deadline, self.hook(process, hook)).await);
        }
        process.terminate();
        tokio::select! {
            ended = process.ended() => ended,
            () = sleep_until(deadline) => {
                process.kill();
                process.ended().await
            }
        }
    }

    async fn hook(&self, process: &Arc<Process>, hook: &LifecycleHandler) {
        if let Some(pause) = &hook.sleep {
            sleep(Duration::from_secs(u64::try_from(pause.seconds).unwrap_or(0))).await;
        }
        if let Some(line) = hook.exec.as_ref().and_then(|exec| exec.command.as_ref()) {
            self.exec(process, line).await;
        }
    }

    /// Adds a line of the kubelet's to the container's log.
    fn note(&self, text: &str) {
        note(&self.log, text);
    }
}

/// Adds a line of the kubelet's to a log.
pub(super) fn note(log: &Path, text: &str) {
    use std::io::Write as _;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(log);
    // A log that cannot be written is no reason to stop a pod.
    drop(file.and_then(|mut file| writeln!(file, "kubelet: {text}")));
}
