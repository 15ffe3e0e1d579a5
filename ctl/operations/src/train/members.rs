//! The releases of a train with their records, in the order of their promotion: who calls whom follows from the pods that `sidecars` select.

use crate::releases::FoundRelease;
use crate::{Cluster, Error, StoredRecord};
use canary_release::record::{Proxies, Record};
use canary_release::spec::ReleaseName;
use canary_release::train::{
    CalledRelease, ReleaseNamespaces, TrainError, TrainRound, connected, promotion_order, release_namespaces,
};
use std::collections::{BTreeMap, BTreeSet};

/// A release of a train, as it was read.
#[derive(Clone, Debug)]
pub struct TrainRelease {
    /// Its name.
    pub name: ReleaseName,
    /// Its record.
    pub stored: StoredRecord,
}

/// The releases of a train.
#[derive(Clone, Debug)]
pub struct Train {
    /// Its name.
    pub name: String,
    /// The releases, each before its callers: the order of promotion.
    pub releases: Vec<TrainRelease>,
}

impl Train {
    /// The role changes of its releases that belong together; `None` if there is nothing to promote and nothing to roll back.
    pub(super) fn round(&self) -> Option<TrainRound> {
        TrainRound::of(self.releases.iter().map(|release| (&release.name, &release.stored.record)))
    }

    pub(super) fn nothing_to_do(&self) -> Error {
        let releases = self.releases.iter().map(|release| release.name.clone()).collect();
        TrainError::NothingToDo { train: self.name.clone(), releases }.into()
    }
}

impl Cluster {
    /// The releases of a train, in the order of promotion: by the records in these namespaces; without one in all that may be read.
    ///
    /// # Errors
    ///
    /// If there is none, one of them cannot be read, or they call each other. Without a namespace if there are two trains of that name.
    pub async fn train(&self, name: &str, namespaces: &[String]) -> Result<Train, Error> {
        let found = self.train_releases(name, namespaces).await?;
        let groups = connected(found.iter().map(namespaces_of));
        if namespaces.is_empty() && groups.len() > 1 {
            let groups = groups.into_iter().map(|group| group.into_iter().collect()).collect();
            return Err(TrainError::Ambiguous { train: name.to_owned(), groups }.into());
        }
        self.in_order(name, found).await
    }

    /// The same for those that are one train with this release.
    pub(crate) async fn train_of(
        &self,
        release: &ReleaseName,
        name: &str,
        namespaces: &[String],
    ) -> Result<Train, Error> {
        let found = self.train_releases(name, namespaces).await?;
        self.in_order(name, of_one_train(found, release)).await
    }

    async fn in_order(&self, name: &str, found: Vec<FoundRelease>) -> Result<Train, Error> {
        let mut called = Vec::new();
        let mut releases = BTreeMap::new();
        let pods = self.pods_of_all(&found).await?;
        for (release, record) in found {
            record?;
            let stored = self.records.get(&release).await?;
            let callers = callers(&stored.record, &pods);
            let is_behind_gateway = !stored.record.train.as_ref().is_some_and(|train| train.is_inner);
            called.push(CalledRelease { name: release.clone(), is_behind_gateway, callers });
            releases.insert(release.clone(), TrainRelease { name: release, stored });
        }
        if releases.is_empty() {
            return Err(TrainError::NoRelease { train: name.to_owned() }.into());
        }
        let order = promotion_order(name, &called)?;
        let releases = order.iter().filter_map(|release| releases.remove(release)).collect();
        Ok(Train { name: name.to_owned(), releases })
    }

    /// The labels of the pods behind each release. Where it has no pods those that its Service selects.
    async fn pods_of_all(&self, found: &[FoundRelease]) -> Result<BTreeMap<ReleaseName, Vec<Labels>>, Error> {
        let mut all = BTreeMap::new();
        for (release, record) in found {
            let Ok(record) = record else { continue };
            let pods = self.client.service_pods(release.namespace.as_str(), &record.service).await?;
            let mut labels: Vec<Labels> = pods.labels().cloned().collect();
            labels.push(pods.selector);
            all.insert(release.clone(), labels);
        }
        Ok(all)
    }
}

/// Those that are one train with this release.
pub(crate) fn of_one_train(found: Vec<FoundRelease>, release: &ReleaseName) -> Vec<FoundRelease> {
    let groups = connected(found.iter().map(namespaces_of));
    let own = groups.into_iter().find(|group| group.contains(release)).unwrap_or_default();
    found.into_iter().filter(|(name, _)| own.contains(name)).collect()
}

fn namespaces_of((release, record): &FoundRelease) -> ReleaseNamespaces {
    release_namespaces(release, record.as_ref().ok())
}

type Labels = BTreeMap<String, String>;

/// The releases of which a pod has a sidecar with the configuration of this one.
fn callers(record: &Record, pods: &BTreeMap<ReleaseName, Vec<Labels>>) -> BTreeSet<ReleaseName> {
    let selects = |proxies: &Proxies, release: &ReleaseName, labels: &Labels| {
        let has = |(name, value): (&String, &String)| labels.get(name) == Some(value);
        proxies.namespace == release.namespace.as_str() && proxies.labels.iter().all(has)
    };
    let is_caller = |release: &ReleaseName, pods: &[Labels]| {
        record.proxies.iter().any(|proxies| pods.iter().any(|labels| selects(proxies, release, labels)))
    };
    let callers = pods.iter().filter(|(release, pods)| is_caller(release, pods));
    callers.map(|(release, _)| release.clone()).collect()
}
