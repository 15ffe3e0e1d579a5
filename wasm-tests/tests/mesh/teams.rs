//! Two teams release on one gateway, one of them on a path within the other's host: neither moves the other's users.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::support::filter_source::Parts;
use crate::support::in_the_mesh;
use browser::{Kind, Visit};
use mesh_lab::Lab;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

/// None of either version, or of either answer of two teams, among these comes once in 2^39 runs.
const USERS: usize = 40;

/// A second: what orders Istio's objects is the time of their creation in seconds.
const OLDER: Duration = Duration::from_millis(1100);

/// Two namespaces with a shop each, behind the gateway of the first.
struct Teams {
    host: ShopEnv,
    path: ShopEnv,
}

#[test]
fn a_path_of_one_team_within_the_host_of_another_is_released_on_its_own() {
    in_the_mesh(async |lab| {
        let teams = Teams::set_up(lab).await;
        let half = [teams.release("/", "50"), teams.inner("/cart", "50")];
        teams.apply(lab, &half, 1).await;
        let before = teams.until_all_are_released(lab, 1).await;
        assert!(before.values().any(|[host, path]| host != path), "each team draws users of its own");

        teams.apply(lab, &[teams.release("/", "50"), teams.inner("/cart", "100")], 2).await;
        let after = teams.until_all_are_released(lab, 2).await;
        for (user, [host, path]) in &after {
            assert_eq!(path, "v2");
            assert_eq!(Some(host), before.get(user).map(|[host, _]| host), "{user}: the other team's weight");
        }
    });
}

impl Teams {
    async fn set_up(lab: &Lab) -> Self {
        let options = ShopEnvOptions::gateway();
        let (host, path) = tokio::join!(
            ShopEnv::set_up(lab, "team-host", &options),
            ShopEnv::set_up(lab, "team-path", &options),
        );
        Self { host: host.unwrap(), path: path.unwrap() }
    }

    /// The release of the team that has the host.
    fn release(&self, path: &str, weight: &str) -> Document {
        by_user(self.host.release().unwrap(), path, weight)
    }

    /// The release of the team that has a path of it, behind the same gateway.
    fn inner(&self, path: &str, weight: &str) -> Document {
        let gateways = self.host.release().unwrap().get("/spec/gateways");
        by_user(self.path.release().unwrap().with("/spec/gateways", gateways), path, weight)
    }

    /// Applies both; the routes of the first are a second older.
    async fn apply(&self, lab: &Lab, releases: &[Document; 2], generation: u64) {
        let [first, second] = releases;
        let alone = Parts::of(&self.host.generate(&[first], generation).unwrap());
        lab.apply(&alone.routes).await.unwrap();
        tokio::time::sleep(OLDER).await;
        lab.apply(&self.host.generate(&[first, second], generation).unwrap()).await.unwrap();
    }

    /// The versions that each user gets from the host and from the path, once the gateway runs this generation.
    async fn until_all_are_released(&self, lab: &Lab, generation: u64) -> BTreeMap<String, [String; 2]> {
        let pods = lab.pods(&self.path.namespace, "app=shop").await.unwrap();
        let pod = self.host.gateway_pod(lab).await.unwrap();
        lab.until("both releases", async || {
            drop(self.ask("user", "/cart").await);
            for namespace in [&self.host.namespace, &self.path.namespace] {
                let release = format!("{namespace}/shop");
                let labels = [("component", release.as_str())];
                let name = "canary_generation_active";
                let active = lab.proxy_metric(&self.host.ingress, &pod, name, &labels).await.ok()?;
                #[expect(clippy::cast_precision_loss, reason = "generations of tests are small")]
                (active >= generation as f64).then_some(())?;
            }
            Some(())
        })
        .await
        .unwrap();
        let mut found = BTreeMap::new();
        for user in (0..USERS).map(|number| format!("user-{number}")) {
            let (host, other) = self.ask(&user, "/").await;
            let (path, own) = self.ask(&user, "/cart").await;
            assert!(pods.contains(&own) && !pods.contains(&other), "{own} and {other} answered, of {pods:?}");
            found.insert(user, [host, path]);
        }
        found
    }

    /// Version and pod that serve this user.
    async fn ask(&self, user: &str, path: &str) -> (String, String) {
        let visit = Visit::new(Kind::Navigate, path).header("x-user", user);
        let response = self.host.user().send(&visit).await.unwrap();
        let header = |name| response.header(name).unwrap_or_default().to_owned();
        (header("x-shop-version"), header("x-shop-pod"))
    }
}

/// For users that a header identifies: two shops on one host would overwrite each other's session cookies.
fn by_user(release: Document, path: &str, weight: &str) -> Document {
    let release = release.with("/spec/stickiness", "user").with("/spec/session", json!(null));
    let release = release.with("/spec/identifyBy", json!([{"header": "x-user"}]));
    release.with("/spec/paths", json!([path])).with("/spec/weight", weight)
}
