//! From Flagger and from Argo Rollouts to a release and back, with their real controllers and under carts: what the pages of
//! `init --from-flagger` and `--from-argo` promise.

mod argo_rollouts;
mod flagger;

use std::future::Future;

use crate::support::cli::Cli;
use mesh_lab::{FILTER, Lab};
use serde_json::{Value, json};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::{Document, Faults, Sessions};

/// Users who come between two changes.
const NEW: usize = 100;
/// Users who send requests without a pause during a change.
const MOVING: usize = 40;

/// The application, its users and the operator.
struct Move<'l> {
    lab: &'l Lab,
    env: ShopEnv,
    cli: Cli,
    sessions: Sessions,
}

/// A step of `canary-steps.yaml`.
#[derive(Default)]
struct Step {
    why: String,
    command: Option<String>,
    object: String,
}

impl<'l> Move<'l> {
    async fn new(lab: &'l Lab, name: &str) -> Self {
        let options = ShopEnvOptions { shop: false, ..ShopEnvOptions::gateway() };
        let env = ShopEnv::set_up(lab, name, &options).await.unwrap();
        // `init` writes the file.
        let cli = Cli::new(lab, &Document::session("shop"));
        Self { lab, env, cli, sessions: Sessions::default() }
    }

    /// Makes a release of the peer's object, by its name, and carries out the steps of the move.
    async fn move_here(&mut self, from: &str) {
        let name = format!("{}/shop", self.env.namespace);
        self.cli
            .expect(&format!("init {from} {name} --session-cookie JSESSIONID --tls true --force"), 0, &[])
            .await;
        let delivery = json!({"mode": "envoyfilter", "module": format!("file://{FILTER}")});
        self.edit(|release| release.with("/spec/delivery", delivery));
        for step in steps(&self.cli.read("canary-steps.yaml")) {
            self.step(step).await;
        }
    }

    async fn step(&mut self, step: Step) {
        let Step { why, command, object } = step;
        let (lab, namespace) = (self.lab, self.env.namespace.clone());
        if !object.is_empty() {
            let line = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
            self.under_load(&why, async |_: &Cli| {
                lab.kubectl_as("admin", &line, &object).await.unwrap();
            })
            .await;
        }
        if why.starts_with("Apply the release.") {
            self.run("apply --wait").await;
        }
        if why.starts_with("Start the new version") {
            self.image("shop", "v2").await;
        }
        match command.as_deref().map(|command| command.split_once(' ').unwrap()) {
            Some(("kubectl", arguments)) => {
                let arguments: Vec<&str> = arguments.split(' ').collect();
                self.under_load(&why, async |_: &Cli| drop(lab.kubectl(&arguments).await.unwrap())).await;
            }
            Some(("canary-ctl", arguments)) => self.run(arguments).await,
            other => assert_eq!(other, None, "{why}"),
        }
        println!("{namespace}: {why}: {} sessions, none moved", self.sessions.count());
    }

    /// Changes `canary.yaml`.
    fn edit(&self, change: impl FnOnce(Document) -> Document) {
        let text = self.cli.read("canary.yaml");
        self.cli.edits(&change(Document::from_value(mesh_lab::parse(&text).unwrap().remove(0))));
    }

    /// Another version of the pods of a Deployment.
    async fn image(&self, deployment: &str, version: &str) {
        let container = json!({"name": "shop", "args": arguments(version)});
        let patch = json!({"spec": {"template": {"spec": {"containers": [container]}}}}).to_string();
        let line = ["patch", "deployment", deployment, "-n", &self.env.namespace, "-p", &patch];
        self.lab.kubectl(&line).await.unwrap();
    }

    async fn rolled_out(&self, deployment: &str) {
        self.lab.rolled_out(&self.env.namespace, deployment).await.unwrap();
    }

    /// `canary-ctl`, under load.
    async fn run(&mut self, line: &str) {
        self.under_load(line, async |cli: &Cli| drop(cli.expect(line, 0, &[]).await)).await;
    }

    /// Fails if a user meets a fault, another pod or an empty cart during the change or after it.
    async fn under_load(&mut self, what: &str, change: impl AsyncFnOnce(&Cli)) {
        let moving = self.sessions.start_load(MOVING);
        change(&self.cli).await;
        let during = self.sessions.stop_load(moving).await.expect("they come back");
        assert_eq!(during.but_closed(), Faults::default(), "{what}");
        assert_eq!(self.sessions.verify_all(false).await.but_closed(), Faults::default(), "after: {what}");
    }

    /// New users; returns how many get `v2`.
    async fn come(&mut self) -> u64 {
        let (on_canary, faults) = self.sessions.open((0..NEW).map(|_| self.env.user()).collect()).await;
        assert_eq!(faults.but_closed(), Faults::default(), "new users");
        on_canary
    }

    /// Half of the new users get the canary, then all; those of the version before leave.
    async fn promote(&mut self, before: &str) {
        self.run("weight 50 --wait --skip-check max-step").await;
        self.come().await;
        self.run("promote --drain 1s --wait --skip-check max-step").await;
        self.come().await;
        assert_ne!(self.sessions.remove_version(before).count(), 0, "users of {before}");
        self.run("promote --finish").await;
        self.come().await;
    }

    /// Waits until this is so.
    async fn until<F: Future<Output = bool>>(&self, what: &str, mut ask: impl FnMut() -> F) {
        self.lab.until(what, async || ask().await.then_some(())).await.unwrap();
    }

    /// A field of an object of the shop's namespace; `null` where it is not there.
    async fn field(&self, object: &str, pointer: &str) -> Value {
        let line = ["get", object, "-n", &self.env.namespace, "-o", "json"];
        let object: Value = serde_json::from_str(&self.lab.kubectl(&line).await.unwrap()).unwrap();
        object.pointer(pointer).cloned().unwrap_or_default()
    }
}

/// The steps of a file that `init` has written.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        let numbered = line.strip_prefix("# ").and_then(|rest| rest.split_once(". "));
        if let Some((_, why)) = numbered.filter(|(number, _)| number.parse::<u32>().is_ok()) {
            steps.push(Step { why: why.to_owned(), ..Step::default() });
        } else if let Some(step) = steps.last_mut() {
            match line.strip_prefix("#    `").and_then(|rest| rest.strip_suffix('`')) {
                Some(command) => step.command = Some(command.replace('\'', "")),
                None if line != "---" => step.object.extend([line, "\n"]),
                None => {}
            }
        }
    }
    steps
}

fn arguments(version: &str) -> Value {
    json!(["--listen=0.0.0.0:8080", format!("--version={version}"), "--pod=$(POD_NAME)"])
}

/// A pod template of the shop with these labels.
fn template(version: &str, labels: &Value) -> Value {
    let container = json!({
        "name": "shop",
        "image": "demo-shop",
        "args": arguments(version),
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 1},
    });
    json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}})
}

/// An object of the shop's namespace.
fn object(env: &ShopEnv, [api_version, kind, name]: [&str; 3], spec: &Value) -> String {
    let metadata = json!({"name": name, "namespace": env.namespace});
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec});
    format!("---\n{object}\n")
}
