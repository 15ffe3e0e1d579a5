//! A Service of several ports: a call inside the mesh reaches the port that it was for, before a release comes and with each kind of
//! routes.

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::net::SocketAddr;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::HOST;

/// Each is a container of its own in the pods, which answers with its name as `x-shop-pod`.
const PORTS: [(u16, &str); 3] = [(80, "http"), (9090, "http-metrics"), (9000, "grpc")];
const CALLS: usize = 30;

#[test]
fn with_routes_of_our_own_a_call_of_any_port_reaches_that_port_of_the_stable_version() {
    in_the_mesh(async |lab| {
        let calls = Calls::set_up(lab, "ports").await;
        let release = calls.env.release().unwrap().with("/spec/weight", "0").with("/spec/routes", "managed");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        lab.until("the gateway", async || {
            let response = User::http1(calls.env.gateway, HOST).as_if_tls().navigate("/").await.ok()?;
            (response.header("x-shop-pod")? == "http").then_some(())
        })
        .await
        .unwrap();
        calls.reach_stable().await;
        cli.expect("uninstall --skip-check moves-users", 0, &[]).await;
    });
}

#[test]
fn with_http_routes_a_call_of_any_port_reaches_that_port_of_the_stable_version() {
    in_the_mesh(async |lab| {
        let calls = Calls::set_up(lab, "http-route-ports").await;
        let shop = &calls.env.namespace;
        lab.apply(&stream(&["v1", "v2"].map(|version| service(shop, Some(version))))).await.unwrap();
        let release = calls.env.release().unwrap().with("/spec/weight", "0").with("/spec/routes", "external");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait --skip-check no-routes", 0, &["active in 1 proxy"]).await;
        lab.apply(&cli.run("generate routes --gateway-api").await.stdout).await.unwrap();
        calls.reach_ports().await;
        lab.apply(&cli.run("generate routes --gateway-api --port 9090 --port 9000").await.stdout)
            .await
            .unwrap();
        calls.reach_stable().await;
        cli.expect("uninstall --skip-check moves-users", 0, &[]).await;
    });
}

/// Calls of a pod in another namespace.
struct Calls<'l> {
    lab: &'l Lab,
    env: ShopEnv,
    client: String,
    service: SocketAddr,
}

impl<'l> Calls<'l> {
    /// Each port answers for itself, and both versions are behind it.
    async fn set_up(lab: &'l Lab, name: &str) -> Self {
        let options = ShopEnvOptions { shop: false, ..ShopEnvOptions::default() };
        let env = ShopEnv::set_up(lab, name, &options).await.unwrap();
        let shop = env.namespace.as_str();
        let versions = ["v1", "v2"].map(|version| deployment(shop, version));
        let [v1, v2] = versions;
        lab.apply(&stream(&[service(shop, None), v1, v2, client(shop)])).await.unwrap();
        for name in ["shop-v1", "shop-v2", "client"] {
            lab.rolled_out(shop, name).await.unwrap();
        }
        let client = lab.pods(shop, "app=client").await.unwrap().remove(0);
        let service = lab.service(shop, "shop", 80).await.unwrap();
        let calls = Self { lab, env, client, service };
        lab.until("both versions at each port", async || {
            PORTS
                .iter()
                .all(|port| calls.versions(*port).is_some_and(|found| found == ["v1", "v2"]))
                .then_some(())
        })
        .await
        .unwrap();
        calls
    }

    /// Returns when every call reaches the port that it was for, of whichever version.
    async fn reach_ports(&self) {
        let reached = async || PORTS.iter().all(|port| self.versions(*port).is_some()).then_some(());
        self.lab.until("each port at itself", reached).await.unwrap();
    }

    /// The same of the stable version.
    async fn reach_stable(&self) {
        let is_stable =
            |port: &(u16, &'static str)| self.versions(*port).is_some_and(|found| found == ["v1"]);
        let reached = async || PORTS.iter().all(is_stable).then_some(());
        self.lab.until("stable alone at each port", reached).await.unwrap();
    }

    /// The versions that have answered calls of a port; `None` if another port has answered one of them.
    fn versions(&self, (number, name): (u16, &'static str)) -> Option<Vec<String>> {
        let address = SocketAddr::new(self.service.ip(), number);
        let host = format!("shop.{}:{number}", self.env.namespace);
        let call = async move || {
            let mut versions = Vec::new();
            for _ in 0..CALLS {
                let mut user =
                    if name == "grpc" { User::http2(address, &*host) } else { User::http1(address, &*host) };
                let response = user.navigate("/").await.ok()?;
                if response.status != 200 || response.header("x-shop-pod") != Some(name) {
                    println!("a call of {number} was answered by {:?}", response.header("x-shop-pod"));
                    return None;
                }
                versions.push(response.header("x-shop-version")?.to_owned());
            }
            versions.sort();
            versions.dedup();
            Some(versions)
        };
        self.lab.in_pod(&self.env.namespace, &self.client, call).unwrap()
    }
}

fn service(namespace: &str, version: Option<&str>) -> Value {
    let (mut name, mut selector) = ("shop".to_owned(), json!({"app": "shop"}));
    if let Some(version) = version {
        name = format!("shop-{version}");
        selector["version"] = version.into();
    }
    let port =
        |(number, name): (u16, &str)| json!({"name": name, "port": number, "targetPort": listen(number)});
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector, "ports": PORTS.map(port)}})
}

fn deployment(namespace: &str, version: &str) -> Value {
    let containers = PORTS.map(|(number, name)| {
        let listen = format!("--listen=0.0.0.0:{}", listen(number));
        json!({"name": name, "image": "demo-shop",
            "args": [listen, format!("--version={version}"), format!("--pod={name}")],
            "readinessProbe": {"httpGet": {"path": "/healthz", "port": self::listen(number)}, "periodSeconds": 1}})
    });
    workload(
        namespace,
        &format!("shop-{version}"),
        &json!({"app": "shop", "version": version}),
        &json!(containers),
    )
}

/// Where the container of a port listens.
const fn listen(number: u16) -> u16 {
    8_000 + number % 1_000
}

/// A pod that has nothing to do but to be in the mesh.
fn client(namespace: &str) -> Value {
    let container = json!({"name": "client", "image": "demo-shop",
        "args": ["--listen=0.0.0.0:8080", "--version=none", "--pod=client"]});
    workload(namespace, "client", &json!({"app": "client"}), &json!([container]))
}

fn workload(namespace: &str, name: &str, labels: &Value, containers: &Value) -> Value {
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": template}})
}

fn stream(objects: &[Value]) -> String {
    objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n")
}
