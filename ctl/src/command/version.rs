//! `version`: this tool, the module that it carries, and what the proxies of a release run.

use super::arguments::{ClusterAccess, Output, ReleaseArguments, SpecFile};
use super::named_release::{self, InvalidFile};
use super::target;
use crate::report::{Printer, Report};
use crate::{Error, Outcome, module};
use canary_release::delivery::ModuleSource;
use canary_release::object::Reference;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Print the version of this tool and its module, and what proxies run
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl version -o json
  canary-ctl version shop/shop  the modules of this release, and its proxies")]
pub(super) struct Version {
    #[command(flatten)]
    pub(super) of: ReleaseArguments,
    #[command(flatten)]
    pub(super) cluster: ClusterAccess,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Clone, Debug, Serialize)]
struct Versions {
    client: &'static str,
    /// The digest of the module; `None` in a tool that was built without one.
    module: Option<String>,
    /// The proxies of the release that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    proxies: Option<Proxies>,
}

/// The modules of a release, and how many of its proxies run them.
#[derive(Clone, Debug, Serialize)]
struct Proxies {
    release: String,
    /// By object: the digest of an embedded module, else its address.
    modules: BTreeMap<String, String>,
    generation: u64,
    /// The proxies that run this generation.
    running: usize,
    all: usize,
}

pub(super) async fn run(arguments: &Version, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let proxies = if is_named(&arguments.of) {
        Some(Proxies::of(arguments).await?)
    } else {
        refuse_flags(&arguments.cluster)?;
        None
    };
    let module = module::carried().map(|module| module.digest().to_string());
    printer.report(&Versions { client: env!("CARGO_PKG_VERSION"), module, proxies })?;
    Ok(Outcome::Done)
}

fn is_named(of: &ReleaseArguments) -> bool {
    of.asked().is_some() || of.spec.file != Path::new(SpecFile::DEFAULT)
}

/// Refuses flags of a cluster for a call that asks none.
fn refuse_flags(access: &ClusterAccess) -> Result<(), Error> {
    let flag = access.connection.flag_of_cluster().or(access.namespace.as_ref().map(|_| "-n"));
    let Some(flag) = flag else { return Ok(()) };
    let message = format!("expected the name of a release beside `{flag}`, found none");
    Err(Error::usage(message, "`canary-ctl version NAMESPACE/NAME` asks the cluster what its proxies run"))
}

impl Proxies {
    async fn of(arguments: &Version) -> Result<Self, Error> {
        let found = named_release::find(&arguments.of, &arguments.cluster, InvalidFile::Ignored)?;
        found.document.as_ref().map_or(Ok(()), target::for_a_cluster)?;
        let cluster = target::connect(&arguments.cluster).await?;
        let named = target::config_objects(found.document.as_ref())?;
        let record = cluster.show_record(&found.name, &named).await?.record;
        let release = found.name.to_string();
        let proxies = cluster.proxies(&release, &record).await?;
        let desired = record.state.release_generation();
        let texts = |(object, module): (Reference, ModuleSource)| (object.to_string(), module.to_string());
        Ok(Self {
            release,
            modules: cluster.modules(&record).await?.into_iter().map(texts).collect(),
            generation: desired.generation,
            running: proxies.iter().filter(|proxy| proxy.runs(desired)).count(),
            all: proxies.len(),
        })
    }
}

impl Report for Versions {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "canary-ctl {}", self.client)?;
        writeln!(out, "module {}", self.module.as_deref().unwrap_or("none"))?;
        let Some(Proxies { release, modules, generation, running, all }) = &self.proxies else {
            return Ok(());
        };
        for (object, module) in modules {
            let same = if self.module.as_ref() == Some(module) { " (the same)" } else { "" };
            writeln!(out, "{object}: module {module}{same}")?;
        }
        writeln!(out, "{release}: {running} of {all} proxies run generation {generation}")
    }
}
