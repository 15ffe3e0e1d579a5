//! `doctor`: examine, find, report; exit code 1 where an error is found.

use super::arguments::{ClusterAccess, Output, SpecFile};
use super::target;
use crate::hint::{Hint as _, missing_rights};
use crate::report::{Printer, Report, Table, with_causes};
use crate::{Error, Outcome};
use canary_operations::Diagnosis;
use canary_release::doctor::{
    Area, ClusterFinding, ControlPlane, Examination, ProxyExamination, Severity, findings,
};
use canary_release::format::counted;
use canary_release::spec::Release;
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Report every problem of a release and its cluster, without a write
#[derive(Clone, Debug, Args)]
#[command(after_help = "It checks the Service and its pods; the Gateways with their pods, hosts and
protocol; the rights of the user; what the API server says to every object, by
dry runs; the proxies (metrics, V8, versions of Istio); and the signing keys.
It works before the first `apply` and after it.

Exit codes: 0 no error found, 1 an error was found, 2 failed.

Examples:
  canary-ctl doctor
  canary-ctl doctor -f shop.yaml --context staging
  canary-ctl doctor -o json | jq '.findings[] | select(.severity == \"error\").id'")]
pub(super) struct Doctor {
    #[command(flatten)]
    pub(super) spec: SpecFile,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

/// The findings about a release and its cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DoctorReport {
    release: String,
    installed: Option<bool>,
    findings: Vec<Row>,
    proxies: Vec<ProxyExamination>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control_plane: Option<ControlPlane>,
}

/// The identifier of an error that kept something from being read.
const NOT_READ: &str = "not-read";

#[derive(Debug, Serialize)]
struct Row {
    /// The identifier by which scripts know it.
    id: &'static str,
    severity: Severity,
    area: Area,
    /// The preflight check that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'static str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(super) async fn run(arguments: &Doctor, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = target::load_for(&arguments.spec, &arguments.cluster)?;
    let cluster = target::connect(&arguments.cluster).await?;
    let diagnosis = cluster.diagnose(&document.release).await;
    let found = DoctorReport::of(&document.release, cluster.user(), diagnosis);
    printer.report(&found)?;
    Ok(if found.count(Severity::Error) > 0 { Outcome::Differences } else { Outcome::Done })
}

impl DoctorReport {
    fn of(release: &Release, user: &str, diagnosis: Diagnosis) -> Self {
        let Diagnosis { examination, errors } = diagnosis;
        let found = findings(release, &examination);
        let lacks_rights =
            found.iter().any(|finding| matches!(finding, ClusterFinding::MissingRights { .. }));
        // What was not read for want of a right is explained by that finding.
        let is_news = |error: &canary_operations::Error| {
            !(lacks_rights && matches!(error, canary_operations::Error::Forbidden { .. }))
        };
        let errors = errors.into_iter().filter(|(_, error)| is_news(error)).map(|(area, error)| Row {
            id: NOT_READ,
            severity: Severity::Error,
            area,
            check: None,
            message: with_causes(&error),
            hint: error.hint(),
        });
        let rows = errors.chain(found.iter().map(|finding| Row::of(finding, user)));
        let Examination { is_installed, proxies, control_plane, .. } = examination;
        Self {
            release: release.name.to_string(),
            installed: is_installed,
            findings: rows.collect(),
            proxies: proxies.unwrap_or_default(),
            control_plane,
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|row| row.severity == severity).count()
    }
}

impl Row {
    fn of(finding: &ClusterFinding, user: &str) -> Self {
        let hint = match finding {
            ClusterFinding::MissingRights { missing } => Some(missing_rights(user, missing)),
            other => other.hint(),
        };
        let check = match finding {
            ClusterFinding::CheckFails(failed) => Some(failed.check.name()),
            _ => None,
        };
        let (id, severity, area) = (finding.id(), finding.severity(), finding.area());
        Self { id, severity, area, check, message: finding.to_string(), hint }
    }
}

impl Report for DoctorReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for Row { severity, check, message, hint, .. } in &self.findings {
            let name = match severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "info",
            };
            let check = check.map(|check| format!(" ({check})")).unwrap_or_default();
            writeln!(out, "{name}: {message}{check}")?;
            if let Some(hint) = hint {
                writeln!(out, "  hint: {hint}")?;
            }
        }
        if !self.proxies.is_empty() {
            let mut table = Table::new(["PROXY", "ISTIO", "V8"]);
            for ProxyExamination { namespace, pod, istio, wasm_runtime, .. } in &self.proxies {
                let istio = istio.clone().unwrap_or_else(|| "-".to_owned());
                table.row([format!("{namespace}/{pod}"), istio, format!("{wasm_runtime:?}").to_lowercase()]);
            }
            writeln!(out, "{table}")?;
        }
        match &self.control_plane {
            Some(ControlPlane::Istiods(istiods)) => {
                istiods.iter().try_for_each(|istiod| writeln!(out, "istiod: {istiod}"))?;
            }
            Some(ControlPlane::Unknown(why)) => writeln!(out, "istiod: unknown ({why})")?,
            None => {}
        }
        let errors = counted(self.count(Severity::Error) as u64, "error", "errors");
        let warnings = counted(self.count(Severity::Warning) as u64, "warning", "warnings");
        writeln!(out, "{}: {errors}, {warnings}", self.release)
    }
}
