//! What people type by mistake, and what they are told: the exit code, what the message has to name, and what it may not say.

mod api_server;
mod flags;
mod table;

use crate::cli_fixture::{CliFixture, CliOutput, repository};
use api_server::Server;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};
use table::table;

/// The folder in which a line is typed.
#[derive(Clone, Copy, Debug)]
enum Folder {
    Empty,
    /// The release `shop/shop` of a cluster.
    Release,
    /// The same with another text in the place of one.
    Edited(&'static str, &'static str),
    /// The release `shop/shop` of a local Envoy, whose files are generated.
    Local,
    /// A `canary.yaml` of this text.
    File(&'static str),
}

/// A command line, and what is expected of the tool.
#[derive(Clone, Copy, Debug)]
struct Mistake {
    /// Its number among the mistakes that were tried with a person's eyes.
    number: u8,
    typed: &'static str,
    folder: Folder,
    server: Server,
    code: i32,
    names: &'static [&'static str],
    never: &'static [&'static str],
}

const fn typed(number: u8, typed: &'static str) -> Mistake {
    Mistake { number, typed, folder: Folder::Empty, server: Server::Unnamed, code: 2, names: &[], never: &[] }
}

impl Mistake {
    const fn within(mut self, folder: Folder) -> Self {
        self.folder = folder;
        self
    }

    const fn with(mut self, server: Server) -> Self {
        self.server = server;
        self
    }

    const fn exits(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    const fn names(mut self, names: &'static [&'static str]) -> Self {
        self.names = names;
        self
    }

    const fn never(mut self, never: &'static [&'static str]) -> Self {
        self.never = never;
        self
    }

    /// The folder in which it is typed.
    fn fixture(&self) -> CliFixture {
        let cli = CliFixture::new();
        let example = || std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
        match self.folder {
            Folder::Empty => {}
            Folder::File(text) => drop(cli.write("canary.yaml", text)),
            Folder::Release => drop(cli.write("canary.yaml", &example())),
            Folder::Edited(from, to) => {
                let text = example();
                assert!(text.contains(from), "{from}");
                cli.write("canary.yaml", &text.replacen(from, to, 1));
            }
            Folder::Local => {
                cli.write("canary.yaml", &crate::local::release());
                assert_eq!(cli.run("generate").code, 0);
            }
        }
        if let Some(text) = self.server.kubeconfig() {
            std::fs::create_dir(cli.path(".kube")).unwrap();
            cli.write(".kube/config", &text);
        }
        cli
    }

    /// What is wrong with what the tool says.
    fn faults(&self) -> Option<String> {
        let ran = self.fixture().run_words(&shlex::split(self.typed).unwrap());
        let mut faults = Vec::new();
        if ran.code != self.code {
            faults.push(format!("expected exit code {}, found {}", self.code, ran.code));
        }
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let missing = self.names.iter().filter(|name| !said.contains(**name));
        faults.extend(missing.map(|name| format!("expected `{name}`, found no such text")));
        let unwanted = NEVER.iter().chain(self.never).filter(|text| said.contains(**text));
        faults.extend(unwanted.map(|text| format!("expected no `{text}`")));
        if said.chars().any(|character| character.is_control() && character != '\n') {
            faults.push("expected no control characters".to_owned());
        }
        if said.len() > 3000 {
            faults.push(format!("expected a message, found {} bytes", said.len()));
        }
        let CliOutput { stdout, stderr, .. } = ran;
        (!faults.is_empty()).then(|| {
            format!(
                "{}. canary-ctl {}\n   {}\n{stdout}{stderr}",
                self.number,
                self.typed,
                faults.join("\n   ")
            )
        })
    }
}

/// What no message says: text that Rust's libraries write for programmers.
const NEVER: [&str; 6] =
    ["Status {", "ServiceError", "ApiError", "HyperError", "panicked", "InvalidContentType"];

#[test]
fn each_mistake_is_told_what_helps() {
    let table = table();
    let numbers: BTreeSet<u8> = table.iter().map(|mistake| mistake.number).collect();
    let all: Vec<u8> = (1..=62).filter(|number| !numbers.contains(number)).collect();
    assert_eq!(all, SILENT, "each of the 62 has a row, or a test of its own");
    let mut faults = Vec::new();
    for chunk in table.chunks(8) {
        std::thread::scope(|scope| {
            let running: Vec<_> = chunk.iter().map(|mistake| scope.spawn(|| mistake.faults())).collect();
            faults.extend(running.into_iter().filter_map(|running| running.join().unwrap()));
        });
    }
    let passed = table.len() - faults.len();
    assert!(faults.is_empty(), "{}\n{passed} of {} rows pass", faults.join("\n"), table.len());
}

/// The mistakes of an API server that does not answer: a person waits.
const SILENT: [u8; 2] = [7, 8];

#[test]
fn an_api_server_that_does_not_answer_is_named_within_two_seconds_and_ctrl_c_is_no_error() {
    for words in [&["rollback", "shop/shop"][..], &["status", "-r", "shop/shop", "--request-timeout", "3s"]] {
        let cli = typed(7, "").with(Server::Silent).fixture();
        let mut child = cli.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let begun = Instant::now();
        let mut first = [0; 512];
        let read = stderr.read(&mut first).unwrap();
        let said = String::from_utf8_lossy(&first[..read]).into_owned();
        // Two seconds, and what a machine takes that runs all tests at once.
        assert!(begun.elapsed() < Duration::from_secs(4), "{words:?}: {:?}", begun.elapsed());
        assert!(said.contains("http://127.0.0.1") && said.contains("staging"), "{words:?}: {said}");
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!((child.wait().unwrap().code(), rest.contains("error:")), (Some(130), false), "{rest}");
    }
}
