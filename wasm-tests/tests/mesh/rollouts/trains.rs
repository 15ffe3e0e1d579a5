//! Rollouts of a front end that hides what the API behind it does: the shop, whose home page does without a catalog that fails, and the catalog.
//! Both are releases of one train, and only that of the shop is driven.

use super::{DEADLINE, ended};
use crate::support::cli::Cli;
use crate::support::filter_source::filter;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use browser::load::{LoadProfile, Record, Report, ServedBy, run};
use browser::{Kind, Response, User, Visit};
use canary_operations::{ApplyOptions, WaitOptions};
use canary_release::EmbeddedModule;
use canary_release::file::parse;
use canary_release::spec::Release;
use mesh_lab::Lab;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, HOST};

/// Users who come at the same time.
const PARTY: usize = 40;
/// The requests of each.
const ROUNDS: usize = 6;
/// What is said in the place of the shop's pod where the catalog's part of a page is missing.
const MISSING: &str = "missing";

/// A shop in front of a catalog, to which it passes on `headers` or `baggage`, and whose versions fail so many of a hundred calls; nothing of it
/// is rolled out yet.
struct Train<'l> {
    loaded: LoadedFixture<'l>,
    cli: Cli,
}

impl<'l> Train<'l> {
    async fn set_up(lab: &'l Lab, name: &str, propagate: &str, failing: [u8; 2]) -> Self {
        let step = |weight: u32| json!({"weight": weight, "hold": "8s"});
        let rollout = json!({"plans": {"default": [step(25), step(50)]}, "deadline": "3m"});
        let with = |document: Document| {
            let document = document.with("/spec/rollout", rollout).with("/spec/sessionAffinity", "identity");
            // One name is one train, wherever its releases are.
            document.with("/spec/train", name)
        };
        let mut loaded = LoadedFixture::set_up_with(lab, name, &ShopEnvOptions::default(), with).await;
        loaded.env.add_catalog(lab, propagate).await.unwrap();
        loaded.env.set_shop(lab, &["SHOP_CATALOG_OPTIONAL=true"]).await.unwrap();
        for (version, percent) in ["v1", "v2"].into_iter().zip(failing) {
            let deployment = format!("catalog-{version}");
            let setting = format!("SHOP_FAIL_PERCENT={percent}");
            lab.kubectl(&["set", "env", "-n", name, "deployment", &deployment, &setting]).await.unwrap();
            lab.rolled_out(name, &deployment).await.unwrap();
        }
        let module = filter();
        loaded.release.delivery.module.embed(EmbeddedModule::new(&module).as_ref());
        let catalog = loaded.env.catalog_release().unwrap();
        let catalog =
            catalog.with("/spec/train", name).with("/spec/weight", "0").with("/spec/maxStep", "100");
        let mut catalog = parse(Path::new("canary.yaml"), &catalog.text()).unwrap().release;
        catalog.delivery.module.embed(EmbeddedModule::new(&module).as_ref());
        loaded.apply().await;
        copy_keys(lab, &loaded.env).await;
        apply(&loaded, &catalog).await;
        loaded.answers(HOST).await;
        let cli = Cli::new(lab, &loaded.document);
        Self { loaded, cli }
    }

    /// A rollout of the shop from its start to its end, under load.
    async fn rolled_out(&self) -> Ended {
        let visitors = Visitors::start(self.loaded.env.gateway);
        self.cli.expect("rollout start", 0, &["v2 by plan `default`"]).await;
        let begun = Instant::now();
        let run = self.cli.run("rollout run --interval 2s -o json");
        let output = tokio::time::timeout(DEADLINE, run).await.expect("a rollout that ends");
        let took = begun.elapsed();
        let met = visitors.stop().await;
        let (result, reason) = ended(&output);
        println!(
            "{result} after {took:.1?}: {} of {} users met the fault, {} requests, {} failed; {reason}\n{}",
            met.with_fault, met.users, met.requests, met.failed, output.stderr
        );
        Ended { code: output.code, result, reason, met }
    }
}

/// Gives the catalog's namespace the gateway's keys, with which its callers' sidecars verify baggage: the commands of the guide of trains.
async fn copy_keys(lab: &Lab, env: &ShopEnv) {
    let get = ["get", "secret", "canary-ctl-keys", "-n", &env.ingress, "-o", "json"];
    let server_fields = json!({"uid": null, "resourceVersion": null, "creationTimestamp": null});
    let mut patch = json!({"metadata": server_fields});
    patch["metadata"]["namespace"] = json!(env.namespace);
    let patch = patch.to_string();
    let patch = ["patch", "--local", "-f", "-", "-o", "json", "--type", "merge", "-p", &patch];
    let mut secret = lab.kubectl(&get).await.unwrap();
    for command in [&patch[..], &["create", "-f", "-"]] {
        secret = lab.kubectl_as("admin", command, &secret).await.unwrap();
    }
}

