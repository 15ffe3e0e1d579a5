//! The rights that are printed for twins are those that are used: with them everything is told, and without any of them something is not.

use crate::readiness::{crashed, made_by, wait};
use crate::template_drift::{by_chart, found, upgrade_without_post_renderer};
use canary_operations::{Error, ReadinessError};
use canary_release::rbac::{Right, add_twin_rights, rules, single_rights};
use canary_release::spec::Release;
use fake_api_server::fixture::{apply, release, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Why a version does not get ready, how many pods of other workloads are missing, and the problems after an upgrade without the
/// post-renderer, as a user with these rights sees them.
async fn told(release: &Release, rights: &BTreeSet<Right>) -> (String, Vec<u64>, Vec<String>) {
    let waiting = crashed();
    waiting.state().access.allow_only(rights);
    let (readiness, _) = wait(&waiting, Duration::from_mins(1)).await;
    let mut wanted = Vec::new();
    for kind in ["StatefulSet", "DaemonSet"] {
        let api = made_by(kind);
        api.state().access.allow_only(rights);
        let (late, _) = wait(&api, Duration::from_millis(100)).await;
        let Err(Error::Readiness(late)) = late else { continue };
        if let ReadinessError::Late { wanted: pods, .. } = *late {
            wanted.push(pods);
        }
    }
    let upgraded = by_chart();
    let cluster = upgraded.cluster().await;
    apply(&cluster, release).await.unwrap();
    upgrade_without_post_renderer(&upgraded);
    upgraded.state().access.allow_only(rights);
    (readiness.unwrap_err().to_string(), wanted, found(&cluster, release).await)
}

#[test]
fn the_rights_of_twins_are_enough_and_each_is_needed() {
    run(async {
        let release = release(&Value::Null);
        let mut of_twins = BTreeMap::new();
        add_twin_rights(&mut of_twins, &release);
        let mut all = single_rights(&rules(&release).unwrap());
        all.extend(single_rights(&of_twins));
        let with_all = told(&release, &all).await;
        let (readiness, wanted, problems) = &with_all;
        assert_eq!(wanted, &[3, 3]);
        assert!(readiness.contains("no database") && readiness.contains("BackOff:"), "{readiness}");
        assert!(
            problems.iter().any(|problem| problem.contains("image `shop:2` instead of `shop:1`")),
            "{problems:?}"
        );
        for right in single_rights(&of_twins) {
            let mut rest = all.clone();
            rest.remove(&right);
            assert_ne!(told(&release, &rest).await, with_all, "nobody needs {right:?}");
        }
    });
}
