//! Each field of a record, forged, under each operation.

use super::{FORGERIES, comparable, deployed, elsewhere, put_back, roll_back, set, uninstall};
use canary_operations::{Cluster, Error};
use canary_release::rollout::RolloutVerb;
use canary_release::spec::Release;
use fake_api_server::fixture::{apply, finish, forge_record, promote, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What an operator does. Whether it is an emergency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Weight,
    Zero,
    Rollback,
    Promote,
    Apply,
    Finish,
    Pause,
    Resume,
    Rollout,
    Abort,
    Drive,
    Rotate,
    Uninstall,
    Status,
}

const VERBS: [Verb; 14] = [
    Verb::Weight,
    Verb::Zero,
    Verb::Rollback,
    Verb::Promote,
    Verb::Apply,
    Verb::Finish,
    Verb::Pause,
    Verb::Resume,
    Verb::Rollout,
    Verb::Abort,
    Verb::Drive,
    Verb::Rotate,
    Verb::Uninstall,
    Verb::Status,
];

impl Verb {
    const fn is_emergency(self) -> bool {
        matches!(self, Self::Zero | Self::Rollback | Self::Uninstall)
    }

    /// As the command line does it: the record is read, then the operation is called with it.
    pub(super) async fn call(self, cluster: &Cluster, release: &Release) -> Result<(), Error> {
        let name = &release.name;
        let stored = async || cluster.get_or_recover_record(name, &BTreeSet::new()).await;
        match self {
            Self::Weight => set(cluster, release, stored().await?, "20").await.map(drop),
            Self::Zero => set(cluster, release, stored().await?, "0").await.map(drop),
            Self::Rollback => roll_back(cluster, release, stored().await?).await.map(drop),
            Self::Promote => promote(cluster, release).await.map(drop),
            Self::Apply => apply(cluster, release).await.map(drop),
            Self::Finish => finish(cluster, release).await.map(drop),
            Self::Pause => cluster.pause(name, stored().await?, None, &[]).await.map(drop),
            Self::Resume => cluster.resume(name, stored().await?, &[]).await.map(drop),
            Self::Rollout => {
                let plan = (&release.rollout, "default");
                cluster.start_rollout(name, stored().await?, plan, &[]).await.map(drop)
            }
            Self::Abort => {
                cluster.change_rollout(name, stored().await?, RolloutVerb::Abort, &[]).await.map(drop)
            }
            Self::Drive => {
                let mut driver =
                    canary_operations::RolloutDriver::new(cluster, name.clone(), Duration::from_secs(1));
                driver.reconcile(jiff::Timestamp::now()).await.map(drop)
            }
            Self::Rotate => fake_api_server::fixture::rotate(cluster, release).await.map(drop),
            Self::Uninstall => uninstall(cluster, release, stored().await?).await,
            Self::Status => {
                let stored = cluster.show_record(name, &BTreeSet::new()).await?;
                cluster.observe_status(name, &stored).await.map(drop)
            }
        }
    }
}

/// What the other namespaces have after a verb and an honest record.
async fn honest(verb: Verb) -> BTreeMap<String, Value> {
    let (api, cluster, release) = deployed().await;
    // What an honest release cannot do is refused for its own reasons.
    drop(Box::pin(verb.call(&cluster, &release)).await);
    elsewhere(&api)
}

#[test]
fn whatever_a_record_says_other_namespaces_get_what_an_honest_one_gives_or_nothing() {
    run(async {
        for verb in VERBS {
            let honest = comparable(&Box::pin(honest(verb)).await);
            let (mut api, mut cluster, release) = deployed().await;
            let genuine = api.state().store.find("ConfigMap", "shop-canary").unwrap().clone();
            for (field, forge) in FORGERIES {
                if verb.is_emergency() {
                    (api, cluster, _) = deployed().await;
                } else {
                    put_back(&api, &genuine);
                }
                let before = comparable(&elsewhere(&api));
                forge_record(&api, forge);
                let called = Box::pin(verb.call(&cluster, &release)).await;
                let after = comparable(&elsewhere(&api));
                let expected = if verb.is_emergency() { &honest } else { &before };
                assert_eq!(&after, expected, "{verb:?} with a forged {field}: {called:?}");
                let is_expected = match &called {
                    Ok(()) => verb.is_emergency() || verb == Verb::Status,
                    Err(Error::Untrusted { .. }) => !verb.is_emergency() && verb != Verb::Status,
                    Err(_) => false,
                };
                assert!(is_expected, "{verb:?} with a forged {field}: {called:?}");
            }
        }
    });
}
