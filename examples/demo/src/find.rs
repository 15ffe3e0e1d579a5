//! Finds the programs that the demo needs: where the arguments say, else where `./x demo` puts them.

use crate::cli::Cli;
use crate::error::Error;
use std::path::{Path, PathBuf};

/// The programs and the module, as absolute paths.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) canary_ctl: PathBuf,
    pub(crate) envoy: PathBuf,
    pub(crate) filter: PathBuf,
    pub(crate) shop: PathBuf,
}

/// Where `tools/envoy.sh` installs, one folder a minor version.
const ENVOYS: &str = ".tools/envoy";

impl Programs {
    /// Finds all of them.
    ///
    /// # Errors
    /// The first that is missing, with the paths that were tried.
    pub(crate) fn find(arguments: &Cli) -> Result<Self, Error> {
        let this = std::env::current_exe()
            .map_err(|source| Error::Process { program: "demo".to_owned(), source })?;
        let beside = this.parent().unwrap_or(Path::new("."));
        let module = Path::new("wasm/canary_filter.wasm");
        let filters = vec![beside.join("..").join(module), Path::new("target").join(module)];
        let tools = vec![beside.join("canary-ctl")];
        Ok(Self {
            envoy: first("an Envoy", "--envoy", arguments.envoy.as_ref(), envoys())?,
            filter: first("the filter's module", "--filter", arguments.filter.as_ref(), filters)?,
            shop: first("the demo shop", "--shop", arguments.shop.as_ref(), vec![beside.join("demo-shop")])?,
            canary_ctl: first("canary-ctl", "--canary-ctl", arguments.canary_ctl.as_ref(), tools)?,
        })
    }
}

fn first(
    what: &'static str,
    argument: &'static str,
    given: Option<&PathBuf>,
    defaults: Vec<PathBuf>,
) -> Result<PathBuf, Error> {
    let tried = given.map_or(defaults, |path| vec![path.clone()]);
    match tried.iter().find_map(|path| path.canonicalize().ok().filter(|path| path.is_file())) {
        Some(path) => Ok(path),
        None => Err(Error::Missing { what, tried, argument }),
    }
}

/// Installed ones, newest first, then those of the PATH.
fn envoys() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(ENVOYS).into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = entries.map(|entry| entry.path().join("envoy")).collect();
    installed.sort_by_key(|path| std::cmp::Reverse(minor(path)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    installed.extend(std::env::split_paths(&path).map(|folder| folder.join("envoy")));
    installed
}

/// The minor version of `…/1.40/envoy`.
fn minor(path: &Path) -> Option<u32> {
    path.parent()?.file_name()?.to_str()?.split('.').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envoy_1_40_is_newer_than_1_9() {
        let [newer, older] =
            [".tools/envoy/1.40/envoy", ".tools/envoy/1.9/envoy"].map(|path| minor(Path::new(path)));
        assert!(newer > older, "{newer:?} {older:?}");
        assert_eq!(minor(Path::new("/usr/bin/envoy")), None);
    }

    #[test]
    fn a_given_path_that_is_missing_is_not_replaced_by_a_default() {
        let given = PathBuf::from("/nowhere/envoy");
        let error = first("an Envoy", "--envoy", Some(&given), vec![PathBuf::from("/bin/sh")]).unwrap_err();
        assert_eq!(error.to_string(), "cannot find an Envoy: tried /nowhere/envoy");
        let hint = error.hint().unwrap();
        assert!(hint.contains("./x demo"), "{hint}");
    }
}
