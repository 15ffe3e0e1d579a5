//! What a promotion and a rollback write, and what they say no to.

use super::desk::{Desk, Verb, apply, name, percent, turn};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{ApplyOptions, Error, WaitOptions};
use canary_ctl::plan::{self, PreflightCheck, ends_after};
use canary_ctl::spec::Release;
use std::time::Duration;

/// The same file with other versions.
fn with_versions(release: &Release, stable: &str, canary: Option<&str>) -> Release {
    let mut release = release.clone();
    stable.clone_into(&mut release.versions.stable);
    release.versions.canary = canary.map(str::to_owned);
    release
}

#[test]
fn a_promotion_writes_record_default_routes_and_configuration_and_nothing_else() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "a-promotion").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let before = desk.versions().await;
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        let after = desk.versions().await;
        let written: Vec<_> = after.keys().filter(|object| after[*object] != before[*object]).collect();
        let expected = [
            "ConfigMap shop-canary",
            "EnvoyFilter canary-gateway-config",
            "VirtualService shop-canary",
            "VirtualService shop-canary-mesh",
        ];
        assert_eq!(written, expected);
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        assert_eq!(desk.versions().await, after, "done is done");
    });
}

#[test]
fn the_file_of_before_a_promotion_is_refused_and_the_changed_file_finds_nothing_to_do() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "old-file").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        let promoted = desk.versions().await;

        let refused = apply(&cluster, &release).await;
        let Err(error @ Error::Plan(plan::Error::OldStable { .. })) = refused else { panic!("{refused:?}") };
        let told = error.to_string();
        assert!(
            told.starts_with("the file names `v1` stable, and `v2` is since admin promoted `v2` at "),
            "{told}"
        );
        assert!(error.hint().unwrap().starts_with("set `versions.stable: v2`"), "{:?}", error.hint());
        let changed = with_versions(&release, "v2", None);
        assert!(cluster.plan(&changed).await.unwrap().is_empty());
        apply(&cluster, &changed).await.unwrap();
        assert_eq!(desk.versions().await, promoted);
    });
}

#[test]
fn a_version_that_was_rolled_back_comes_again_when_asked_to_and_its_old_pins_do_not_count() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "comes-again").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        turn(&cluster, &release, Verb::RollBack).await.unwrap();
        let refused = apply(&cluster, &release).await;
        assert!(matches!(refused, Err(Error::Plan(plan::Error::OldCanary { .. }))), "{refused:?}");

        let mut progress = |_, _| {};
        let waiting = WaitOptions { patience: Duration::from_secs(5), progress: &mut progress };
        let how = ApplyOptions { waiting, wait: false, skipped: &[PreflightCheck::NoReadyPods], again: true };
        let record = cluster.apply(&release, how).await.unwrap().record;
        let versions: Vec<_> =
            record.standing.versions.iter().map(|live| (live.name.as_str(), live.epoch)).collect();
        assert_eq!(versions, [("v1", 1), ("v2", 2)]);
        assert!(cluster.unfinished(&name(&release), &record).await.unwrap().is_empty());
    });
}

#[test]
fn a_drain_whose_time_is_over_is_ended_by_the_next_apply() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "time-is-over").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&name(&release)).await.unwrap();
        cluster.promote(&name(&release), stored, ends_after(None), None).await.unwrap();
        let record = apply(&cluster, &with_versions(&release, "v2", None)).await.unwrap().record;
        assert!(record.standing.has_gone("v1") && record.leaving.is_empty());
        assert!(cluster.unfinished(&name(&release), &record).await.unwrap().is_empty());
        let rules = lab.kubectl(&[
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
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "overtaken").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        // As if the first call slept after its record while the second one did everything.
        turn(&cluster, &release, Verb::Promote).await.unwrap();
        let promoted = cluster.get_record(&name(&release)).await.unwrap();
        turn(&cluster, &release, Verb::RollBack).await.unwrap();
        let rolled_back = desk.versions().await;
        let overtaken = cluster.promote(&name(&release), promoted, ends_after(None), None).await;
        assert!(matches!(overtaken, Err(Error::ConcurrentChange { .. })), "{overtaken:?}");
        assert_eq!(desk.versions().await, rolled_back);
    });
}

#[test]
fn of_two_operators_who_turn_a_release_one_wins_and_the_other_is_told() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "two-turns").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let seen = cluster.get_record(&name(&release)).await.unwrap();
        turn(&cluster, &release, Verb::RollBack).await.unwrap();
        let won = desk.versions().await;
        let second = cluster.promote(&name(&release), seen.clone(), ends_after(None), None).await;
        let Err(Error::ConcurrentChange { last: Some(last), .. }) = second else { panic!("{second:?}") };
        assert!(last.starts_with("admin: rollback 0% -> 0% (generation 2) at "), "{last}");
        let third = cluster.set_weight(&name(&release), seen, percent("50")).await;
        assert!(matches!(third, Err(Error::ConcurrentChange { .. })), "{third:?}");
        assert_eq!(desk.versions().await, won);
    });
}
