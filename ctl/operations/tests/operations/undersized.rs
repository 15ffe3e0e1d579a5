//! A canary that gets all users with fewer pods than they need.

use canary_operations::{PromoteOptions, WeightRequest};
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, apply, pod, release, run, set_weight, shop, weight};
use serde_json::{Value, json};

/// A shop with so many pods of stable, and one of the canary.
fn with_stable_pods(count: usize) -> FakeApi {
    let api = shop();
    for number in 1..count {
        let labels = json!({"app": "shop", "version": "v1"});
        api.state().create(&pod(SHOP, &format!("shop-v1-{number}"), &labels));
    }
    api
}

#[test]
fn all_users_for_a_canary_with_less_than_half_of_the_pods_is_said_and_not_refused() {
    run(async {
        for (stable, expected) in [
            (
                3,
                Some(
                    "expected at least 2 ready pods of version `v2`, which gets all users, found 1 ready pod: all users are served by 3",
                ),
            ),
            (2, None),
        ] {
            let (api, release) = (with_stable_pods(stable), release(&Value::Null));
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            set_weight(&cluster, &release, "20").await.unwrap();
            let said = async |percent: &str| {
                let stored = cluster.get_record(&release.name).await.unwrap();
                let request = WeightRequest {
                    weight: weight(percent),
                    expires_in: None,
                    expected_generation: None,
                    skipped: &[],
                };
                let checked = cluster.check_weight(&release.name, stored, request).await.unwrap();
                checked.undersized().map(ToString::to_string)
            };
            assert_eq!(said("50").await, None, "{stable}: others are served by stable");
            assert_eq!(said("100").await.as_deref(), expected, "{stable}");
            let stored = cluster.get_record(&release.name).await.unwrap();
            let promotion =
                cluster.check_promotion(&release.name, stored, PromoteOptions::default()).await.unwrap();
            assert_eq!(promotion.undersized().map(ToString::to_string).as_deref(), expected, "{stable}");
        }
    });
}
