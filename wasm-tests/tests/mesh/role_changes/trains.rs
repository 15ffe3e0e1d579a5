//! The roles of a whole train with one call: the shop behind a gateway and the catalog that its pods call, while users shop.

use crate::support::cli::{Cli, Output};
use crate::support::in_the_mesh;
use browser::{Kind, User, Visit};
use mesh_lab::Lab;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinHandle;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, Faults, Sessions};

const NAMESPACE: &str = "train-roles";
const USERS: usize = 40;

/// The versions of both services that a user had.
type Versions = [String; 2];

/// The shop and its catalog in a train, both applied with a canary; half of the users are on the shop's.
async fn set_up(lab: &Lab) -> (ShopEnv, Cli) {
    let env = ShopEnv::set_up(lab, NAMESPACE, &ShopEnvOptions::default()).await.unwrap();
    env.add_catalog(lab, "headers").await.unwrap();
    let in_train = |release: Document| {
        let release = release.with("/spec/train", "autumn").with("/spec/delivery/module", "embedded");
        release.with("/spec/weight", "0").with("/spec/maxStep", "100")
    };
    let catalog = in_train(env.catalog_release().unwrap());
    let shop = in_train(env.release().unwrap()).with("/spec/sessionAffinity", "identity");
    for release in [&catalog, &shop] {
        Cli::new(lab, release).expect("apply --wait", 0, &["active in "]).await;
    }
    let cli = Cli::new(lab, &shop);
    lab.until("the way to the catalog", async || {
        let mut user = env.user();
        user.navigate("/").await.ok()?;
        both(&mut user).await.ok()
    })
    .await
    .unwrap();
    cli.expect("weight 50 --wait", 0, &["v2 0% -> 50%"]).await;
    (env, cli)
}

/// One request through both services; what was wrong where there is no response of both.
async fn both(user: &mut User) -> Result<Versions, String> {
    let response = user
        .send(&Visit::new(Kind::Fetch, "/catalog?via=http"))
        .await
        .map_err(|error| format!("{error:?}"))?;
    let said = response.json();
    let version = |pointer: &str| said.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    match (response.status, version("/version"), version("/catalog/version")) {
        (200, Some(shop), Some(catalog)) => Ok([shop, catalog]),
        _ => Err(format!("{response:?}")),
    }
}

/// Users with a session who ask for the catalog again and again.
struct Readers {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<(Vec<User>, Vec<Result<Versions, String>>)>,
}

impl Readers {
    fn start(mut users: Vec<User>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let task = tokio::spawn(async move {
            let mut seen = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                for user in &mut users {
                    seen.push(both(user).await);
                }
            }
            (users, seen)
        });
        Self { is_over, task }
    }

    /// The pairs of versions that they had, each once.
    async fn stop(self) -> (Vec<User>, Vec<Versions>) {
        self.is_over.store(true, Ordering::Relaxed);
        let (users, seen) = self.task.await.unwrap();
        println!("{} requests through both services", seen.len());
        let mut pairs: Vec<Versions> = seen
            .into_iter()
            .map(|seen| seen.unwrap_or_else(|failed| panic!("a failed request: {failed}")))
            .collect();
        pairs.sort();
        pairs.dedup();
        (users, pairs)
    }
}

/// The releases of a report, each with what was done.
fn actions(output: &Output) -> Vec<(String, String)> {
    let report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let text = |release: &Value, field: &str| release[field].as_str().unwrap_or_default().to_owned();
    let releases = report["releases"].as_array().unwrap().iter();
    releases.map(|release| (text(release, "release"), text(release, "action"))).collect()
}

fn named(releases: [&str; 2], action: &str) -> Vec<(String, String)> {
    releases.map(|name| (format!("{NAMESPACE}/{name}"), action.to_owned())).to_vec()
}

fn pair(shop: &str, catalog: &str) -> Versions {
    [shop.to_owned(), catalog.to_owned()]
}

#[test]
fn a_train_is_promoted_and_finished_by_one_call_each_and_no_request_fails_and_no_session_moves() {
    in_the_mesh(async |lab| {
        let (env, cli) = set_up(lab).await;
        let users = |count: usize| -> Vec<User> { (0..count).map(|_| env.user()).collect() };
        let mut sessions = Sessions::default();
        let (on_canary, faults) = sessions.open(users(USERS)).await;
        assert_eq!(faults, Faults::default());
        assert!((1..USERS as u64).contains(&on_canary), "{on_canary} of {USERS} on the canary");
        let mut readers = users(10);
        for reader in &mut readers {
            reader.navigate("/cart/add?item=tea").await.unwrap();
        }

        let (moving, reading) = (sessions.start_load(USERS / 2), Readers::start(readers));
        let order = format!("train autumn: {NAMESPACE}/catalog, then {NAMESPACE}/shop");
        let dry =
            cli.expect("promote --train autumn --dry-run=server", 0, &[&order, "nothing written"]).await;
        let (catalog, shop) = (dry.stdout.find("train-roles/catalog:"), dry.stdout.find("train-roles/shop:"));
        assert!(catalog.is_some() && catalog < shop, "{dry:?}");
        let done =
            cli.expect("promote --train autumn --wait -o json", 0, &[&order, "no session moves"]).await;
        assert_eq!(actions(&done), named(["catalog", "shop"], "changed"));
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        let (readers, pairs) = reading.stop().await;
        println!("shop and catalog, while the train was promoted: {pairs:?}");
        let allowed = [pair("v1", "v1"), pair("v1", "v2"), pair("v2", "v2")];
        assert!(pairs.iter().all(|pair| allowed.contains(pair)), "a new shop with an old catalog: {pairs:?}");
        let again = cli.expect("promote --train autumn -o json", 0, &["is promoted already"]).await;
        assert_eq!(actions(&again), named(["catalog", "shop"], "left"));
        let (begun, faults) = sessions.open(users(USERS)).await;
        assert_eq!((begun, faults), (USERS as u64, Faults::default()), "new sessions are on the new version");

        let early = format!("{NAMESPACE}/shop: `v1` drains until");
        cli.expect("promote --finish --train autumn", 2, &[&early, "`--skip-check moves-users`"]).await;
        let ending = sessions.remove_version("v1");
        let (moving, reading) = (sessions.start_load(USERS / 2), Readers::start(readers));
        let finish = "promote --finish --train autumn --skip-check moves-users -o json";
        let done = cli
            .expect(finish, 0, &[&format!("train autumn: {NAMESPACE}/shop, then {NAMESPACE}/catalog")])
            .await;
        assert_eq!(actions(&done), named(["shop", "catalog"], "changed"));
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(false).await, Faults::default());
        let (mut readers, pairs) = reading.stop().await;
        println!("the same, while the old versions left: {pairs:?}");
        assert!(
            pairs.iter().all(|pair| [self::pair("v1", "v1"), self::pair("v2", "v2")].contains(pair)),
            "{pairs:?}"
        );
        for reader in &mut readers {
            assert_eq!(both(reader).await.unwrap(), pair("v2", "v2"), "nobody is left on the old versions");
        }
        assert!(ending.count() > 0, "sessions have ended");
        for rule in ["shop-canary", "catalog-canary"] {
            let subsets =
                ["get", "destinationrule", rule, "-n", NAMESPACE, "-o", "jsonpath={..subsets[*].name}"];
            assert_eq!(lab.kubectl(&subsets).await.unwrap(), "v2", "{rule}");
        }
    });
}
