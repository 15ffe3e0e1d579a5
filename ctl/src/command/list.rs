//! `list`: read the records, report.

use super::arguments::Connection;
use crate::hint::ShellCommand;
use crate::report::{Format, Printer, Report, Table};
use crate::{Error, Outcome};
use canary_operations::{Cluster, ListedRelease, WriteOptions};
use canary_release::record::Record;
use canary_release::spec::{Label, ReleaseName};
use canary_release::status::{Condition, ReleaseSummary};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// List the releases of a cluster
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl list    in all namespaces in which ConfigMaps may be listed
  canary-ctl list -n shop -n blog
  canary-ctl list -o json | jq -r '.releases[] | select(.effective > 0).release'

It lists what the records say. `canary-ctl status NAMESPACE/NAME` observes one
release, with its problems.")]
pub(super) struct List {
    /// A namespace; can be repeated (default: all)
    #[arg(short, long = "namespace", value_name = "NAMESPACE")]
    pub(super) namespaces: Vec<Label>,
    /// All namespaces, as without `--namespace`
    #[arg(short = 'A', long, conflicts_with = "namespaces")]
    pub(super) all_namespaces: bool,
    #[command(flatten)]
    pub(super) connection: Connection,
    /// The form of the result
    #[arg(short = 'o', long = "output", value_name = "FORMAT", value_enum, default_value_t)]
    pub(super) format: ListFormat,
}

/// The form of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ListFormat {
    /// A table.
    #[default]
    Text,
    /// The same table.
    Wide,
    /// The names alone, one a line.
    Name,
    /// For programs.
    Json,
    /// For programs, and for people who like it.
    Yaml,
}

/// The releases of a cluster.
#[derive(Debug, Serialize)]
struct Releases {
    releases: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    release: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    summary: Option<ReleaseSummary>,
    /// The reason why its record cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) async fn run(arguments: &List, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = match arguments.format {
        ListFormat::Json => Format::Json,
        ListFormat::Yaml => Format::Yaml,
        ListFormat::Text | ListFormat::Wide | ListFormat::Name => Format::Text,
    };
    let cluster = Cluster::connect(&arguments.connection.access(), WriteOptions::default()).await?;
    let now = Timestamp::now();
    let namespaces: Vec<String> = if arguments.all_namespaces {
        Vec::new()
    } else {
        arguments.namespaces.iter().map(ToString::to_string).collect()
    };
    let rows = cluster.verified_releases(&namespaces).await?.into_iter().map(|found| {
        let ListedRelease { name, record, trust } = found;
        let (summary, error) = match record {
            Ok(record) => (Some(ReleaseSummary::of(&record, now).with_trust(&trust)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Row { release: name.to_string(), summary, error }
    });
    let mut releases: Vec<Row> = rows.collect();
    for (name, record) in cluster.releases_without_record(&namespaces).await? {
        let row = Row::without_record(&name, &record, now);
        printer.hint(&format!(
            "{name} has no record: {} takes it out of the proxies, `canary-ctl apply` of its file writes the record again",
            ShellCommand::new("canary-ctl uninstall -r").name(&name.to_string(), "NAMESPACE/NAME")
        ));
        releases.push(row);
    }
    if releases.is_empty() {
        printer.message("no releases found");
    }
    if arguments.format == ListFormat::Name {
        printer.data(&releases.iter().flat_map(|row| [row.release.as_str(), "\n"]).collect::<String>())?;
        return Ok(Outcome::Done);
    }
    printer.report(&Releases { releases })?;
    Ok(Outcome::Done)
}

impl Report for Releases {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        if self.releases.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(["RELEASE", "STABLE", "CANARY", "WEIGHT", "GENERATION", "CONDITIONS"]);
        for row in &self.releases {
            table.row(row.cells());
        }
        write!(out, "{table}")
    }
}

impl Row {
    /// Of a release that the proxies have, and whose record was deleted.
    fn without_record(
        name: &ReleaseName,
        record: &Result<Record, canary_operations::Error>,
        now: Timestamp,
    ) -> Self {
        let (mut summary, mut error) = (None, None);
        match record {
            Ok(record) => {
                let mut found = ReleaseSummary::of(record, now);
                found.conditions.insert(0, Condition::NoRecord);
                summary = Some(found);
            }
            Err(found) => error = Some(format!("no record; {found}")),
        }
        Self { release: name.to_string(), summary, error }
    }

    fn cells(&self) -> [String; 6] {
        let release = self.release.clone();
        let Some(summary) = &self.summary else {
            let none = || "-".to_owned();
            return [release, none(), none(), none(), none(), self.error.clone().unwrap_or_default()];
        };
        let canary = summary.canary.clone().unwrap_or_else(|| "-".to_owned());
        let draining = summary.draining.iter().map(|version| format!("{version} drains"));
        let conditions: Vec<String> =
            summary.conditions.iter().map(ToString::to_string).chain(draining).collect();
        let weight = if summary.weight == summary.effective {
            summary.weight.to_string()
        } else {
            format!("{} (of {})", summary.effective, summary.weight)
        };
        [
            release,
            summary.stable.clone(),
            canary,
            weight,
            summary.generation.to_string(),
            conditions.join(", "),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_release_is_a_line_with_the_weight_in_force() {
        let summary = ReleaseSummary {
            stable: "v1".to_owned(),
            canary: Some("v2".to_owned()),
            draining: vec!["v0".to_owned()],
            weight: "20".parse().unwrap(),
            effective: "0".parse().unwrap(),
            generation: 7,
            conditions: vec![Condition::WeightExpired],
        };
        let row = |release: &str, summary, error| Row { release: release.to_owned(), summary, error };
        let rows =
            vec![row("blog/blog", None, Some("newer".to_owned())), row("shop/shop", Some(summary), None)];
        let mut text = String::new();
        Releases { releases: rows }.text(&mut text).unwrap();
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let expected = [
            "RELEASE STABLE CANARY WEIGHT GENERATION CONDITIONS",
            "blog/blog - - - - newer",
            "shop/shop v1 v2 0% (of 20%) 7 weight expired, v0 drains",
        ];
        assert_eq!(lines, expected);
    }
}
