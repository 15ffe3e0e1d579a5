//! `help checks`: the preflight checks, each with its meaning and what to do instead of skipping it.

use crate::hint::alternative_to;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::preflight::PreflightCheck;
use std::fmt::Write as _;

const HEAD: &str = "A preflight check runs before the first write. `--skip-check NAME` skips one, and is
repeatable. `weight 0` and `rollback` take users off the canary whatever the checks
say; `rollback` alone needs a ready pod of stable (`no-ready-pods`).
";

pub(super) fn run(printer: &mut Printer) -> Result<Outcome, Error> {
    printer.data(&page())?;
    Ok(Outcome::Done)
}

fn page() -> String {
    let mut text = HEAD.to_owned();
    for check in PreflightCheck::ALL {
        let _ = write!(text, "\n{check}\n  {}.\n  Instead: {}.\n", check.meaning(), alternative_to(check));
    }
    text
}
