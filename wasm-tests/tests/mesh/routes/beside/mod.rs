//! Objects of others beside a release whose canary has ready pods and no users: who answers a caller, and what `doctor` says of it.

mod rows;

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use browser::User;
use mesh_lab::Lab;
use programs::artifact;
use rows::{Row, rows};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::HOST;

/// The namespace of the Service; `rows` names it.
const SHOP: &str = "beside";
/// Pods of another team.
const CALLERS: &str = "beside-callers";
const CALLS: usize = 16;
/// The time in which an object has an effect, at most.
const SETTLE_LIMIT: Duration = Duration::from_secs(12);
const POLL: Duration = Duration::from_millis(500);

/// The place from which a call comes, and what it names.
#[derive(Clone, Copy, Debug)]
enum Call {
    /// By the gateway of the release.
    Gateway(&'static str),
    /// By a pod of the Service's namespace: Service and port.
    Near(&'static str, u16),
    /// The same by a pod of another namespace.
    Far(&'static str, u16),
}

#[test]
#[ignore = "forty objects one after the other, three minutes; ./x test long"]
fn each_object_of_others_does_to_callers_what_the_table_says_and_doctor_names_it() {
    in_the_mesh(async |lab| {
        let place = Place::set_up(lab).await;
        let mut wrong = Vec::new();
        for row in rows() {
            if let Err(reason) = place.check(&row).await {
                wrong.push(format!("{}: {reason}", row.object));
            }
        }
        assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
        place.cli.expect("uninstall --skip-check moves-users", 0, &[]).await;
    });
}

#[test]
fn the_page_has_each_row_of_the_table() {
    let page = std::fs::read_to_string(artifact::root().join("docs/reference/routes.md")).unwrap();
    let missing: Vec<String> = rows().iter().map(Row::line).filter(|line| !page.contains(line)).collect();
    assert!(missing.is_empty(), "docs/reference/routes.md has no\n{}", missing.join("\n"));
}

/// A release at weight 0, and callers in the mesh.
struct Place<'l> {
    lab: &'l Lab,
    env: ShopEnv,
    cli: Cli,
    /// What `doctor` says without an object of others.
    before: String,
    /// The pods of the callers.
    near: String,
    far: String,
}

impl<'l> Place<'l> {
    async fn set_up(lab: &'l Lab) -> Self {
        let env = ShopEnv::set_up(lab, SHOP, &ShopEnvOptions::default()).await.unwrap();
        wasm_tests::mesh::ends_with_the_test(CALLERS);
        lab.apply(&[namespace(), client(SHOP), client(CALLERS)].join("\n---\n")).await.unwrap();
        let mut pods = Vec::new();
        for namespace in [SHOP, CALLERS] {
            lab.rolled_out(namespace, "client").await.unwrap();
            pods.extend(lab.pods(namespace, "app=client").await.unwrap());
        }
        let release = env.release().unwrap().with("/spec/weight", "0").with("/spec/routes", "managed");
        let cli = Cli::new(lab, &release);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let far = pods.pop().unwrap();
        let near = pods.pop().unwrap();
        let mut place = Self { lab, env, cli, before: String::new(), near, far };
        for call in [Call::Gateway(HOST), Call::Near("shop", 80), Call::Far("shop", 80)] {
            place.settles(call, "v1").await.unwrap();
        }
        place.before = place.doctor().await;
        place
    }

    async fn doctor(&self) -> String {
        let doctor = self.cli.run("doctor").await;
        format!("{}{}", doctor.stdout, doctor.stderr)
    }

    /// Applies the objects of a row, and takes them away again.
    async fn check(&self, row: &Row) -> Result<(), String> {
        let objects = row.objects();
        self.lab.apply(&objects).await.map_err(|error| error.to_string())?;
        let answer = self.settles(row.call, row.answer).await;
        let said = self.doctor().await;
        println!("{}: {answer:?}; doctor: {said}", row.object);
        if row.changes_service {
            self.lab.apply(SERVICE).await.map_err(|error| error.to_string())?;
        } else {
            self.lab.delete(&objects).await.map_err(|error| error.to_string())?;
        }
        for call in [Call::Gateway(HOST), Call::Near("shop", 80), Call::Far("shop", 80)] {
            self.settles(call, "v1").await.map_err(|error| format!("afterwards {error}"))?;
        }
        answer?;
        if row.said().is_empty() {
            return (said == self.before).then_some(()).ok_or_else(|| format!("doctor says {said}"));
        }
        let part = row.said();
        said.contains(&part).then_some(()).ok_or_else(|| format!("doctor does not say `{part}`: {said}"))
    }

    /// Returns when the calls have these answers, twice in a row: an object that changes nothing has none to wait for.
    async fn settles(&self, call: Call, expected: &str) -> Result<(), String> {
        let (start, mut last, mut times) = (Instant::now(), String::new(), 0);
        while start.elapsed() < SETTLE_LIMIT && times < 3 {
            last = self.answers(call).await;
            times = if last == expected { times + 1 } else { 0 };
            sleep(POLL).await;
        }
        if times > 0 { Ok(()) } else { Err(format!("{call:?}: expected {expected}, found {last}")) }
    }

    async fn answers(&self, call: Call) -> String {
        let (address, host) = match call {
            Call::Gateway(host) => (self.env.gateway, host.to_owned()),
            Call::Near(name, port) | Call::Far(name, port) => {
                let Ok(address) = self.address(name, port).await else { return "no address".to_owned() };
                let host = if name.contains('.') { name.to_owned() } else { format!("{name}.{SHOP}") };
                (address, if port == 80 { host } else { format!("{host}:{port}") })
            }
        };
        let calls = async move || asked(address, &host).await;
        let found = match call {
            Call::Gateway(_) => calls().await,
            Call::Near(..) => self.lab.in_pod(SHOP, &self.near, calls).unwrap(),
            Call::Far(..) => self.lab.in_pod(CALLERS, &self.far, calls).unwrap(),
        };
        found.into_iter().collect::<Vec<_>>().join(" and ")
    }

    /// A host of a `ServiceEntry` gets its address from Istio.
    async fn address(&self, name: &str, port: u16) -> Result<SocketAddr, String> {
        if name.contains('.') {
            return Ok(SocketAddr::from(([240, 240, 1, 1], port)));
        }
        self.lab.service(SHOP, name, port).await.map_err(|error| error.to_string())
    }
}

/// The versions that answer, and the status of errors.
async fn asked(address: SocketAddr, host: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for _ in 0..CALLS {
        let response = User::http1(address, host).as_if_tls().navigate("/").await;
        found.insert(match response {
            Ok(response) if response.status == 200 => {
                response.header("x-shop-version").unwrap_or("another").to_owned()
            }
            Ok(response) => response.status.to_string(),
            Err(_) => "no response".to_owned(),
        });
    }
    found
}

/// The Service of the shop as it was.
const SERVICE: &str = r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop", "namespace": "beside"}, "spec":
    {"selector": {"app": "shop"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}}"#;

fn namespace() -> String {
    let labels = json!({"istio-injection": "enabled"});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CALLERS, "labels": labels}})
        .to_string()
}

/// A pod that has nothing to do but to be in the mesh.
fn client(namespace: &str) -> String {
    let container = json!({"name": "client", "image": "demo-shop",
        "args": ["--listen=0.0.0.0:8080", "--version=none", "--pod=client"]});
    let labels = json!({"app": "client"});
    let template: Value = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "client", "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": template}})
    .to_string()
}
