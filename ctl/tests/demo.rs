//! What `canary-ctl demo` does where it cannot run: it says why, and leaves nothing behind. The demo itself runs in
//! `./x demo --once`, which checks what it shows.

#![expect(clippy::unwrap_used, reason = "a panic is a test's failure")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Programs that stand in for the real ones, in a folder that is also where the demo makes its own.
struct Programs(tempfile::TempDir);

impl Programs {
    fn new() -> Self {
        let programs = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(programs.path("tmp")).unwrap();
        std::fs::write(programs.path("filter"), "no module").unwrap();
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

    /// A shop that says where it listens, notes its process id, and stays.
    fn shop(&self) -> PathBuf {
        let pids = self.path("pids");
        let text = format!(
            "echo $$ >> {}\necho 'demo-shop v1 v1-a: listening on http://127.0.0.1:9' >&2\nexec sleep 600",
            pids.display()
        );
        self.script("shop", &text)
    }

    fn command(&self, envoy: &Path, shop: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canary-ctl"));
        command.args(["demo", "--once", "--envoy"]).arg(envoy).arg("--shop").arg(shop);
        command.arg("--filter").arg(self.path("filter")).env("TMPDIR", self.path("tmp"));
        command.stdin(Stdio::null()).current_dir(self.0.path());
        command
    }

    /// The shops that were started and still live. One that is dead and not yet buried by init has no command line.
    fn living(&self) -> Vec<String> {
        let pids = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
        let lives =
            |pid: &&str| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
        pids.lines().filter(lives).map(str::to_owned).collect()
    }

    fn folders_left(&self) -> usize {
        std::fs::read_dir(self.path("tmp")).unwrap().count()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A killed process is gone a moment after the kill.
fn within_a_second(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    holds()
}

#[test]
fn a_missing_program_is_named_with_where_it_was_looked_for_and_what_to_run() {
    let programs = Programs::new();
    let output = programs.command(&programs.path("nowhere"), &programs.shop()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("cannot find an Envoy: looked at") && said.contains("nowhere"), "{said}");
    assert!(said.contains("hint: run: ./x demo") && said.contains("`--envoy`"), "{said}");
}

#[test]
fn a_pod_that_ends_at_once_is_an_error_with_its_last_words() {
    let programs = Programs::new();
    let shop = programs.script("shop", "echo 'no tea today' >&2; exit 3");
    let output = programs.command(&programs.script("envoy", "exit 1"), &shop).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no tea today"), "{}", stderr(&output));
    assert_eq!(programs.folders_left(), 0);
}

#[test]
fn an_envoy_that_does_not_start_leaves_no_process_and_no_folder() {
    let programs = Programs::new();
    let envoy = programs.script("envoy", "echo 'bad bootstrap' >&2; exit 1");
    let output = programs.command(&envoy, &programs.shop()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bad bootstrap"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(programs.path("pids")).unwrap().lines().count(), 4);
    assert!(within_a_second(|| programs.living().is_empty()), "{:?}", programs.living());
    assert_eq!(programs.folders_left(), 0);
}

#[test]
fn every_signal_that_ends_it_ends_its_processes() {
    for (signal, code) in [("-INT", 130), ("-TERM", 130), ("-HUP", 130)] {
        let programs = Programs::new();
        let envoy = programs.script("envoy", "exec sleep 600");
        let mut demo = programs.command(&envoy, &programs.shop()).stderr(Stdio::null()).spawn().unwrap();
        let all_started =
            || std::fs::read_to_string(programs.path("pids")).is_ok_and(|pids| pids.lines().count() == 4);
        let begun = Instant::now();
        while !all_started() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let sent = Command::new("kill").arg(signal).arg(demo.id().to_string()).status().unwrap();
        assert!(sent.success());
        assert_eq!(demo.wait().unwrap().code(), Some(code), "{signal}");
        assert!(within_a_second(|| programs.living().is_empty()), "{signal}: {:?}", programs.living());
        assert_eq!(programs.folders_left(), 0, "{signal}");
    }
}
