//! What a promotion and a rollback write, and what they say no to.

use crate::beside_an_api_server;
use canary_ctl::hint::Hint as _;
use canary_operations::{ApplyOptions, Error, WaitOptions};
use canary_release::spec::Release;
use canary_release::{plan, record};
use std::time::Duration;
use wasm_tests::api::release_fixture::{
    ReleaseFixture, Verb, WITHOUT_PODS, apply, name, promote, set_weight, turn,
};

/// The same file with other versions.
fn with_versions(release: &Release, stable: &str, canary: Option<&str>) -> Release {
    let mut release = release.clone();
    stable.clone_into(&mut release.versions.stable);
    release.versions.canary = canary.map(str::to_owned);
    release
}

#[test]
fn a_promotion_writes_record_default_routes_and_configuration_and_nothing_else() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "a-promotion").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let before = fixture.versions().await;
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        let after = fixture.versions().await;
        let written: Vec<_> = after.keys().filter(|object| after[*object] != before[*object]).collect();
        let expected = [
            "ConfigMap shop-canary",
            "EnvoyFilter canary-gateway-config",
            "VirtualService shop-canary",
            "VirtualService shop-canary-mesh",
        ];
        assert_eq!(written, expected);
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        assert_eq!(fixture.versions().await, after, "done is done");
    });
}

#[test]
fn the_file_of_before_a_promotion_is_refused_and_the_changed_file_finds_nothing_to_do() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "old-file").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        let promoted = fixture.versions().await;

        let refused = apply(&cluster, &release).await;
        let Err(error @ Error::Plan(plan::Error::Record(record::Error::OldStable { .. }))) = refused else {
            panic!("{refused:?}")
        };
        let told = error.to_string();
        assert!(
            told.starts_with(
                "expected `v2` as the stable version, found `v1` in the file: admin promoted `v2` at "
            ),
            "{told}"
        );
        assert!(error.hint().unwrap().starts_with("set `versions.stable: v2`"), "{:?}", error.hint());
        let changed = with_versions(&release, "v2", None);
        assert_eq!(cluster.plan(&changed).await.unwrap().changes, []);
        apply(&cluster, &changed).await.unwrap();
        assert_eq!(fixture.versions().await, promoted);
    });
}

#[test]
fn a_rolled_back_version_is_applied_again_if_allowed_and_its_old_pins_do_not_count() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "comes-again").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        turn(&cluster, &release, Verb::RollBack).await.unwrap();
        let refused = apply(&cluster, &release).await;
        assert!(
            matches!(refused, Err(Error::Plan(plan::Error::Record(record::Error::OldCanary { .. })))),
            "{refused:?}"
        );

        let mut progress = |_, _| {};
        let waiting = WaitOptions { timeout: Duration::from_secs(5), progress: &mut progress };
        let how = ApplyOptions { waiting, wait: false, skipped: &WITHOUT_PODS, allow_rolled_back: true };
        let record = cluster.apply(&release, how).await.unwrap().record;
        let versions: Vec<_> =
            record.state.versions.iter().map(|live| (live.name.as_str(), live.epoch)).collect();
        assert_eq!(versions, [("v1", 1), ("v2", 2)]);
        assert_eq!(cluster.unfinished(&name(&release), &record).await.unwrap().changes, []);
    });
}

#[test]
fn a_drain_whose_time_is_over_is_ended_by_the_next_apply() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "time-is-over").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        promote(&cluster, &name(&release), stored).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let record = apply(&cluster, &with_versions(&release, "v2", None)).await.unwrap().record;
        assert!(record.state.has_gone("v1"), "{:?}", record.state.gone);
        assert_eq!(record.leaving, Vec::<String>::new());
        assert_eq!(cluster.unfinished(&name(&release), &record).await.unwrap().changes, []);
        let rules = api.kubectl(&[
            "get",
            "destinationrule",
            "-n",
            "time-is-over",
            "-o",
            "jsonpath={..subsets[*].name}",
        ]);
        assert_eq!(rules.await.unwrap(), "v2");
    });
}

#[test]
fn a_promotion_that_was_overtaken_by_a_rollback_does_not_write_over_it() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "overtaken").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        // As if the first call slept after its record while the second one did everything.
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        let promoted = cluster.get_record(&name(&release)).await.unwrap();
        turn(&cluster, &release, Verb::RollBack).await.unwrap();
        let rolled_back = fixture.versions().await;
        let overtaken = promote(&cluster, &name(&release), promoted).await;
        assert!(matches!(overtaken, Err(Error::ConcurrentChange { .. })), "{overtaken:?}");
        assert_eq!(fixture.versions().await, rolled_back);
    });
}

#[test]
fn of_two_concurrent_role_changes_one_is_refused_with_the_other_operator() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "two-turns").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let seen = cluster.get_record(&name(&release)).await.unwrap();
        turn(&cluster, &release, Verb::RollBack).await.unwrap();
        let won = fixture.versions().await;
        let second = promote(&cluster, &name(&release), seen.clone()).await;
        let Err(Error::ConcurrentChange { last: Some(last), .. }) = second else { panic!("{second:?}") };
        assert!(last.starts_with("admin: rollback, weight 0% (generation 2) at "), "{last}");
        let third = set_weight(&cluster, &name(&release), seen, "50").await;
        assert!(matches!(third, Err(Error::ConcurrentChange { .. })), "{third:?}");
        assert_eq!(fixture.versions().await, won);
    });
}
