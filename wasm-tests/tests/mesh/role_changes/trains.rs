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

const USERS: usize = 40;

/// The versions of both services that a user had.
type Versions = [String; 2];

/// The shop and its catalog in a train with the name of the namespace, both applied with a canary; half of the users are on the shop's.
async fn set_up(lab: &Lab, namespace: &str) -> (ShopEnv, Cli) {
    let env = ShopEnv::set_up(lab, namespace, &ShopEnvOptions::default()).await.unwrap();
    env.add_catalog(lab, "headers").await.unwrap();
    let in_train = |release: Document| {
        let release = release.with("/spec/train", namespace).with("/spec/delivery/module", "embedded");
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

/// Users, and what each of their requests had.
type Read = (Vec<User>, Vec<Result<Versions, String>>);

/// Users with a session who ask for the catalog again and again.
struct Readers {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<Read>,
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

fn named(env: &ShopEnv, releases: [&str; 2], action: &str) -> Vec<(String, String)> {
    releases.map(|name| (format!("{}/{name}", env.namespace), action.to_owned())).to_vec()
}

fn pair(shop: &str, catalog: &str) -> Versions {
    [shop.to_owned(), catalog.to_owned()]
}

/// The end of the drains, while the sessions of the new versions go on.
async fn finish(lab: &Lab, (env, cli): (&ShopEnv, &Cli), mut sessions: Sessions, readers: Vec<User>) {
    let namespace = env.namespace.as_str();
    let early = format!("{namespace}/shop: `v1` drains until");
    cli.expect("promote --finish --train train-roles", 2, &[&early, "`--skip-check moves-users`"]).await;
    let ending = sessions.remove_version("v1");
    let (moving, reading) = (sessions.start_load(USERS / 2), Readers::start(readers));
    let finish = "promote --finish --train train-roles --skip-check moves-users -o json";
    let done = cli
        .expect(finish, 0, &[&format!("train train-roles: {namespace}/shop, then {namespace}/catalog")])
        .await;
    assert_eq!(actions(&done), named(env, ["shop", "catalog"], "changed"));
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
        let subsets = ["get", "destinationrule", rule, "-n", namespace, "-o", "jsonpath={..subsets[*].name}"];
        assert_eq!(lab.kubectl(&subsets).await.unwrap(), "v2", "{rule}");
    }
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_train_is_promoted_and_finished_by_one_call_each_and_no_request_fails_and_no_session_moves() {
    in_the_mesh(async |lab| {
        let (env, cli) = set_up(lab, "train-roles").await;
        let namespace = env.namespace.as_str();
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
        let order = format!("train train-roles: {namespace}/catalog, then {namespace}/shop");
        let dry =
            cli.expect("promote --train train-roles --dry-run=server", 0, &[&order, "nothing written"]).await;
        let (catalog, shop) = (dry.stdout.find("train-roles/catalog:"), dry.stdout.find("train-roles/shop:"));
        assert!(catalog.is_some() && catalog < shop, "{dry:?}");
        let done =
            cli.expect("promote --train train-roles --wait -o json", 0, &[&order, "no session moves"]).await;
        assert_eq!(actions(&done), named(&env, ["catalog", "shop"], "changed"));
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        let (readers, pairs) = reading.stop().await;
        println!("shop and catalog, while the train was promoted: {pairs:?}");
        let allowed = [pair("v1", "v1"), pair("v1", "v2"), pair("v2", "v2")];
        assert!(pairs.iter().all(|pair| allowed.contains(pair)), "a new shop with an old catalog: {pairs:?}");
        let again = cli.expect("promote --train train-roles -o json", 0, &["is promoted already"]).await;
        assert_eq!(actions(&again), named(&env, ["catalog", "shop"], "left"));
        let (begun, faults) = sessions.open(users(USERS)).await;
        assert_eq!((begun, faults), (USERS as u64, Faults::default()), "new sessions are on the new version");

        finish(lab, (&env, &cli), sessions, readers).await;
    });
}

#[test]
fn a_promoted_train_is_rolled_back_by_one_call_and_no_request_fails_and_no_session_moves() {
    in_the_mesh(async |lab| {
        let (env, cli) = set_up(lab, "train-back").await;
        cli.expect("promote --train train-back", 0, &["train-back/shop: v2 is stable"]).await;
        let mut sessions = Sessions::default();
        let (on_new, faults) = sessions.open((0..USERS).map(|_| env.user()).collect()).await;
        assert_eq!((on_new, faults), (USERS as u64, Faults::default()));
        let mut readers: Vec<User> = (0..10).map(|_| env.user()).collect();
        for reader in &mut readers {
            reader.navigate("/cart/add?item=tea").await.unwrap();
        }
        let (moving, reading) = (sessions.start_load(USERS / 2), Readers::start(readers));
        let order = "train train-back: train-back/shop, then train-back/catalog";
        cli.expect(
            "rollback --train train-back --dry-run",
            0,
            &[order, "train-back/shop: ", "nothing written"],
        )
        .await;
        let done = cli
            .expect("rollback --train train-back -o json", 0, &[order, "its sessions finish there until"])
            .await;
        assert_eq!(actions(&done), named(&env, ["shop", "catalog"], "changed"));
        assert_eq!(sessions.stop_load(moving).await.expect("they come back"), Faults::default());
        assert_eq!(sessions.verify_all(true).await, Faults::default());
        let (mut readers, pairs) = reading.stop().await;
        println!("shop and catalog, while the train was rolled back: {pairs:?}");
        let between = [pair("v2", "v1"), pair("v2", "v2")];
        assert!(pairs.iter().all(|pair| between.contains(pair)), "no session moves: {pairs:?}");
        for reader in &mut readers {
            let found = both(reader).await.unwrap();
            assert_eq!(found, pair("v2", "v2"), "sessions of the new shop have the new catalog again");
        }
        let again =
            cli.expect("rollback --train train-back -o json", 0, &["it is rolled back already"]).await;
        assert_eq!(actions(&again), named(&env, ["shop", "catalog"], "left"));
        let mut user = env.user();
        user.navigate("/").await.unwrap();
        assert_eq!(both(&mut user).await.unwrap(), pair("v1", "v1"), "new users");
        let refused =
            "expected a canary of train-back/catalog, or its promotion, found that admin rolled `v2` back";
        cli.expect("promote --train train-back", 2, &[refused, "promote the others one by one"]).await;
    });
}
