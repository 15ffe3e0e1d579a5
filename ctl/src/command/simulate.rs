//! `simulate`: salt and field from the arguments or the release, one reading of the input, report.

use super::arguments::{Keys, Output, SpecFile};
use super::release_context::ReleaseContext;
use crate::report::Printer;
use crate::simulate::{
    Census, Field, Head, HeadError, Identifier, LogFormat, Progress, Rules, SimulationReport, WeightSchedule,
};
use crate::{Error, Outcome};
use assignment::Salt;
use assignment::contract::{self, IdentityMode, KeySource};
use assignment::identity::IdentityKey;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Compute who would be on the canary at each weight of a plan, from session ids or an access log
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl simulate session-ids.txt --weights 0,1,10,50,100
  canary-ctl simulate access.log --log --key cookie:JSESSIONID --distinct
  zcat log.gz | canary-ctl simulate --log --key client --salt shop/shop/v2

A log is in common or combined format (nginx, Apache), in the default format of
Envoy or Istio, of HAProxy (HTTP), of an AWS Application Load Balancer, or JSON.
--key is one of
  client       the client's address, by the format; first of X-Forwarded-For
  user         in common format the third field, in JSON `user`, `remote_user`
  cookie:NAME  a cookie in a quoted field after the request, or in JSON
  quoted:N     the N-th quoted field, from 1 (the request)
  field:N      the N-th field between white space, from 1

