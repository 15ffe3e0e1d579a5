//! One Envoy on the files that `canary-ctl` makes, and the verbs that change them.

use canary_release::file;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assignment::{FilterConfig, Weight};
use canary_ctl::local::{Bootstrap, Environment, Filter, Lock, Plan, wait_for_generation};
use canary_release::config::SigningKeys;
use canary_release::record::Operation;
use canary_release::spec::Release;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::document::Document;
use super::error::ScenarioError;
use super::pods::Pods;
use super::signer::Signer;
use browser::{Connection, User};
use envoy_kit::{Admin, Envoy, EnvoyBinary, Options, free_ports};
use programs::artifact;

/// The default host of releases.
pub const HOST: &str = "shop.example.com";

/// Longer than any change takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What a fixture is made of.
#[derive(Clone, Debug)]
pub struct EnvoySetup {
    pub documents: Vec<Document>,
    /// Whether the filter is in the chain.
    pub filter: Filter,
    /// What Envoy finds of the filter's configuration at its start.
    pub initial_config: InitialConfig,
    /// Changes the bootstrap before Envoy reads it. The folder is the fixture's.
    pub bootstrap: fn(&mut Value, &Path),
    /// Keys that several Envoys share; drawn where there are none.
    pub keys: Option<SigningKeys>,
    /// How Envoy is started.
    pub options: Options,
}

/// What Envoy finds of the filter's configuration at its start.
#[derive(Clone, Debug, Default)]
pub enum InitialConfig {
    /// What `canary-ctl generate` wrote.
    #[default]
    Generated,
    /// No resource: it has not arrived yet.
    Nothing,
    /// Our module with another text.
    Text(&'static str),
    /// Another module with the same text.
    Module(PathBuf),
}

impl EnvoySetup {
    /// The fixture of these releases.
    pub fn of(documents: impl IntoIterator<Item = Document>) -> Self {
        let documents = documents.into_iter().collect();
        let (filter, initial_config, options) =
            (Filter::Installed, InitialConfig::default(), Options::default());
        Self { documents, filter, initial_config, bootstrap: |_, _| (), keys: None, options }
    }
}

/// A running fixture. Dropping it ends its Envoy.
#[derive(Debug)]
pub struct EnvoyFixture {
    pub envoy: Envoy,
    /// The local target's files.
    pub environment: Environment,
    documents: Vec<Document>,
    module: PathBuf,
    listener: SocketAddr,
    directory: TempDir,
}

impl EnvoyFixture {
    /// Writes everything that `canary-ctl generate` would, and starts Envoy on it.
    pub async fn start(binary: &EnvoyBinary, setup: EnvoySetup, pods: &Pods) -> Result<Self, ScenarioError> {
        let files = Files::write(setup.documents, pods, setup.keys.as_ref()).await?;
        let bootstrap = Bootstrap { filter: setup.filter, ..Bootstrap::new(files.listener, files.admin) };
        files.environment.write_bootstrap(&bootstrap)?;
        files.edit_bootstrap(setup.bootstrap)?;
        files.write_initial_config(&setup.initial_config)?;
        let path = files.environment.layout().bootstrap();
        let envoy = Envoy::start(binary, &path, files.admin, &setup.options).await?;
        let Files { environment, documents, module, listener, directory, .. } = files;
        Ok(Self { envoy, environment, documents, module, listener, directory })
    }

    /// The listener for users.
    pub fn listener(&self) -> SocketAddr {
        self.listener
    }

    /// The folder that the files are in.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Envoy's admin interface.
    pub fn admin(&self) -> &Admin {
        self.envoy.admin()
    }

    /// A browser without cookies, over HTTP/1.1. The listener stands for one behind TLS.
    pub fn user(&self) -> User {
        User::http1(self.listener, HOST).as_if_tls()
    }

    /// So many of them.
    pub fn users(&self, count: usize) -> Vec<User> {
        (0..count).map(|_| self.user()).collect()
    }

    /// A connection to this Envoy, for a user of another one.
    pub fn connection(&self) -> Connection {
        Connection::http1(self.listener)
    }

    /// Gives the canary of a release another share, in percent; answers how long it took from the write until a worker
    /// ran it.
    pub async fn weight(&self, release: &str, percent: &str) -> Result<Duration, ScenarioError> {
        let weight: Weight = percent.parse().map_err(|_| ScenarioError::Weight(percent.to_owned()))?;
        let begun = Instant::now();
        let lock = Lock::take(self.environment.layout()).await?;
        let mut state = self.environment.state()?;
        let entry = state.releases.get_mut(release);
        entry.ok_or_else(|| ScenarioError::UnknownRelease(release.to_owned()))?.set_weight(
            weight,
            None,
            Operation::Weight,
        );
        let plan = self.environment.plan_of(state)?;
        self.carry_out(&lock, &plan, release).await?;
        Ok(begun.elapsed())
    }

    /// The `canary.yaml` of a release, as it was written last.
    pub fn document(&self, release: &str) -> Result<&Document, ScenarioError> {
        let found = self.documents.iter().find(|document| document.name() == release);
        found.ok_or_else(|| ScenarioError::UnknownRelease(release.to_owned()))
    }

