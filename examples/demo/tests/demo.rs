//! What the demo does where it cannot run: it prints why, and leaves no process and no folder. The demo itself runs in
//! `./x demo --once`, which checks what it shows.

#![expect(clippy::unwrap_used, reason = "a panic is a test's failure")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Programs in place of the real ones, in a folder that is also the demo's folder for temporary files.
struct Programs(tempfile::TempDir);

impl Programs {
    fn new() -> Self {
        let programs = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(programs.path("tmp")).unwrap();
        std::fs::write(programs.path("filter"), "no module").unwrap();
        programs.script("canary-ctl", "mkdir .canary");
        programs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A shop that logs where it listens, writes down its process id, and stays.
    fn shop(&self) -> PathBuf {
        let pids = self.path("pids");
        let text = format!(
            "echo $$ >> {}\necho 'demo-shop v1 v1-a: listening on http://127.0.0.1:9' >&2\nexec sleep 600",
            pids.display()
        );
        self.script("shop", &text)
    }

    fn command(&self, envoy: &Path, shop: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
        command.args(["--once", "--envoy"]).arg(envoy).arg("--shop").arg(shop);
        command.arg("--filter").arg(self.path("filter")).arg("--canary-ctl").arg(self.path("canary-ctl"));
        command.env("TMPDIR", self.path("tmp")).stdin(Stdio::null()).current_dir(self.0.path());
        command
    }

    fn pids(&self) -> Vec<String> {
        let pids = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
        pids.lines().map(str::to_owned).collect()
    }

    /// The shops that were started and still run. A dead one that init has not reaped yet has no command line.
    fn running(&self) -> Vec<String> {
        let runs =
            |pid: &String| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
        self.pids().into_iter().filter(runs).collect()
    }

    fn folders_left(&self) -> usize {
        std::fs::read_dir(self.path("tmp")).unwrap().count()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A killed process is gone a moment after the kill.
fn within_a_second(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(1) {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    condition()
}

#[test]
fn a_missing_program_is_reported_with_the_paths_that_were_tried_and_what_to_run() {
    let programs = Programs::new();
    let output = programs.command(&programs.path("nowhere"), &programs.shop()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr(&output);
    assert!(stderr.starts_with("error: cannot find an Envoy: tried "), "{stderr}");
    assert!(stderr.contains("nowhere\n  hint: run: ./x demo") && stderr.contains("`--envoy`"), "{stderr}");
}

#[test]
fn a_missing_canary_ctl_is_reported_with_its_argument() {
    let programs = Programs::new();
    std::fs::remove_file(programs.path("canary-ctl")).unwrap();
    let output = programs.command(&programs.script("envoy", "exit 1"), &programs.shop()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr(&output);
    assert!(
        stderr.contains("cannot find canary-ctl: tried ") && stderr.contains("`--canary-ctl`"),
        "{stderr}"
    );
}

#[test]
fn a_pod_that_ends_at_once_is_an_error_with_the_end_of_its_log() {
    let programs = Programs::new();
    let shop = programs.script("shop", "echo 'no tea today' >&2; exit 3");
    let output = programs.command(&programs.script("envoy", "exit 1"), &shop).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr(&output);
    assert!(
        stderr.contains("v1-a ended with exit status: 3; the end of its log:\n    no tea today"),
        "{stderr}"
    );
    assert_eq!(programs.folders_left(), 0);
}

#[test]
fn a_canary_ctl_that_fails_is_an_error_with_its_stderr() {
    let programs = Programs::new();
    programs.script("canary-ctl", "echo 'error: no such field' >&2; exit 2");
    let output = programs.command(&programs.script("envoy", "exit 1"), &programs.shop()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr(&output);
    assert!(stderr.contains("`canary-ctl generate` failed: error: no such field"), "{stderr}");
    assert!(within_a_second(|| programs.running().is_empty()), "{:?}", programs.running());
    assert_eq!(programs.folders_left(), 0);
}

#[test]
fn an_envoy_that_does_not_start_leaves_no_process_and_no_folder() {
    let programs = Programs::new();
    let envoy = programs.script("envoy", "echo 'bad bootstrap' >&2; exit 1");
    let output = programs.command(&envoy, &programs.shop()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bad bootstrap"), "{}", stderr(&output));
    assert_eq!(programs.pids().len(), 4, "pods that were started");
    assert!(within_a_second(|| programs.running().is_empty()), "{:?}", programs.running());
    assert_eq!(programs.folders_left(), 0);
}

#[test]
fn each_signal_that_ends_it_ends_its_processes() {
    for (signal, code) in [("-INT", 130), ("-TERM", 130), ("-HUP", 130)] {
        let programs = Programs::new();
        let envoy = programs.script("envoy", "exec sleep 600");
        let mut demo = programs.command(&envoy, &programs.shop()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while programs.pids().len() < 4 && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let sent = Command::new("kill").arg(signal).arg(demo.id().to_string()).status().unwrap();
        assert!(sent.success(), "kill {signal}: {sent}");
        assert_eq!(demo.wait().unwrap().code(), Some(code), "{signal}");
        assert!(within_a_second(|| programs.running().is_empty()), "{signal}: {:?}", programs.running());
        assert_eq!(programs.folders_left(), 0, "{signal}");
    }
}

#[test]
fn pods_and_envoy_are_in_process_groups_of_their_own_so_that_ctrl_c_does_not_reach_them() {
    let programs = Programs::new();
    let shop = programs.shop();
    // The fifth field of the file is the process group.
    let print_group = "set -- $(cat /proc/$pid/stat); echo group $5";
    let pids = programs.path("pids");
    let envoy = format!("for pid in $(head -1 {}) $$ $PPID; do {print_group}; done; exit 1", pids.display());
    let output = programs.command(&programs.script("envoy", &envoy), &shop).output().unwrap();
    let stderr = stderr(&output);
    let groups: BTreeSet<&str> =
        stderr.lines().map(str::trim).filter(|line| line.starts_with("group ")).collect();
    assert_eq!(groups.len(), 3, "process groups of a pod, Envoy and the demo: {stderr}");
}
