//! A local environment for programs and tests: the same files as those of the command line, without it.

use super::apply::Plan;
use super::{
    Admin, Applied, Bootstrap, EMPTY_ECDS, Entry, Error, Layout, Lock, State, apply, bootstrap, ecds, files,
};
use assignment::FilterConfig;
use canary_release::config::{self, SigningKeys};
use canary_release::moved_users::{Edit, MovedUsers, moved_users};
use canary_release::record::Operation;
use canary_release::spec::{Local, Mode, Release};
use std::path::Path;

/// A directory with everything that a local Envoy needs.
///
/// # Example
/// ```no_run
/// # async fn example() -> Result<(), canary_ctl::Error> {
/// use canary_ctl::local::Environment;
/// let document = canary_release::file::load("canary.yaml".as_ref())?;
/// let environment = Environment::generate(&document.release).await?;
/// // envoy --config-path <environment.layout().bootstrap()>
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Environment {
    layout: Layout,
    local: Local,
}

impl Environment {
    /// Writes all files of a release: keys and state if there are none yet, bootstrap, clusters, routes, filter
    /// configuration. Used by `canary-ctl generate`.
    ///
    /// # Errors
    ///
    /// If the release has another delivery mode.
    pub async fn generate(release: &Release) -> Result<Self, Error> {
        let environment = Self::of(release)?;
        let lock = Lock::take(&environment.layout).await?;
        environment.write_bootstrap(&Bootstrap::new(environment.local.listen, environment.local.admin))?;
        let plan = environment.plan(release)?;
        environment.apply(&lock, &plan).await?;
        Ok(environment)
    }

    /// The directory of a release, whether it exists or not.
    ///
    /// # Errors
    ///
    /// If the release has another delivery mode.
    pub fn of(release: &Release) -> Result<Self, Error> {
        match (&release.delivery.local, release.delivery.mode) {
            (Some(local), Mode::Local) => {
                Ok(Self { layout: Layout::new(&local.directory), local: local.clone() })
            }
            _ => Err(Error::NotLocal),
        }
    }

    /// The files.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    pub const fn admin(&self) -> Admin {
        Admin::new(self.local.admin)
    }

    /// The state as it is on the disk.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds something else. Not if there is none.
    pub fn state(&self) -> Result<State, Error> {
        State::read(&self.layout)
    }

    /// The keys; drawn and written where there are none yet.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, or the system has no randomness.
    pub fn keys(&self) -> Result<SigningKeys, Error> {
        let path = self.layout.keys();
        if let Some(keys) = super::read_own_keys(&path)? {
            return Ok(keys);
        }
        let keys = SigningKeys::draw().map_err(canary_release::config::Error::from)?;
        super::files::create_directory(self.layout.directory())?;
        super::write_keys(&keys, &path)?;
        Ok(keys)
    }

    /// The files with the release as it is written now. Nothing is written but keys, if there are none.
    ///
    /// # Errors
    ///
    /// If state or keys cannot be read, the release contradicts another of the directory, or the filter would refuse it.
    pub fn plan(&self, release: &Release) -> Result<Plan, Error> {
        self.plan_all(&[release])
    }

    /// The same with several releases of the directory: what they share can change only with all of them.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan), or if one of them has another delivery mode.
    pub fn plan_all(&self, releases: &[&Release]) -> Result<Plan, Error> {
        Plan::new(self.state_with(releases)?, &self.keys()?)?.with_modules(releases)
    }

    /// The files without a release. Nothing is written.
    ///
    /// # Errors
    ///
    /// If there is no such release, or state or keys cannot be read.
    pub fn plan_without(&self, release: &str) -> Result<Plan, Error> {
        let mut state = self.state()?;
        let module = state.release(&self.layout, release)?.envoy.module.clone();
        state.remove(release);
        Ok(Plan::new(state, &self.keys()?)?.or_module(module))
    }

    /// The same for a look: keys that are not there yet are not drawn, and nothing is written at all.
    ///
    /// # Errors
    ///
    /// As [`plan_all`](Self::plan_all).
    pub fn dry_plan(&self, releases: &[&Release]) -> Result<Plan, Error> {
        Plan::new(self.state_with(releases)?, &self.keys_if_drawn()?)?.with_modules(releases)
    }

    /// The users whom a plan moves, because a file was edited. Draws no keys.
    ///
    /// # Errors
    ///
    /// If state or keys cannot be read.
    pub fn moved_users(&self, plan: &Plan) -> Result<Vec<MovedUsers>, Error> {
        let deployed = Plan::new(self.state()?, &self.keys_if_drawn()?)?.config;
        let mut all = Vec::new();
        for (release, entry) in &plan.state().releases {
            let edit = Edit {
                release,
                deployed: &deployed,
                edited: Some(&plan.config),
                peak: entry.history.peak_weight(),
                now: u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default(),
            };
            all.extend(moved_users(edit).map_err(config::Error::from)?);
        }
        Ok(all)
    }

    fn keys_if_drawn(&self) -> Result<SigningKeys, Error> {
        if self.layout.keys().exists() { self.keys() } else { Ok(SigningKeys::placeholder()) }
    }

    /// The files with a given state: for changes that are no change of `canary.yaml`.
    ///
    /// # Errors
    ///
    /// If the keys cannot be read, or the filter would refuse the state.
    pub fn plan_of(&self, state: State) -> Result<Plan, Error> {
        Plan::new(state, &self.keys()?)
    }

    fn state_with(&self, releases: &[&Release]) -> Result<State, Error> {
        let mut state = self.state()?;
        for release in releases {
            let local = release.delivery.local.as_ref().ok_or(Error::NotLocal)?;
            let name = release.name.to_string();
            let before = state.releases.get(&name);
            let mut entry = Entry::of(release, local, before)?;
            if before.is_none() {
                entry.state.generation = state.first_generation();
            }
            let from = before.map(|before| before.state.weight).unwrap_or_default();
            entry.append_history(from, Operation::Generate);
            state.releases.insert(name, entry);
        }
        if let Some(first) = releases.first() {
            state.check_shared(&first.name.to_string())?;
        }
        Ok(state)
    }

    /// Writes a plan's files; the lock excludes other writers.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or Envoy does not accept one. The next call continues.
    pub async fn apply(&self, _lock: &Lock, plan: &Plan) -> Result<Applied, Error> {
        apply(&self.layout, plan, &self.admin()).await
    }

    /// Writes a bootstrap. Returns whether it has changed: then Envoy has to be restarted.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub fn write_bootstrap(&self, options: &Bootstrap) -> Result<bool, Error> {
        let text = bootstrap(&self.layout, options)?;
        let path = self.layout.bootstrap();
        if files::read_if_there(&path)?.as_deref() == Some(text.as_str()) {
            return Ok(false);
        }
        files::replace(&path, &text)?;
        Ok(true)
    }

    /// Writes any configuration for the filter, unchecked, past the state: for tests that want broken ones.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_filter_config(
        &self,
        config: &FilterConfig,
        module: &Path,
        version: &str,
    ) -> Result<(), Error> {
        files::replace(&self.layout.ecds(), &ecds(config, module, version)?)
    }

    /// Writes any text as the filter's configuration, JSON or not.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_filter_text(&self, text: &str, module: &Path, version: &str) -> Result<(), Error> {
        files::replace(&self.layout.ecds(), &super::ecds::from_json(text, module, version)?)
    }

    /// Takes the filter's configuration away: an Envoy that starts now finds none.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn remove_filter_config(&self) -> Result<(), Error> {
        files::replace(&self.layout.ecds(), EMPTY_ECDS)
    }
}