    /// Edits the `canary.yaml` of a release and generates all files again; returns how long it took, as
    /// [`EnvoyFixture::weight`].
    pub async fn edit(
        &mut self,
        release: &str,
        edit: impl FnOnce(&mut Document),
    ) -> Result<Duration, ScenarioError> {
        let begun = Instant::now();
        let document = self.documents.iter_mut().find(|document| document.name() == release);
        let document = document.ok_or_else(|| ScenarioError::UnknownRelease(release.to_owned()))?;
        edit(document);
        let written = load(self.directory.path(), document)?;
        // As a call of the command line would: its endpoints are those of the file as it is now.
        self.environment = Environment::of(&written)?;
        let lock = Lock::take(self.environment.layout()).await?;
        let plan = self.environment.plan(&written)?;
        self.carry_out(&lock, &plan, release).await?;
        Ok(begun.elapsed())
    }

    /// Takes a release out of the directory, as `canary-ctl uninstall`. Waits for nothing: no proxy reports that it is gone.
    pub async fn remove(&self, release: &str) -> Result<(), ScenarioError> {
        let lock = Lock::take(self.environment.layout()).await?;
        let plan = self.environment.plan_without(release)?;
        self.environment.apply(&lock, &plan).await?;
        Ok(())
    }

    async fn carry_out(&self, lock: &Lock, plan: &Plan, release: &str) -> Result<(), ScenarioError> {
        let applied = self.environment.apply(lock, plan).await?;
        let generation = plan.state().releases.get(release).map_or(0, |entry| entry.state.generation);
        let admin = self.environment.admin();
        wait_for_generation(&admin, release, generation, applied.refusals, TIMEOUT).await?;
        Ok(())
    }

    /// The configuration that the filter has been given, keys included.
    pub fn config(&self) -> Result<FilterConfig, ScenarioError> {
        Ok(self.environment.plan_of(self.environment.state()?)?.config)
    }

    /// Gives the filter any configuration, unchecked. `version` is what Envoy calls it. Waits for nothing.
    pub fn push(&self, config: &FilterConfig, version: &str) -> Result<(), ScenarioError> {
        Ok(self.environment.write_filter_config(config, &self.module, version)?)
    }

    /// Gives the filter any text. Waits for nothing.
    pub fn push_text(&self, text: &str, version: &str) -> Result<(), ScenarioError> {
        Ok(self.environment.write_filter_text(text, &self.module, version)?)
    }

    /// Signs for a release as `canary-ctl token` and the filter do.
    pub fn signer(&self, release: &str) -> Result<Signer, ScenarioError> {
        let state = self.environment.state()?;
        let entry = state.releases.get(release);
        let entry = entry.ok_or_else(|| ScenarioError::UnknownRelease(release.to_owned()))?;
        Ok(Signer::new(&self.environment.keys()?.keys, &entry.state.uid)?)
    }
}

/// Everything on the disk, before there is an Envoy.
struct Files {
    environment: Environment,
    documents: Vec<Document>,
    module: PathBuf,
    listener: SocketAddr,
    admin: SocketAddr,
    directory: TempDir,
}

impl Files {
    async fn write(
        mut documents: Vec<Document>,
        pods: &Pods,
        keys: Option<&SigningKeys>,
    ) -> Result<Self, ScenarioError> {
        let module = artifact::filter()?;
        let directory = tempfile::tempdir()?;
        let [admin, listener] = free_ports().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        if let Some(keys) = keys {
            canary_ctl::local::write_keys(keys, &directory.path().join("signing-keys.json"))?;
        }
        let mut environment = None;
        for document in &mut documents {
            document.set("/spec/delivery/module", json!(module));
            document.set("/spec/delivery/local/listen", listener.to_string());
            document.set("/spec/delivery/local/admin", admin.to_string());
            document.set("/spec/delivery/local/endpoints", pods.endpoints());
            environment = Some(Environment::generate(&load(directory.path(), document)?).await?);
        }
        let environment = environment.ok_or_else(|| ScenarioError::UnknownRelease("none".to_owned()))?;
        Ok(Self { environment, documents, module, listener, admin, directory })
    }

    fn write_initial_config(&self, first: &InitialConfig) -> Result<(), ScenarioError> {
        let environment = &self.environment;
        match first {
            InitialConfig::Generated => {}
            InitialConfig::Nothing => environment.remove_filter_config()?,
            InitialConfig::Text(text) => environment.write_filter_text(text, &self.module, "first")?,
            InitialConfig::Module(module) => {
                let config = environment.plan_of(environment.state()?)?.config;
                environment.write_filter_config(&config, module, "first")?;
            }
        }
        Ok(())
    }

    fn edit_bootstrap(&self, edit: fn(&mut Value, &Path)) -> Result<(), ScenarioError> {
        let path = self.environment.layout().bootstrap();
        let text = std::fs::read_to_string(&path)?;
        let mut value: Value =
            serde_saphyr::from_str(&text).map_err(|error| ScenarioError::Yaml(error.to_string()))?;
        edit(&mut value, self.directory.path());
        Ok(std::fs::write(&path, serde_json::to_string_pretty(&value)?)?)
    }
}

fn load(directory: &Path, document: &Document) -> Result<Release, ScenarioError> {
    let path = directory.join(document.file_name());
    std::fs::write(&path, document.text())?;
    Ok(file::load(&path)?.release)
}
