//! Gateways that run without V8: `apply` refuses them, `prepare` restarts them, and then they take the filter as they run.

use crate::support::filter_source::{Parts, route};
use crate::support::gateway_without_v8::{GatewayWithoutV8, options};
use crate::support::in_the_mesh;
use crate::support::release_fixture::refused;
use canary_ctl::hint::Hint as _;
use canary_release::plan::PlanNote;
use canary_release::preflight::{PreflightCheck, WasmRuntime};
use serde_json::Value;
use wasm_tests::scenario::{Faults, Sessions};

const SESSIONS: usize = 40;
const LABEL: &str = "/spec/template/metadata/labels/canary-ctl.io~1wasm-runtime";

#[test]
fn a_gateway_without_v8_is_refused_and_after_prepare_takes_the_filter_without_a_failed_request() {
    in_the_mesh(async |lab| {
        let gateway = GatewayWithoutV8::set_up(lab, "prepared", 2).await;
        let (cluster, name) = (gateway.cluster().await, gateway.release.name.clone());
        route(lab, &gateway.env, &gateway.document).await;
        assert_eq!(gateway.runtimes(&cluster).await, [WasmRuntime::Missing; 2]);

        let done = gateway.apply(&cluster).await;
        let message = refused(PreflightCheck::NoWasmRuntime, &done);
        for pod in lab.pods(&gateway.env.ingress, "app!=none").await.unwrap() {
            assert!(message.contains(&pod), "{message} names {pod}");
        }
        let hint = done.unwrap_err().hint().unwrap();
        assert!(hint.contains("`canary-ctl prepare`"), "{hint}");
        assert_eq!(cluster.find_record(&name).await.unwrap(), None, "nothing is written before");
        assert_eq!(gateway.envoy_filters().await, Vec::<String>::new(), "nothing is written before");
        let notes = cluster.plan(&gateway.release).await.unwrap().notes;
        let is_it = |note: &PlanNote| matches!(note, PlanNote::CheckFails(failed) if failed.check == PreflightCheck::NoWasmRuntime);
        assert!(notes.iter().any(is_it), "diff says it: {notes:?}");

        let mut sessions = Sessions::default();
        assert_eq!(sessions.open(gateway.users(SESSIONS)).await, (0, Faults::default()), "all on stable");
        let before = gateway.deployment().await;
        let moving = sessions.start_load(SESSIONS / 2);
        let prepared = gateway.prepare(&cluster).await.unwrap();
        assert_eq!((prepared.restarts.len(), prepared.restarts[0].proxies.len()), (1, 2), "{prepared:?}");
        assert_eq!(gateway.runtimes(&cluster).await, [WasmRuntime::Present; 2]);
        gateway.apply(&cluster).await.unwrap();
        let faults = sessions.stop_load(moving).await.expect("they come back");
        println!("connections closed while the gateways were prepared: {}", faults.closed);
        assert_eq!(faults.but_closed(), Faults::default(), "while the gateways were prepared");
        assert_eq!(sessions.verify_all(true).await.but_closed(), Faults::default(), "afterwards");

        let during = gateway.deployment().await;
        assert_eq!(during.pointer(LABEL), Some(&Value::from("1")));
        assert_eq!(without_ours(&during), without_ours(&before), "the label is all that is written");
        assert_eq!(gateway.prepare(&cluster).await.unwrap().restarts, [], "nothing is left to do");

        // Our objects are deleted and the gateway is restarted: the next installation is not the first, and as
        // dangerous.
        lab.kubectl(&["delete", "envoyfilter", "--all", "-n", &gateway.env.ingress]).await.unwrap();
        lab.kubectl(&["rollout", "restart", "-n", &gateway.env.ingress, "deployment/gateway"]).await.unwrap();
        lab.rolled_out(&gateway.env.ingress, "gateway").await.unwrap();
        refused(PreflightCheck::NoWasmRuntime, &gateway.apply(&cluster).await);
        let status = gateway.status().await.stdout;
        assert!(status.contains("runs without V8, and may die of its first Wasm filter"), "{status}");
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_preparation_that_was_killed_after_any_write_is_continued_and_given_back_by_undo() {
    in_the_mesh(async |lab| {
        let gateway = GatewayWithoutV8::set_up(lab, "prepared-killed", 1).await;
        let before = gateway.deployment().await;
        // Each process but the first makes one write and is killed at the next.
        let mut kills = 0;
        for writes in [0, 1, 1, 1, 1, 1] {
            let (process, killed) = gateway.killed_after(writes).await;
            match gateway.prepare(&process).await {
                Err(_) if killed.is_killed() => kills += 1,
                done => {
                    done.unwrap();
                    break;
                }
            }
        }
        assert_eq!(
            kills, 3,
            "killed before the object for the label, the label, and the object for all pods"
        );
        let cluster = gateway.cluster().await;
        assert_eq!(gateway.runtimes(&cluster).await, [WasmRuntime::Present]);
        let during = gateway.deployment().await;
        assert_eq!(
            during.pointer(LABEL),
            Some(&Value::from("1")),
            "one restart, however often it was killed"
        );
        assert_eq!(gateway.envoy_filters().await, [gateway.runtime_object()]);

        let undone = gateway.undo_as("restricted-preparer").await;
        assert_eq!(undone.code, 0, "with the rights of `generate rbac --prepare`: {}", undone.stderr);
        assert!(undone.stderr.contains("the label is given back"), "{}", undone.stderr);
        let after = gateway.deployment().await;
        assert_eq!(
            (after.pointer(LABEL), after.pointer("/spec/template")),
            (None, before.pointer("/spec/template"))
        );
        assert!(!managers(&after).contains(&"canary-ctl".to_owned()), "{:?}", managers(&after));
        assert_eq!(gateway.envoy_filters().await, Vec::<String>::new());
        let again = cluster.undo_preparation(&gateway.release, options(&mut |_| {})).await.unwrap();
        assert_eq!(again.restarts, [], "nothing is left to do");
    });
}

#[test]
fn a_restart_that_would_leave_no_ready_gateway_is_refused_before_anything_is_written() {
    in_the_mesh(async |lab| {
        let gateway = GatewayWithoutV8::set_up(lab, "prepared-not", 1).await;
        let cluster = gateway.cluster().await;
        for (patch, found) in [
            (
                r#"{"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}"#,
                "`strategy.type: Recreate`",
            ),
            (
                r#"{"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}}}"#,
                "`maxUnavailable` 1 of 1 replicas",
            ),
        ] {
            gateway.patch(patch).await;
            let refused = gateway.prepare(&cluster).await.unwrap_err().to_string();
            assert!(refused.ends_with(found), "{refused}");
        }
        assert_eq!(gateway.deployment().await.pointer(LABEL), None);
        assert_eq!(gateway.envoy_filters().await, Vec::<String>::new());
    });
}

#[test]
fn a_gateway_that_starts_with_the_filter_survives_a_late_configuration() {
    in_the_mesh(async |lab| {
        let gateway = GatewayWithoutV8::set_up(lab, "prepared-late", 1).await;
        let env = &gateway.env;
        route(lab, env, &gateway.document).await;
        let release = gateway.document.clone().with("/spec/weight", "100");
        let parts = Parts::of(&env.generate(&[&release], 1).unwrap());
        lab.scale(&env.ingress, "gateway", 0).await.unwrap();
        lab.until("the end of the gateway", async || {
            lab.pods(&env.ingress, "").await.ok()?.is_empty().then_some(())
        })
        .await
        .unwrap();
        // Longer than Envoy waits for a configuration: its workers start without a Wasm filter.
        lab.apply(&parts.filter.replace("initial_fetch_timeout: 30s", "initial_fetch_timeout: 2s"))
            .await
            .unwrap();
        lab.scale(&env.ingress, "gateway", 1).await.unwrap();
        lab.rolled_out(&env.ingress, "gateway").await.unwrap();
        let version = async || {
            let response = env.user().navigate("/").await.ok()?;
            response.header("x-shop-version").map(str::to_owned)
        };
        lab.until("stable", async || (version().await.as_deref() == Some("v1")).then_some(())).await.unwrap();
        lab.apply(&parts.config).await.unwrap();
        lab.until("the canary", async || (version().await.as_deref() == Some("v2")).then_some(()))
            .await
            .unwrap();
    });
}

fn managers(object: &Value) -> Vec<String> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.get("manager")?.as_str()?.to_owned())).collect()
}

/// The specification without our label, and the owners of the rest.
fn without_ours(deployment: &Value) -> (Value, Vec<String>) {
    let mut spec = deployment["spec"].clone();
    if let Some(labels) = spec.pointer_mut("/template/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("canary-ctl.io/wasm-runtime");
    }
    let mut owners = managers(deployment);
    owners.retain(|owner| owner != "canary-ctl");
    owners.sort();
    (spec, owners)
}