It counts lines: a user with many lines counts many times. --distinct counts
each user once, and keeps all identities in memory (about 20 bytes each).")]
pub(super) struct Simulate {
    /// Session ids, one a line, or a log; `-` is stdin
    #[arg(default_value = "-")]
    pub(super) input: PathBuf,
    /// The weights to walk through, in percent
    #[arg(long, value_name = "WEIGHTS", default_value = "1,5,10,25,50,100")]
    pub(super) weights: WeightSchedule,
    /// The input is an access log
    #[arg(long)]
    pub(super) log: bool,
    /// Which part of a log line is the user (default: the release's first cookie)
    #[arg(long, value_name = "FIELD", requires = "log")]
    pub(super) key: Option<Field>,
    /// Count each user once
    #[arg(long)]
    pub(super) distinct: bool,
    #[command(flatten)]
    pub(super) spec: SpecFile,
    /// Draw with this salt; no release is read then
    #[arg(long)]
    pub(super) salt: Option<String>,
    /// Whether users move with the weight (default: the release's, or user)
    #[arg(long, value_enum)]
    pub(super) stickiness: Option<Stickiness>,
    #[command(flatten)]
    pub(super) keys: Keys,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Whether users move with the weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Stickiness {
    /// They do.
    User,
    /// A session stays where it began.
    Session,
}

pub(super) async fn run(arguments: Simulate, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let question = Question::of(&arguments)?;
    let (input, length) = open(&arguments.input)?;
    let stop = StopOnDrop::default();
    let input = Stoppable { input, stop: Arc::clone(&stop.0) };
    let (rules, mut progress) = (question.rules, Progress::on_terminal(length));
    // Reading would keep Ctrl-C from being seen.
    let counted = tokio::task::spawn_blocking(move || {
        let (head, input) = Head::of(input)?;
        let checked = head.check(&rules.field);
        let census = checked
            .map(|()| Census::take(input, &rules, &mut progress).map(|census| (head.format(), census)));
        Ok(census)
    });
    let failed = |source| Error::File { action: "read", path: arguments.input.clone(), source };
    let counted = counted.await.map_err(io::Error::other).flatten().map_err(failed)?;
    let (format, census) = counted.map_err(|error| other_input(&error))?.map_err(failed)?;
    if census.users() == 0 {
        return Err(no_users(&census, format));
    }
    let report = SimulationReport::new(question.salt, question.stickiness, &census, &arguments.weights);
    printer.report(&report)?;
    if arguments.log && census.is_of_one_user() {
        printer.message("all lines have the same user: the address of a proxy in front, or one session");
        printer.hint("`--key` names another field of the line: `--key cookie:NAME`, `--key quoted:N`");
    }
    if arguments.log && !arguments.distinct {
        printer.hint("a log repeats its users: `--distinct` counts each once");
    }
    Ok(Outcome::Done)
}

/// The input is not what it is said to be.
fn other_input(error: &HeadError) -> Error {
    let hint = match error {
        HeadError::Packed { program, .. } => format!("`{program} FILE | canary-ctl simulate …`"),
        HeadError::Wide => "save it as UTF-8; in PowerShell: `… | Out-File -Encoding utf8 FILE`".to_owned(),
        HeadError::Log(_) | HeadError::NoId(_) => "give `--log`, and `--key` for what names the user".to_owned(),
        HeadError::Format(_) => {
            "name the place in the line by `--key quoted:N` or `field:N`, or take away what is put before each line".to_owned()
        }
    };
    Error::usage(error.to_string(), hint)
}

/// Nothing is counted.
fn no_users(census: &Census, format: Option<LogFormat>) -> Error {
    let (lines, without_key) = (census.lines, census.without_key);
    let found = format.map_or_else(String::new, |format| format!(" of {}", format.name()));
    let hint = match format {
        Some(LogFormat::Envoy | LogFormat::Istio | LogFormat::Alb) => {
            "its default fields are no cookie and no user: `--key client`, or `--key quoted:N` for a field of your own"
        }
        Some(LogFormat::Json) => {
            "members with other names than those of Envoy, nginx, Traefik, Caddy and Google Cloud are not known: `jq -r .NAME FILE | canary-ctl simulate …` without `--log`"
        }
        _ => "check the input, and `--key` where it is a log",
    };
    Error::usage(
        format!("expected users, found none in {lines} lines{found} ({without_key} without a key)"),
        hint,
    )
}

/// The settings of a simulation.
struct Question {
    salt: String,
    stickiness: contract::Stickiness,
    rules: Rules,
}

impl Question {
    fn of(arguments: &Simulate) -> Result<Self, Error> {
        let asked = arguments.stickiness.map(|asked| match asked {
            Stickiness::User => contract::Stickiness::User,
            Stickiness::Session => contract::Stickiness::Session,
        });
        let distinct = arguments.distinct;
        if let Some(salt) = arguments.salt.clone() {
            let (identifier, field) = (Identifier::Plain, field(arguments, None)?);
            let rules = Rules { field, identifier, salt: Salt::new(&salt), distinct };
            return Ok(Self { salt, stickiness: asked.unwrap_or(contract::Stickiness::User), rules });
        }
        let release_context = ReleaseContext::read(&arguments.spec, &arguments.keys)?;
        let release = &release_context.release;
        let cookie = release.identify_by.iter().find_map(|key| match key {
            KeySource::Cookie(name) => Some(name.as_str()),
            _ => None,
        });
        let salt = release.salt.clone().unwrap_or_else(|| release.default_salt());
        let (identifier, field) = (identifier(&release_context)?, field(arguments, cookie)?);
        let rules = Rules { field, identifier, salt: Salt::new(&salt), distinct };
        Ok(Self { salt, stickiness: asked.unwrap_or(release.stickiness), rules })
    }
}

fn field(arguments: &Simulate, cookie: Option<&str>) -> Result<Field, Error> {
    match (&arguments.key, arguments.log, cookie) {
        (Some(field), ..) => Ok(field.clone()),
        (None, false, _) => Ok(Field::Line),
        (None, true, Some(name)) => Ok(Field::Cookie(name.to_owned())),
        (None, true, None) => Err(Error::usage(
            "expected a field of the log that names the user",
            "`--key client`, `--key cookie:NAME` or `--key quoted:N`",
        )),
    }
}

fn identifier(release_context: &ReleaseContext) -> Result<Identifier, Error> {
    if release_context.release.identity == IdentityMode::Plain {
        return Ok(Identifier::Plain);
    }
    let secret = release_context.require_keys()?.identity_key.as_ref();
    let missing = || {
        Error::usage(
            "expected an `identityKey` among the keys: the release says `identity: keyed`",
            "name the proxy's keys with `--signing-keys FILE`",
        )
    };
    let secret = secret.ok_or_else(missing)?;
    Ok(Identifier::Keyed(IdentityKey::new(secret.expose())))
}

/// The input and its length in bytes, where it has one.
fn open(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>), Error> {
    if path == Path::new("-") {
        if io::stdin().is_terminal() {
            return Err(Error::usage(
                "expected ids on stdin, found a terminal",
                "name a file, or pipe one in",
            ));
        }
        return Ok((Box::new(io::stdin()), None));
    }
    let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    Ok((Box::new(file), length))
}

/// Ends the reading when the command is dropped, which is what Ctrl-C does.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Stoppable<R> {
    input: R,
    stop: Arc<AtomicBool>,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.input.read(buffer)
    }
}
