//! Finds the programs that the demo needs: where the arguments say, else where `./x demo` puts them.

use super::Error;
use crate::cli::Demo;
use std::path::{Path, PathBuf};

/// The programs and the module.
#[derive(Clone, Debug)]
pub struct Programs {
    /// This program.
    pub canary_ctl: PathBuf,
    /// Envoy's binary.
    pub envoy: PathBuf,
    /// The filter's module.
    pub filter: PathBuf,
    /// The demo shop's binary.
    pub shop: PathBuf,
}

/// Where `tools/envoy.sh` installs, one folder a minor version.
const ENVOYS: &str = ".tools/envoy";

impl Programs {
    /// Finds everything, as absolute paths. Fails with the first that is missing, and where it was looked for.
    pub fn find(arguments: &Demo) -> Result<Self, Error> {
        let canary_ctl = std::env::current_exe()
            .map_err(|source| Error::Process { program: "canary-ctl".to_owned(), source })?;
        let beside = canary_ctl.parent().unwrap_or(Path::new(".")).to_owned();
        let module = Path::new("wasm/canary_filter.wasm");
        let filters = vec![beside.join("..").join(module), Path::new("target").join(module)];
        Ok(Self {
            envoy: first("an Envoy", "--envoy", arguments.envoy.as_ref(), envoys())?,
            filter: first("the filter's module", "--filter", arguments.filter.as_ref(), filters)?,
            shop: first("the demo shop", "--shop", arguments.shop.as_ref(), vec![beside.join("demo-shop")])?,
            canary_ctl,
        })
    }
}

fn first(
    what: &'static str,
    argument: &'static str,
    given: Option<&PathBuf>,
    usual: Vec<PathBuf>,
) -> Result<PathBuf, Error> {
    let looked_at = given.map_or(usual, |path| vec![path.clone()]);
    match looked_at.iter().find_map(|path| path.canonicalize().ok().filter(|path| path.is_file())) {
        Some(path) => Ok(path),
        None => Err(Error::Missing { what, looked_at, argument }),
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
        assert!(minor(Path::new(".tools/envoy/1.40/envoy")) > minor(Path::new(".tools/envoy/1.9/envoy")));
        assert_eq!(minor(Path::new("/usr/bin/envoy")), None);
    }

    #[test]
    fn what_is_named_and_missing_is_not_looked_for_elsewhere() {
        let named = PathBuf::from("/nowhere/envoy");
        let error = first("an Envoy", "--envoy", Some(&named), vec![PathBuf::from("/bin/sh")]).unwrap_err();
        assert_eq!(error.to_string(), "cannot find an Envoy: looked at /nowhere/envoy");
        assert!(error.hint().unwrap().contains("./x demo"));
    }
}
