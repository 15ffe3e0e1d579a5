//! The releases of a train with their records, in the order of their promotion: who calls whom follows from the pods that `sidecars` select.

use crate::releases::FoundRelease;
use crate::{Cluster, Error, StoredRecord};
use canary_release::record::{Proxies, Record};
use canary_release::spec::ReleaseName;
use canary_release::train::{CalledRelease, TrainError, TrainRound, promotion_order};
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
    /// If there is none, one of them cannot be read, or they call each other.
    pub async fn train(&self, name: &str, namespaces: &[String]) -> Result<Train, Error> {
        let found = self.train_releases(name, namespaces).await?;
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
