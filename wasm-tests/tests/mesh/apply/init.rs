//! `canary-ctl init --from-cluster`: the first file has what the cluster has; missing values are errors.

use std::path::Path;
use std::process::Command;

use canary_release::file::{Document, load};
use canary_release::spec::Routes;
use mesh_lab::Lab;
use programs::artifact;
use tempfile::TempDir;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

use crate::support::in_the_mesh;

#[test]
fn init_from_cluster_writes_what_the_cluster_has() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "first-file", &ShopEnvOptions::gateway()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let init = |flags: &str| init(lab, &env, &folder, flags);

        let (code, said) = init("");
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("which version is stable? found `v1` (2 pods), `v2` (2 pods)"), "{said}");
        let (code, said) = init("--canary v2");
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("no route of a gateway leads there\n  hint: give `--host HOST`"), "{said}");

        lab.apply(&sticky_before(&env, "name: SID, ttl: 0s")).await.unwrap();
        let (code, said) = init("--canary v2");
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("found `SID`, which Envoy sets itself"), "{said}");
        lab.apply(&sticky_before(&env, "name: SID")).await.unwrap();
        let (code, said) = init("--canary v2");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("VirtualService `by-hand` leads there: `routes: external`"), "{said}");
        assert!(said.contains("/shop` speaks TLS\n  hint: give `--tls false`, or"), "{said}");
        assert!(!folder.path().join("signing-keys.json").exists(), "`apply` draws them");
        let release = read(&folder).release;
        assert_eq!(release.name.to_string(), format!("{}/shop", env.namespace));
        assert_eq!((release.service.port, release.versions.label.as_str()), (80, "version"));
        assert_eq!(
            (release.versions.stable.as_str(), release.versions.canary.as_deref()),
            ("v1", Some("v2"))
        );
        assert_eq!(release.hosts, ["hand.example.com"]);
        assert_eq!(release.session.cookie.as_deref(), Some("SID"));
        assert_eq!(release.routes, Some(Routes::External));
        let [gateway] = release.gateways.as_slice() else { panic!("{:?}", release.gateways) };
        assert_eq!(gateway.name.to_string(), format!("{}/shop", env.ingress));
        assert_eq!(gateway.pods.namespace.as_str(), env.ingress);
        assert_eq!(gateway.pods.labels.get("istio"), Some(&env.selector));

        let (code, said) =
            init("--canary v3 --stable v2 --host a.example.com --jwt-claim sub --tls false --force");
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("speaks TLS"), "it was told: {said}");
        let release = read(&folder).release;
        assert_eq!(
            (release.versions.stable.as_str(), release.versions.canary.as_deref()),
            ("v2", Some("v3"))
        );
        assert_eq!(
            (release.hosts, release.session.cookie),
            (vec!["a.example.com".to_owned()], None),
            "flags win"
        );
    });
}

fn read(folder: &TempDir) -> Document {
    load(&folder.path().join("canary.yaml")).unwrap()
}

/// Types it on this very thread, which is in the lab's network.
fn init(lab: &Lab, env: &ShopEnv, folder: &TempDir, flags: &str) -> (Option<i32>, String) {
    let mut command = Command::new(artifact::canary_ctl().unwrap());
    command.args(["init", "--from-cluster", "--name", "shop", "--namespace", &env.namespace, "--kubeconfig"]);
    command.arg::<&Path>(&lab.kubeconfig("admin").unwrap()).args(flags.split_whitespace());
    let output = tokio::task::block_in_place(|| command.current_dir(folder.path()).output()).unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The rules of a shop whose sessions have to stay on their pods by this cookie, from before the release.
fn sticky_before(env: &ShopEnv, cookie: &str) -> String {
    let ShopEnv { namespace, ingress, .. } = env;
    format!(
        "apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: by-hand, namespace: {namespace}}}
spec:
  hosts: [hand.example.com]
  gateways: [{ingress}/shop]
  http: [{{route: [{{destination: {{host: shop}}}}]}}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: by-hand, namespace: {namespace}}}
spec:
  host: shop
  trafficPolicy: {{loadBalancer: {{consistentHash: {{httpCookie: {{{cookie}}}}}}}}}
"
    )
}
