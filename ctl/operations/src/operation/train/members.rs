//! The releases of a train with their records, in the order of their promotion: who calls whom follows from the pods that `sidecars` select.

use super::selector;
use crate::stores::stored_record::FoundRecord;
use crate::{Cluster, Error, StoredRecord};
use canary_release::record::{Proxies, Record, TrainRound};
use canary_release::spec::ReleaseName;
use canary_release::state::TrainMember;
use canary_release::train::{CalledRelease, TrainError, TrainPlace, connected, promotion_order};
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
        let members = self.members(name, namespaces).await?;
        let groups = connected(&members.iter().filter_map(place).collect::<Vec<_>>());
        if namespaces.is_empty() && groups.len() > 1 {
            let groups = groups.into_iter().map(|group| group.into_iter().collect()).collect();
            return Err(TrainError::Ambiguous { train: name.to_owned(), groups }.into());
        }
        self.in_order(name, members).await
    }

    /// The train of a release: with it those of its namespace and, where it is behind gateways, of the namespaces that its file names.
    pub(crate) async fn train_of(&self, release: &ReleaseName, member: &TrainMember) -> Result<Train, Error> {
        let members = self.members_of(release, member).await?;
        self.in_order(&member.name, members).await
    }

    /// The same, unordered.
    pub(crate) async fn members_of(
        &self,
        release: &ReleaseName,
        member: &TrainMember,
    ) -> Result<Vec<TrainRelease>, Error> {
        let namespaces: Vec<String> = TrainPlace::of(release, member).namespaces.into_iter().collect();
        let members = self.members(&member.name, &namespaces).await?;
        let places: Vec<TrainPlace> = members.iter().filter_map(place).collect();
        let groups = connected(&places).into_iter().filter(|group| group.contains(release));
        let own: BTreeSet<ReleaseName> = groups.flatten().collect();
        Ok(members.into_iter().filter(|member| own.contains(&member.name)).collect())
    }

    /// The releases in these namespaces whose records name the train: a label is not believed, and neither is a record without genuine seals. What is
    /// not obeyed is read back from the objects of the release; where there are none it is no release.
    async fn members(&self, train: &str, namespaces: &[String]) -> Result<Vec<TrainRelease>, Error> {
        let found = self.records.list_objects(namespaces, &selector(train)).await?;
        let mut members = Vec::new();
        for (name, found) in self.records.all_sealed(found).await? {
            let stored = match found {
                FoundRecord::Genuine(stored) => *stored,
                FoundRecord::Refused(..) => match self.get_or_recover_record(&name, &BTreeSet::new()).await {
                    Err(
                        Error::Untrusted { .. }
                        | Error::Recover(_)
                        | Error::Unknown { .. }
                        | Error::Forbidden { .. },
                    ) => continue,
                    stored => stored?,
                },
            };
            if stored.record.train.as_ref().is_some_and(|member| member.name == train) {
                members.push(TrainRelease { name, stored });
            }
        }
        Ok(members)
    }

    async fn in_order(&self, name: &str, members: Vec<TrainRelease>) -> Result<Train, Error> {
        let mut called = Vec::new();
        let mut releases = BTreeMap::new();
        let pods = self.pods_of_all(&members).await?;
        for member in members {
            let callers = callers(&member.stored.record, &pods);
            let is_behind_gateway = !member.stored.record.train.as_ref().is_some_and(|train| train.is_inner);
            called.push(CalledRelease { name: member.name.clone(), is_behind_gateway, callers });
            releases.insert(member.name.clone(), member);
        }
        if releases.is_empty() {
            return Err(TrainError::NoRelease { train: name.to_owned() }.into());
        }
        let order = promotion_order(name, &called)?;
        let releases = order.iter().filter_map(|release| releases.remove(release)).collect();
        Ok(Train { name: name.to_owned(), releases })
    }

    /// The labels of the pods behind each release. Where it has no pods those that its Service selects.
    async fn pods_of_all(
        &self,
        members: &[TrainRelease],
    ) -> Result<BTreeMap<ReleaseName, Vec<Labels>>, Error> {
        let mut all = BTreeMap::new();
        for TrainRelease { name: release, stored: StoredRecord { record, .. } } in members {
            let pods = self.client.service_pods(release.namespace.as_str(), &record.service).await?;
            let mut labels: Vec<Labels> = pods.labels().cloned().collect();
            labels.push(pods.selector);
            all.insert(release.clone(), labels);
        }
        Ok(all)
    }
}

fn place(member: &TrainRelease) -> Option<TrainPlace> {
    Some(TrainPlace::of(&member.name, member.stored.record.train.as_ref()?))
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
