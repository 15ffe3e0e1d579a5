//! Writes Envoy's files, in an order in which every state between is safe.
//!
//! ```text
//! state.json   what is going to be: never less than what the proxy may already do
//! cds.yaml     new clusters beside those that leave        wait
//! rds.yaml     new routes beside those that leave          wait
//! module       an embedded one, as a file: Envoy reads it with the next configuration
//! ecds.yaml    the filter's configuration                     wait, if something leaves
//! rds.yaml     without the routes that leave               wait
//! cds.yaml     without the clusters that leave
//! ```
//!
//! Nothing is waited for where no Envoy runs: it will read the last files at its start. Killed anywhere, the next call
//! begins again from `state.json`; what leaves is found in the files that are in force.

use super::stats::Discovery;
use super::wait::until;
use super::{Admin, Error, Layout, State, clusters, ecds, files, routes};
use assignment::FilterConfig;
use canary_release::EmbeddedModule;
use canary_release::config::{SigningKeys, filter_config};
use canary_release::spec::{Module, Release, ReleaseName};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that is going to be written, made before the first write.
#[derive(Debug)]
pub struct Plan {
    state: State,
    revision: u64,
    /// The filter's configuration, keys included.
    pub config: FilterConfig,
    clusters: BTreeMap<String, Value>,
    hosts: Vec<Value>,
    module: std::path::PathBuf,
    /// The next content of the module's file, if it is ours to write.
    embedded: Option<EmbeddedModule>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Whether an Envoy is running.
    pub running: bool,
    /// [`super::Stats::refusals`] before the write, for [`super::wait_for_generation`].
    pub refusals: u64,
}

/// The time for clusters, routes and a generation in Envoy: first health checks are part of it.
const TIMEOUT: Duration = Duration::from_secs(15);

impl Plan {
    /// Computes all files of a state. Writes nothing.
    ///
    /// # Errors
    ///
    /// If the filter would refuse the configuration.
    pub fn new(state: State, keys: &SigningKeys) -> Result<Self, Error> {
        let Some(envoy) = state.envoy()?.cloned() else {
            let (config, module) = (FilterConfig::empty(), std::path::PathBuf::new());
            let (clusters, hosts) = (BTreeMap::new(), Vec::new());
            return Ok(Self { revision: 0, config, clusters, hosts, module, embedded: None, state });
        };
        let named = |(name, entry): (&String, &super::Entry)| {
            Some((name.parse::<ReleaseName>().ok()?, entry.filter_config()))
        };
        let releases = state.releases.iter().filter_map(named).collect();
        Ok(Self {
            revision: state.releases.values().map(|entry| entry.state.generation).sum(),
            config: filter_config(&envoy.settings(), keys, releases)?,
            clusters: clusters::clusters(&state)?,
            hosts: routes::virtual_hosts(&state)?,
            module: envoy.module,
            embedded: None,
            state,
        })
    }

    /// The same; where no release is left the filter keeps this module, and its configuration has no release.
    #[must_use]
    pub(super) fn or_module(mut self, module: std::path::PathBuf) -> Self {
        if self.state.releases.is_empty() {
            self.module = module;
        }
        self
    }

    /// The same with the module that releases embed: it becomes a file, before the configuration that names it.
    ///
    /// # Errors
    ///
    /// If one of them embeds a module, and there is none.
    pub(super) fn with_modules(mut self, releases: &[&Release]) -> Result<Self, Error> {
        for release in releases {
            if let Module::Embedded(module) = &release.delivery.module {
                self.embedded = Some(module.clone().ok_or(Error::NoModule)?);
            }
        }
        Ok(self)
    }

    /// The state that is going to be.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The generation that a release is going to have; 0 for one that is not part of the plan.
    pub fn generation(&self, release: &ReleaseName) -> u64 {
        self.state.releases.get(&release.to_string()).map_or(0, |entry| entry.state.generation)
    }

