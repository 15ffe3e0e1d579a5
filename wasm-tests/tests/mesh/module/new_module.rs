//! A new module of the filter that proxies cannot get: users notice nothing, the old one is restored, and no weight
//! waits for it.

use crate::support::cli::Cli;
use crate::support::filter_source::{Module, Web, filter};
use crate::support::in_the_mesh;
use crate::support::kill::interrupt;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::release_fixture::apply;
use canary_operations::{Access, ApplyOptions, Error, WaitOptions, WriteOptions};
use canary_release::EmbeddedModule;
use canary_release::file::parse;
use mesh_lab::sha256;
use std::path::Path;
use std::time::Duration;
use wasm_tests::scenario::{Document, Faults, Sessions};

const PEOPLE: usize = 60;

#[test]
fn a_module_that_no_proxy_can_get_is_taken_back_and_users_notice_nothing() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "no-module", |release| {
            release.with("/spec/weight", "50").with("/spec/sessionAffinity", "identity")
        })
        .await;
        let cli = Cli::new(lab, &loaded.document);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let web = Web::start().await;
        let mut people = Sessions::default();
        assert_eq!(people.open(loaded.users(PEOPLE)).await.1, Faults::default());

        let moving = people.start_load(PEOPLE / 2);
        let missing = Module { url: web.url("missing.wasm"), sha256: None };
        // Another change in the same file is not applied.
        let asks = missing.of(&loaded.document, "envoyfilter").with("/spec/delivery/debugHeader", "x-debug");
        cli.edits(&asks);
        let url = web.url("missing.wasm");
        cli.expect("apply --wait --timeout 4s", 2, &[&url, "was reverted", "runs generation"]).await;
        assert!(web.missed() > 0, "it was asked for");
        let wrong_sum = Module { url: web.url("filter.wasm"), sha256: Some(sha256(b"another")) };
        cli.edits(&wrong_sum.of(&loaded.document, "envoyfilter"));
        cli.expect("apply --wait --timeout 4s", 2, &["filter.wasm", "was reverted"]).await;
        cli.expect("weight 40 --wait", 0, &["50% -> 40%"]).await;
        let status = cli.expect("status", 0, &["weight 40%"]).await;
        assert!(!status.stdout.contains("problem:"), "{status:?}");

        let right = Module { url: web.url("filter.wasm"), sha256: Some(sha256(&filter())) };
        cli.edits(&right.of(&loaded.document, "envoyfilter").with("/spec/weight", "40"));
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        cli.expect("diff", 0, &[]).await;
        assert_eq!(people.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(people.verify_all(true).await, Faults::default());
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_embedded_module_that_no_proxy_can_load_is_taken_back_from_its_backup_and_users_notice_nothing() {
    in_the_mesh(async |lab| {
        let embedded = |release: Document| release.with("/spec/delivery/module", "embedded");
        let mut loaded = LoadedFixture::set_up(lab, "bad-module", |release| {
            embedded(release).with("/spec/weight", "50").with("/spec/sessionAffinity", "identity")
        })
        .await;
        let carried = EmbeddedModule::new(&filter());
        loaded.release.delivery.module.embed(carried.as_ref());
        loaded.apply().await;
        let mut people = Sessions::default();
        assert_eq!(people.open(loaded.users(PEOPLE)).await.1, Faults::default());

        let moving = people.start_load(PEOPLE / 2);
        let mut broken = loaded.release.clone();
        broken.delivery.module.embed(EmbeddedModule::new(b"\0asm\x01\0\0\0 is no module").as_ref());
        let waiting = WaitOptions { timeout: Duration::from_secs(4), progress: &mut |_, _| {} };
        let options = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: false };
        let refused = loaded.cluster.apply(&broken, options).await.unwrap_err();
        assert!(
            matches!(&refused, Error::NoModule { module, .. } if module.starts_with("sha256:")),
            "{refused}"
        );
        assert_eq!(loaded.cluster.plan(&loaded.release).await.unwrap().changes, [], "the old one is back");
        loaded.weigh("40").await;

        // A gateway that starts fetches nothing.
        lab.kubectl(&["rollout", "restart", "-n", &loaded.env.ingress, "deployment/gateway"]).await.unwrap();
        lab.rolled_out(&loaded.env.ingress, "gateway").await.unwrap();
        let faults = people.stop_load(moving).await.expect("they come back");
        assert_eq!(faults.but_closed(), Faults::default(), "the connections of the old gateway end with it");
        assert_eq!(people.verify_all(true).await.but_closed(), Faults::default());
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_weight_arrives_after_a_killed_rollout_of_an_unreachable_module() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "killed-trial", |release| release).await;
        loaded.apply().await;
        let web = Web::start().await;
        let missing = Module { url: web.url("missing.wasm"), sha256: None };
        let asks = missing.of(&loaded.document, "envoyfilter");
        let asks = parse(Path::new("canary.yaml"), &asks.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        // Of a Lease, the record, a Lease, the configuration, two Leases deleted; the same for the revert, and the
        // record again.
        for writes in [2, 4, 6, 9] {
            interrupt(&access, writes, WriteOptions::default(), async |process| {
                let waiting = WaitOptions { timeout: Duration::from_secs(1), progress: &mut |_, _| {} };
                let options = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: false };
                process.apply(&asks, options).await
            })
            .await;
            let weight = format!("{}", 10 + writes);
            // It waits until every proxy runs it.
            loaded.weigh(&weight).await;
        }
        apply(&loaded.cluster, &loaded.release).await.unwrap();
        assert_eq!(loaded.cluster.plan(&loaded.release).await.unwrap().changes, []);
    });
}
