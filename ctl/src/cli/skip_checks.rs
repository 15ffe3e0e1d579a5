//! Which preflight checks are skipped.

use canary_release::preflight::PreflightCheck;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Which preflight checks are skipped.
#[derive(Clone, Debug, Default, Args)]
pub struct SkipChecks {
    /// Skip this preflight check; can be repeated
    #[arg(long = "skip-check", value_name = "CHECK", value_parser = check())]
    pub skipped: Vec<PreflightCheck>,
}

/// Reads the name of a check. Help lists them with their meaning.
fn check() -> impl TypedValueParser<Value = PreflightCheck> {
    let names = PreflightCheck::ALL.map(|check| PossibleValue::new(check.name()).help(check.meaning()));
    PossibleValuesParser::new(names).try_map(|name| {
        PreflightCheck::ALL.into_iter().find(|check| check.name() == name).ok_or("no such preflight check")
    })
}
