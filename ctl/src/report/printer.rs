//! Prints reports, messages and errors. What is printed is escaped here, whoever it is from.

use super::{PaintedText, escape};
use canary_release::file;
use placed_yaml::Fault;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;

/// The form of a command's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For programs, and for people who like it.
    Yaml,
}

/// A command's result: its fields as JSON and YAML, [`Report::text`] as text.
pub trait Report: Serialize {
    /// Writes it as text, with a newline at the end.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Writes it as text, in colours if they are enabled.
    ///
    /// # Errors
    ///
    /// As [`text`](Self::text).
    fn painted(&self, out: &mut PaintedText) -> fmt::Result {
        self.text(out)
    }
}

/// The result cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output cannot be written: a closed pipe, or a full disk.
    #[error("cannot write the result")]
    Output(#[from] io::Error),
    /// The report cannot be formatted as text.
    #[error("cannot write the result as text")]
    Text(#[from] fmt::Error),
    /// The report has no JSON form.
    #[error("cannot write the result as JSON")]
    Json(#[from] serde_json::Error),
    /// The report has no YAML form.
    #[error("cannot write the result as YAML: {0}")]
    Yaml(String),
}

/// The output of a command.
pub struct Printer {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    /// Whether labels on stderr are coloured.
    colour: bool,
    colours_reports: bool,
    /// The form of data.
    pub format: Format,
}

const RED: &str = "\u{1b}[1;31m";
const CYAN: &str = "\u{1b}[36m";
const RESET: &str = "\u{1b}[0m";

impl Printer {
    /// Prints to the process's stdout and stderr; in colour only where stderr is a terminal and `NO_COLOR` is not set.
    pub fn of_process() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let colour = wanted && io::stderr().is_terminal();
        let colours_reports = wanted && io::stdout().is_terminal();
        let (out, err) = (Box::new(io::stdout()), Box::new(io::stderr()));
        Self { out, err, colour, colours_reports, format: Format::Text }
    }

    /// Prints a command's result.
    ///
    /// # Errors
    ///
    /// If the result has no YAML or JSON form, or stdout cannot be written to.
    pub fn report(&mut self, report: &impl Report) -> Result<(), Error> {
        match self.format {
            Format::Text => {
                let mut text = PaintedText::new(self.colours_reports);
                report.painted(&mut text)?;
                self.write(text.as_str())
            }
            Format::Json => self.write(&(escape::json(&serde_json::to_string_pretty(report)?) + "\n")),
            Format::Yaml => self.yaml(&placed_yaml::block(report).map_err(Error::Yaml)?),
        }
    }

    /// Prints text that has one form only.
    ///
    /// # Errors
    ///
    /// If stdout cannot be written to. Not if its reader has gone.
    pub fn data(&mut self, text: &str) -> Result<(), Error> {
        self.write(&escape::text(text))
    }

    /// Prints YAML: manifests, a release. It stays valid, and says the same.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data).
    pub fn yaml(&mut self, text: &str) -> Result<(), Error> {
        self.write(&escape::yaml(text))
    }

    /// Prints a program of ours byte by byte: completions for a shell.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data).
    pub fn script(&mut self, text: &str) -> Result<(), Error> {
        self.write(text)
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            // `canary-ctl … | head` is no failure.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => Ok(done?),
        }
    }

    /// Clears the terminal before the next report of a series; does nothing where stdout is none.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data).
    pub fn clear(&mut self) -> Result<(), Error> {
        if io::stdout().is_terminal() { self.write("\u{1b}[H\u{1b}[2J") } else { Ok(()) }
    }

    /// Prints a message to stderr.
    pub fn message(&mut self, text: &str) {
        self.line("", text);
    }

    pub fn hint(&mut self, text: &str) {
        let label = self.painted("hint:", CYAN);
        self.line(&format!("  {label} "), text);
    }

    /// Prints the error that ended a command, with its causes and its hint.
    pub fn error(&mut self, error: &crate::Error) {
        match error {
            _ if self.format == Format::Json => {
                let message = escape::message(&without_numbers(&with_causes(error))).into_owned();
                let body = serde_json::json!({"id": error.id(), "message": message, "hint": error.hint()});
                let line = serde_json::json!({"error": body}).to_string();
                let _unheard = writeln!(self.err, "{}", escape::json(&line));
            }
            crate::Error::Spec(file::Error::Faulty { path, faults }) => {
                self.faults(path, faults);
                error.hint().iter().for_each(|hint| self.hint(hint));
            }
            _ => self.error_with_hint(error, error.hint().as_deref()),
        }
    }

    /// Prints the faults of a file as compilers do, one a line, so that editors can jump there.
    fn faults(&mut self, path: &Path, faults: &[Fault]) {
        let path = path.display().to_string();
        let mut label = self.painted("error:", RED) + " ";
        for Fault { place, message, hint } in faults {
            let text = format!(
                "{label}{}:{place}: {}",
                escape::line(&path),
                escape::message(&escape::line(message))
            );
            let _unheard = writeln!(self.err, "{text}");
            label.clear();
            if let Some(hint) = hint {
                self.hint(hint);
            }
        }
    }

    /// The same for an error of another program that prints like this one.
    pub fn error_with_hint(&mut self, error: &dyn std::error::Error, hint: Option<&str>) {
        self.labelled_error(&with_causes(error));
        if let Some(hint) = hint {
            self.hint(hint);
        }
    }

    /// Prints clap's own words (help, version, a misused command line) and gives its exit code. Of a misused command line
    /// the words are part, so these are escaped, and clap's colours left out.
    pub fn usage(&mut self, error: &clap::Error) -> ExitCode {
        let text = error.render().to_string();
        match text.trim_end().strip_prefix("error: ") {
            Some(text) => self.labelled_error(text),
            None => drop(error.print()),
        }
        u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
    }

    fn labelled_error(&mut self, text: &str) {
        let label = self.painted("error:", RED);
        self.line(&format!("{label} "), text);
    }

    fn painted(&self, text: &str, colour: &str) -> String {
        if self.colour { format!("{colour}{text}{RESET}") } else { text.to_owned() }
    }

    /// Prints a text behind a label of ours. Its further lines are indented, so that none looks like an error or a hint.
    fn line(&mut self, label: &str, text: &str) {
        let text = escape::message(&without_numbers(text)).replace("\n\n", "\n").replace('\n', "\n    ");
        // A closed stderr is ignored: the message cannot be delivered.
        let _unheard = writeln!(self.err, "{label}{text}");
    }
}

/// A text without the numbers of the system's errors: ` (os error 2)`.
fn without_numbers(text: &str) -> Cow<'_, str> {
    let Some((before, after)) = text.split_once(" (os error ") else { return text.into() };
    let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
    match rest.strip_prefix(')') {
        Some(rest) => format!("{before}{}", without_numbers(rest)).into(),
        None => format!("{before} (os error {}", without_numbers(after)).into(),
    }
}

/// An error with its causes, as one text.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        // A transparent error has the same text as its source.
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