struct Ended {
    code: Option<i32>,
    result: String,
    reason: String,
    met: Met,
}

async fn apply(loaded: &LoadedFixture<'_>, release: &Release) {
    let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
    let options = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: false };
    Box::pin(loaded.cluster.apply(release, options)).await.unwrap();
}

/// What users of the shop met.
#[derive(Debug, Default)]
struct Met {
    users: usize,
    requests: usize,
    /// Responses that were not 200, and missing ones.
    failed: usize,
    /// Users with a page without the catalog's part.
    with_fault: usize,
    /// The versions of the shop on which they were.
    fault_on: BTreeSet<String>,
    /// Moves of sessions: the version before, and the one after.
    moves: Vec<(Option<String>, Option<String>)>,
}

/// Users who come and look at the home page until they are stopped.
struct Visitors {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Met>,
}

impl Visitors {
    fn start(gateway: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            // A session begins with a navigation.
            let kind = |round| if round == 0 { Kind::Navigate } else { Kind::Fetch };
            let visit = Arc::new(move |_, round| Visit::new(kind(round), "/"));
            let profile = LoadProfile { visit, read, ..LoadProfile::navigate("/", ROUNDS) };
            let mut met = Met::default();
            while !stopped.load(Ordering::Relaxed) {
                let party = (0..PARTY).map(|_| User::http1(gateway, HOST).as_if_tls()).collect();
                met.add(&run(party, &profile).await.1);
            }
            met
        });
        Self { stop, task }
    }

    async fn stop(self) -> Met {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap()
    }
}

/// The version of the shop; in the place of the pod whether its catalog's part is missing. That names a pod of the catalog, in HTML and in JSON.
fn read(response: &Response) -> ServedBy {
    let is_missing = response.status == 200 && !response.text().contains("catalog-v");
    ServedBy { pod: is_missing.then(|| MISSING.to_owned()), ..ServedBy::by_shop(response) }
}

impl Met {
    fn add(&mut self, report: &Report) {
        let is_fault = |record: &&Record| record.seen.pod.as_deref() == Some(MISSING);
        let faults: Vec<&Record> = report.records.iter().filter(is_fault).collect();
        self.users += PARTY;
        self.requests += report.records.len();
        self.failed += report.failures().len();
        self.with_fault += faults.iter().map(|record| record.user).collect::<BTreeSet<_>>().len();
        self.fault_on.extend(faults.iter().filter_map(|record| record.seen.version.clone()));
        self.moves
            .extend(report.version_flips().into_iter().map(|flip| (flip.from.version, flip.to.version)));
    }
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_api_whose_canary_fails_ends_the_rollout_of_the_front_end_that_hides_it_and_passes_on_baggage_alone() {
    in_the_mesh(async |lab| {
        let train = Train::set_up(lab, "train-bad", "baggage", [0, 50]).await;
        let Ended { code, result, reason, met } = train.rolled_out().await;
        assert_eq!((code, result.as_str()), (Some(1), "rolledBack"), "{reason}");
        assert!(reason.starts_with("train-bad/catalog: 5xx: canary "), "{reason}");
        assert!(reason.contains(", stable 0.00% of ") && reason.contains("rollback at 120"), "{reason}");
        assert_eq!(met.failed, 0, "the front end hides it: {met:?}");
        assert_eq!(met.fault_on, BTreeSet::from(["v2".to_owned()]), "{met:?}");
        assert!((1..met.users / 2).contains(&met.with_fault), "{met:?}");
        let is_back = |(_, to): &(Option<String>, Option<String>)| to.as_deref() == Some("v1");
        assert!(met.moves.iter().all(is_back), "no session of stable moves: {:?}", met.moves);
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn an_api_that_fails_alike_in_both_versions_lets_the_front_end_go_on() {
    in_the_mesh(async |lab| {
        let train = Train::set_up(lab, "train-alike", "headers", [10, 10]).await;
        let Ended { code, result, reason, met } = train.rolled_out().await;
        assert_eq!((code, result.as_str()), (Some(0), "promoted"), "{reason}");
        assert!(reason.contains("train-alike/catalog: 5xx canary "), "the API was observed: {reason}");
        assert_eq!((met.failed, met.moves.len()), (0, 0), "{met:?}");
    });
}
