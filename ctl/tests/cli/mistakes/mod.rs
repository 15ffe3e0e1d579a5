//! What people type by mistake, and what they are told: the exit code, what the message has to name, and what it may not say.

mod api_server;
mod flags;
mod silent;
mod table;

use crate::cli_fixture::{CliFixture, CliOutput, repository};
use api_server::Server;
use std::collections::BTreeSet;
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
    /// Its `canary.yaml` is a folder.
    Unreadable,
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
            Folder::Unreadable => std::fs::create_dir(cli.path("canary.yaml")).unwrap(),
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
const NEVER: [&str; 9] = [
    "Status {",
    "ServiceError",
    "ApiError",
    "HyperError",
    "panicked",
    "InvalidContentType",
    "os error",
    "invalid digit",
    "number too large",
];

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
