//! A VirtualService that belongs to somebody else, who upgrades it while the canary is at 20 %: users notice nothing, and
//! we have nothing to repair.

use super::operator::Operator;
use crate::support::in_the_mesh;
use serde_json::{Value, json};
use wasm_tests::client::User;
use wasm_tests::lab::{Helm, Lab, Stage, StageOptions};
use wasm_tests::scenario::{Document, Faults, HOST, Sessions};

const SESSIONS: usize = 100;

/// Who has the chart.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Helm(Helm),
    /// `kubectl apply`, with its annotation.
    Kubectl,
    /// Argo CD's way: server-side, as a manager of its own, forced, and again and again by itself.
    ArgoCd,
}

#[test]
fn an_upgrade_of_a_chart_by_helm_3_moves_nobody() {
    upgraded("chart-helm3", Owner::Helm(Helm::Three));
}

#[test]
fn an_upgrade_of_a_chart_by_helm_4_moves_nobody() {
    upgraded("chart-helm4", Owner::Helm(Helm::Four));
}

#[test]
fn an_upgrade_by_kubectl_moves_nobody() {
    upgraded("chart-kubectl", Owner::Kubectl);
}

#[test]
fn an_upgrade_by_argo_cd_moves_nobody() {
    upgraded("chart-argo", Owner::ArgoCd);
}

fn upgraded(name: &str, owner: Owner) {
    in_the_mesh(async |lab| {
        let stage = Stage::set_up(lab, name, &StageOptions::gateway()).await.unwrap();
        let release = stage
            .release()
            .unwrap()
            .with("/spec/routes", "external")
            .with("/spec/podAffinity", "identity")
            .with("/spec/weight", "0");
        let operator = Operator::new(lab, &release);
        operator.is_told("apply --wait", 0, &["active in 1 proxies"]).await;
        operator.is_told("weight 20", 2, &["no-routes"]).await;
        let chart = Chart::new(lab, &stage, &release);
        chart.comes(owner, "5s").await;
        lab.until("the way to the shop", async || {
            stage.user().navigate("/").await.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await
        .unwrap();
        operator.is_told("weight 20 --wait", 0, &["0% -> 20%"]).await;
        let mut sessions = Sessions::default();
        let people: Vec<User> = (0..SESSIONS).map(|_| stage.user()).collect();
        let (on_canary, faults) = sessions.begin(people).await;
        assert_eq!(faults, Faults::default());
        assert!((1..SESSIONS as u64).contains(&on_canary), "{on_canary} of {SESSIONS} on the canary");

        let moving = sessions.set_out(SESSIONS / 2);
        chart.comes(owner, "7s").await;
        assert_eq!(sessions.settle(moving).await.expect("they come back"), Faults::default(), "{owner:?}");
        assert_eq!(sessions.come_back(true).await, Faults::default(), "{owner:?}");
        assert_eq!(chart.timeout().await, "7s", "theirs is theirs");
        operator.is_told("diff", 0, &[]).await;
        operator.is_told("weight 10 --wait", 0, &["20% -> 10%"]).await;
        assert_eq!(chart.timeout().await, "7s");
        let said = operator.is_told("status", 0, &["weight 10%"]).await;
        assert!(!said.data.contains("problem:"), "{said:?}");
    });
}

/// A chart with the VirtualService of the shop, into which its people have put our routes.
struct Chart<'l> {
    lab: &'l Lab,
    folder: tempfile::TempDir,
    namespace: String,
}

impl<'l> Chart<'l> {
    fn new(lab: &'l Lab, stage: &Stage, release: &Document) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        std::fs::create_dir(folder.path().join("templates")).unwrap();
        write("Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n");
        write("templates/virtual-service.yaml", &virtual_service(stage, release).to_string());
        Self { lab, folder, namespace: stage.namespace.clone() }
    }

    /// Installs it, or upgrades it to this timeout.
    async fn comes(&self, owner: Owner, timeout: &str) {
        let (namespace, path) = (self.namespace.as_str(), self.path());
        let value = format!("timeout={timeout}");
        let text = || {
            let template = self.folder.path().join("templates/virtual-service.yaml");
            std::fs::read_to_string(template).unwrap().replace(TIMEOUT, timeout)
        };
        match owner {
            Owner::Helm(helm) => {
                let line = ["upgrade", "--install", "shop", path, "-n", namespace, "--set", &value];
                self.lab.helm(helm, &line).await.unwrap();
            }
            Owner::Kubectl => {
                self.lab.kubectl_as("admin", &["apply", "-f", "-"], &text()).await.unwrap();
            }
            Owner::ArgoCd => {
                let line = [
                    "apply",
                    "--server-side",
                    "--force-conflicts",
                    "--field-manager=argocd-controller",
                    "-f",
                    "-",
                ];
                for _ in 0..3 {
                    self.lab.kubectl_as("admin", &line, &text()).await.unwrap();
                }
            }
        }
    }

    /// What the cluster has.
    async fn timeout(&self) -> String {
        let line = [
            "get",
            "virtualservice",
            "shop",
            "-n",
            &self.namespace,
            "-o",
            "jsonpath={.spec.http[0].timeout}",
        ];
        self.lab.kubectl(&line).await.unwrap()
    }

    fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }
}

/// What charts put there.
const TIMEOUT: &str = "{{ .Values.timeout }}";

fn virtual_service(stage: &Stage, release: &Document) -> Value {
    let host = format!("shop.{}.svc.cluster.local", stage.namespace);
    let to =
        |version: &str| json!([{"destination": {"host": host, "subset": version, "port": {"number": 80}}}]);
    let by_header = |version: &str| {
        let header = json!({"x-canary-version": {"exact": format!("{}/{version}", release.name())}});
        json!({"match": [{"headers": header}], "route": to(version), "timeout": TIMEOUT})
    };
    json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "shop", "namespace": stage.namespace},
        "spec": {
            "hosts": [HOST],
            "gateways": [format!("{}/shop", stage.ingress)],
            "http": [by_header("v1"), by_header("v2"), {"route": to("v1"), "timeout": TIMEOUT}],
        },
    })
}