    /// The resulting files, by name, without keys: for `--dry-run`.
    ///
    /// # Errors
    ///
    /// If a file cannot be written as YAML, which no plan has caused yet.
    pub fn preview(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let version = self.revision.to_string();
        let redacted = canary_release::manifest::redacted(&self.config);
        Ok(vec![
            ("cds.yaml", clusters::cds(&self.clusters, &version)?),
            ("rds.yaml", routes::rds(&self.hosts, &version)?),
            ("ecds.yaml", ecds::from_json(&redacted, &self.module, &version)?),
        ])
    }
}

/// Executes a plan. If it fails, the next call continues.
///
/// # Errors
///
/// If a file cannot be written, or Envoy does not accept one.
pub async fn apply(layout: &Layout, plan: &Plan, admin: &Admin) -> Result<Applied, Error> {
    let before = admin.stats().await.ok();
    let writer = Writer { layout, plan, admin: before.is_some().then_some(admin) };
    let clusters_in_force =
        files::read_if_there(&layout.clusters())?.map(|text| clusters::in_force(&text)).unwrap_or_default();
    let hosts_in_force =
        files::read_if_there(&layout.routes())?.map(|text| routes::in_force(&text)).unwrap_or_default();
    let mut wide = clusters_in_force.clone();
    wide.extend(plan.clusters.clone());
    let wide_hosts = routes::with_leaving(&plan.hosts, &hosts_in_force, &wide);
    let leaves = wide != plan.clusters || wide_hosts != plan.hosts;
    let version = plan.revision.to_string();
    let between = format!("{version}+");

    plan.state.write(layout)?;
    writer.clusters(&clusters_in_force, &wide, if leaves { &between } else { &version }).await?;
    writer.routes(&hosts_in_force, &wide_hosts, if leaves { &between } else { &version }).await?;
    if let Some(module) = &plan.embedded {
        files::replace_for(files::Readers::Everyone, &layout.module(), module.bytes())?;
    }
    files::replace(&layout.ecds(), &ecds::ecds(&plan.config, &plan.module, &version)?)?;
    let refusals = before.as_ref().map(super::Stats::refusals).unwrap_or_default();
    if leaves {
        writer.every_generation(refusals).await?;
        writer.routes(&wide_hosts, &plan.hosts, &version).await?;
        writer.clusters(&wide, &plan.clusters, &version).await?;
    }
    Ok(Applied { running: before.is_some(), refusals })
}

/// Writes one file and waits for it, where there is an Envoy to wait for.
struct Writer<'a> {
    layout: &'a Layout,
    plan: &'a Plan,
    admin: Option<&'a Admin>,
}

impl Writer<'_> {
    async fn clusters(
        &self,
        from: &BTreeMap<String, Value>,
        to: &BTreeMap<String, Value>,
        version: &str,
    ) -> Result<(), Error> {
        if from == to && self.layout.clusters().exists() {
            return Ok(());
        }
        files::replace(&self.layout.clusters(), &clusters::cds(to, version)?)?;
        self.wait_until_taken(Discovery::Clusters, "the clusters", version).await
    }

    async fn routes(&self, from: &[Value], to: &[Value], version: &str) -> Result<(), Error> {
        if from == to && self.layout.routes().exists() {
            return Ok(());
        }
        files::replace(&self.layout.routes(), &routes::rds(to, version)?)?;
        self.wait_until_taken(Discovery::Routes, "the routes", version).await
    }

    async fn wait_until_taken(
        &self,
        discovery: Discovery,
        what: &'static str,
        version: &str,
    ) -> Result<(), Error> {
        let Some(admin) = self.admin else { return Ok(()) };
        let before = admin.stats().await?.rejections(discovery);
        until(admin, what, TIMEOUT, |stats| {
            let count = stats.rejections(discovery).saturating_sub(before);
            match stats.version(discovery) {
                Some(found) if found == version && stats.warming() == 0 => Ok(Some(())),
                _ if count > 0 => Err(Error::Refused { what, count }),
                _ => Ok(None),
            }
        })
        .await
    }

    async fn every_generation(&self, refusals: u64) -> Result<(), Error> {
        let Some(admin) = self.admin else { return Ok(()) };
        for (name, entry) in &self.plan.state.releases {
            super::wait_for_generation(admin, name, entry.state.generation, refusals, TIMEOUT).await?;
        }
        Ok(())
    }
}
