//! A route to the canary is never there without the filter that keeps clients from naming it (promise 6).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use canary_ctl::cluster::{Access, ApplyOptions, Cluster, WaitOptions, WriteOptions};
use canary_ctl::spec::parse;
use wasm_tests::client::{Kind, Visit};
use wasm_tests::lab::{Stage, StageOptions};

use super::desk::uninstall;
use crate::support::in_the_mesh;

/// Between two attempts of the one who forges.
const PAUSE: Duration = Duration::from_millis(2);

#[test]
fn nobody_can_name_the_canary_while_a_release_is_applied_and_uninstalled() {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, "guarded", &StageOptions::gateway()).await.unwrap();
        // Whoever reaches the canary's subset is answered 503, by Envoy: it has no pod.
        lab.kubectl(&["scale", "-n", &stage.namespace, "deployment/shop-v2", "--replicas=0"]).await.unwrap();
        lab.until("an end of the canary's pods", async || {
            lab.pods(&stage.namespace, "app=shop,version=v2").await.ok()?.is_empty().then_some(())
        })
        .await
        .unwrap();

        let document = stage.release().unwrap().with("/spec/weight", "0");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let done = Cell::new(false);
        let operate = async {
            for _ in 0..3 {
                let waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut |_, _| {} };
                let how = ApplyOptions { waiting, wait: true, skipped: &[], again: false };
                cluster.apply(&release, how).await.unwrap();
                lab.until("the way to the shop", async || {
                    stage.user().navigate("/").await.is_ok_and(|answer| answer.status == 200).then_some(())
                })
                .await
                .unwrap();
                uninstall(&cluster, &release).await.unwrap();
            }
            done.set(true);
        };
        let ((), answers) = tokio::join!(operate, forge(&stage, document.name(), &done));
        eprintln!("forged requests by status and version: {answers:?}");
        let allowed = [(404, None), (200, Some("v1".to_owned()))];
        assert!(answers.keys().all(|answer| allowed.contains(answer)), "{answers:?}");
        assert!(allowed.iter().all(|answer| answers.contains_key(answer)), "{answers:?}");
    });
}

/// Names the canary in a new connection every time, and counts what comes back.
async fn forge(stage: &Stage, release: &str, done: &Cell<bool>) -> BTreeMap<(u16, Option<String>), u32> {
    let visit = Visit::new(Kind::Api, "/").header("x-canary-version", format!("{release}/v2"));
    let mut answers = BTreeMap::new();
    while !done.get() {
        let answer = stage.user().send(&visit).await.unwrap();
        let version = answer.header("x-shop-version").map(str::to_owned);
        *answers.entry((answer.status, version)).or_default() += 1;
        tokio::time::sleep(PAUSE).await;
    }
    answers
}
