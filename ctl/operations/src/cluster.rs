//! A Kubernetes cluster, and what its releases consist of there: their records, their keys, their Leases.

use crate::client::{Access, ApiClient, whoami};
use crate::metrics_reader::{MetricsReader, ScrapedMetrics};
use crate::stores::key_store::KeyStore;
use crate::stores::lease_manager::{LeaseManager, LeaseTiming, LeaseWaitObserver};
use crate::stores::record_key_store::RecordKeyStore;
use crate::stores::record_store::RecordStore;
use crate::stores::releases::{FoundRelease, ListedRelease};
use crate::{Error, StoredRecord};
use canary_release::record::{Author, ServiceRef};
use canary_release::spec::ReleaseName;
use canary_release::status::ReadyPods;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The options of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Takes fields from their owners.
    pub force_conflicts: bool,
    /// Puts routes into objects that belong to a tool.
    pub take_ownership: bool,
    /// The times for which Leases hold and operations wait for them.
    pub lease_timing: LeaseTiming,
    /// The time that istiod takes to send a change: its debounce, and a push. A default proxy has no metric of its routes.
    pub istiod_push_delay: Duration,
    /// The wait for a proxy that cannot be asked what it runs; `None` refuses operations that depend on its report.
    pub unseen_proxies_wait: Option<Duration>,
    /// The time that a proxy which is known by its scrapes alone is given for the clusters of new subsets.
    pub unseen_clusters_wait: Duration,
}

impl WriteOptions {
    /// The wait for a proxy that cannot be asked: istiod collects changes for at most 10 s (`PILOT_DEBOUNCE_MAX`), and
    /// sends them to all proxies within seconds.
    pub const UNSEEN_PROXIES_WAIT: Duration = Duration::from_secs(30);
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            force_conflicts: false,
            take_ownership: false,
            lease_timing: LeaseTiming::default(),
            istiod_push_delay: Duration::from_secs(2),
            unseen_proxies_wait: None,
            unseen_clusters_wait: Self::UNSEEN_PROXIES_WAIT,
        }
    }
}

/// The operations on the releases of a cluster.
///
/// An operation with preflight checks takes their result (`CheckedWeight`, `CheckedPromotion` …) or runs them itself,
/// so that no caller can skip them by mistake.
pub struct Cluster {
    pub(crate) client: ApiClient,
    pub(crate) records: RecordStore,
    pub(crate) keys: KeyStore,
    pub(crate) leases: LeaseManager,
    pub(crate) metrics_reader: MetricsReader,
    pub(crate) options: WriteOptions,
    /// The user that the API server authenticates.
    pub(crate) user: String,
}

impl Cluster {
    /// Connects to a cluster, and reads which user it authenticates.
    ///
    /// # Errors
    ///
    /// If there is neither a kubeconfig nor a service account, the API server does not respond, or it rejects the
    /// credentials. An API server that does not return the user is no error.
    pub async fn connect(access: &Access, options: WriteOptions) -> Result<Self, Error> {
        let (client, address) = access.client_and_address().await?;
        Self::authenticated(client, &address, options).await
    }

    /// The same with a client that exists, for example that of a controller.
    ///
    /// # Errors
    ///
    /// If the API server does not respond, or rejects the credentials.
    pub async fn new(client: kube::Client, options: WriteOptions) -> Result<Self, Error> {
        Self::authenticated(client, "the API server", options).await
    }

    async fn authenticated(
        client: kube::Client,
        address: &str,
        options: WriteOptions,
    ) -> Result<Self, Error> {
        let user = whoami(&client, address).await?;
        let user = user.or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| "unknown".to_owned());
        let objects = ApiClient { client: client.clone(), force_conflicts: options.force_conflicts };
        let record_keys = RecordKeyStore::new(client.clone());
        Ok(Self {
            records: RecordStore::new(client.clone(), record_keys, objects.clone(), address.to_owned()),
            keys: KeyStore::new(client.clone()),
            leases: LeaseManager::new(client.clone(), user.clone(), options.lease_timing),
            metrics_reader: MetricsReader::new(client),
            client: objects,
            options,
            user,
        })
    }

    /// With a Prometheus that is asked for a proxy that neither the API server nor the kubelet reaches.
    #[must_use]
    pub fn with_scraped_metrics(mut self, scraped: Arc<dyn ScrapedMetrics>) -> Self {
        self.metrics_reader.set_scraped(scraped);
        self
    }

    /// With who hears at once that an operation waits for another one.
    #[must_use]
    pub fn with_lease_wait_observer(mut self, waits: LeaseWaitObserver) -> Self {
        self.leases.set_wait_observer(waits);
        self
    }

    /// The record of a release; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Untrusted`] if it is not to be obeyed.
    pub async fn find_record(&self, release: &ReleaseName) -> Result<Option<StoredRecord>, Error> {
        self.records.find(release).await
    }

    /// The record of a release.
    ///
    /// # Errors
    ///
    /// If there is none, and as [`find_record`](Self::find_record).
    pub async fn get_record(&self, release: &ReleaseName) -> Result<StoredRecord, Error> {
        self.records.get(release).await
    }

    /// The pods of a version behind a Service; none if the Service does not exist.
    ///
    /// # Errors
    ///
    /// If Services or pods may not be read.
    pub async fn ready(
        &self,
        namespace: &str,
        service: &ServiceRef,
        version: &str,
    ) -> Result<ReadyPods, Error> {
        self.client.ready(namespace, service, version).await
    }

    /// Works while no other process holds this Lease, given by namespace and name. Waits for it without a limit.
    ///
    /// # Errors
    ///
    /// Those of the work; if the Lease is lost meanwhile, or the API server refuses it.
    pub async fn lead<T>(
        &self,
        lease: (String, String),
        work: impl AsyncFn() -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.leases.check_namespace(&lease).await?;
        loop {
            match self.leases.with_leases(vec![lease.clone()], "controller", &work).await {
                Err(Error::Held { .. }) => {}
                done => return done,
            }
        }
    }

    /// The user, as the author of a change that is made now.
    pub(crate) fn author(&self) -> Author<'_> {
        Author::new(&self.user, Timestamp::now())
    }

    /// The releases in these namespaces, sorted by name. Without one those of all namespaces or, if the user may not list the `ConfigMap`s
    /// in all, of those namespaces in which they may.
    ///
    /// # Errors
    ///
    /// If records may not be listed in a given namespace, or in none.
    pub async fn releases(&self, namespaces: &[String]) -> Result<Vec<FoundRelease>, Error> {
        self.records.list(namespaces).await
    }

    /// The same with the trust in each record.
    ///
    /// # Errors
    ///
    /// As those of `releases`.
    pub async fn verified_releases(&self, namespaces: &[String]) -> Result<Vec<ListedRelease>, Error> {
        self.records.list_verified(namespaces).await
    }
}
