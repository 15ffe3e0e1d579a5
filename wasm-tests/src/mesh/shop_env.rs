//! A place for one test: the shop in a namespace, a gateway in another, and releases for them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use mesh_lab::{FILTER, Lab, LabError, Objects, documents, proxy_image};
use serde_json::json;
use tempfile::TempDir;

use super::temporary::ends_with_the_test;
use crate::scenario::{Document, HOST};
use browser::User;
use programs::artifact;

/// Where a proxy of Istio has its metrics.
const METRICS_PORT: u16 = 15_090;

/// What differs from test to test.
#[derive(Clone, Debug)]
pub struct ShopEnvOptions {
    /// The Envoy of the gateway, by its minor version.
    pub envoy: String,
    /// Whether the shop's pods have sidecars.
    pub sidecars: bool,
    /// Whether the gateway starts with V8: needed where a test applies the filter by `kubectl` to an Envoy before 1.38.
    pub prepared: bool,
    /// Whether the shop is there; without it the namespace is empty.
    pub shop: bool,
    /// How long the gateway lets connections live on after a listener update, in seconds.
    pub drain: u16,
    /// Further statistics of the gateway, by the beginnings of their names in Envoy: Istio leaves most out.
    pub statistics: Vec<String>,
}

impl Default for ShopEnvOptions {
    /// The newest Envoy, sidecars, and Istio's own drain time.
    fn default() -> Self {
        Self {
            envoy: "1.40".to_owned(),
            sidecars: true,
            prepared: false,
            shop: true,
            drain: 45,
            statistics: Vec::new(),
        }
    }
}

impl ShopEnvOptions {
    /// For what concerns the gateway alone: no sidecars, which take time to start.
    pub fn gateway() -> Self {
        Self { sidecars: false, ..Self::default() }
    }

    /// The same with this Envoy (`1.36`), which starts with V8 so that it takes a filter as it runs.
    pub fn gateway_with(envoy: &str) -> Self {
        Self { envoy: envoy.to_owned(), prepared: true, ..Self::gateway() }
    }
}

/// The shop as Deployments `shop-v1` and `shop-v2` behind one Service, and a gateway of its own.
#[derive(Debug)]
pub struct ShopEnv {
    pub namespace: String,
    /// Where the gateway is.
    pub ingress: String,
    /// The label `istio` of the gateway's pods.
    pub selector: String,
    /// The gateway's Service, which stays the same while its pods are replaced.
    pub gateway: SocketAddr,
    /// Keys and release files.
    folder: TempDir,
}

impl ShopEnv {
    /// Sets it up in the namespaces `<name>` and `<name>-ingress` and waits until all pods are ready.
    pub async fn set_up(lab: &Lab, name: &str, options: &ShopEnvOptions) -> Result<Self, LabError> {
        Self::named(lab, [name, &format!("{name}-ingress"), &format!("{name}-gateway")], options).await
    }

    /// With the names that the examples have: namespaces `shop` and `istio-ingress`, `istio: ingressgateway`.
    pub async fn of_the_examples(lab: &Lab, options: &ShopEnvOptions) -> Result<Self, LabError> {
        Self::named(lab, ["shop", "istio-ingress", "ingressgateway"], options).await
    }

    async fn named(
        lab: &Lab,
        [namespace, ingress, selector]: [&str; 3],
        options: &ShopEnvOptions,
    ) -> Result<Self, LabError> {
        [namespace, ingress].into_iter().for_each(ends_with_the_test);
        lab.apply(&namespaces(namespace, ingress, options.sidecars)).await?;
        let mut gateway = gateway(ingress, selector, &options.envoy)?;
        let mut config = json!({"drainDuration": format!("{}s", options.drain)});
        if let (Some(config), false) = (config.as_object_mut(), options.statistics.is_empty()) {
            let matcher = json!({"inclusionPrefixes": options.statistics});
            config.insert("proxyStatsMatcher".to_owned(), matcher);
        }
        let config = config.to_string(); // JSON is YAML
        gateway.replace("/spec/template/metadata/annotations/proxy.istio.io~1config", &config);
        if options.prepared {
            lab.apply(&runtime(ingress, selector)?).await?;
        }
        let shop = if options.shop { Objects::read("shop", namespace)?.text() } else { String::new() };
        lab.apply(&(shop + &gateway.text())).await?;
        for version in ["v1", "v2"].iter().filter(|_| options.shop) {
            lab.rolled_out(namespace, &format!("shop-{version}")).await?;
        }
        lab.rolled_out(ingress, "gateway").await?;
        Ok(Self {
            namespace: namespace.to_owned(),
            ingress: ingress.to_owned(),
            selector: selector.to_owned(),
            gateway: lab.service(ingress, "gateway", 80).await?,
            folder: tempfile::tempdir().map_err(LabError::system("make a folder"))?,
        })
    }

    /// A release of the shop behind this gateway: the example `session-cookie`, with the filter from a file of the image.
    pub fn release(&self) -> Result<Document, LabError> {
        let path = artifact::root().join("examples/session-cookie/canary.yaml");
        let mut value = documents(&path)?.into_iter().next().unwrap_or_default();
        if let Some(namespace) = value.pointer_mut("/metadata/namespace") {
            *namespace = self.namespace.as_str().into();
        }
        let release = Document::from_value(value);
        let gateways = json!([{
            "name": format!("{}/shop", self.ingress),
            "namespace": self.ingress,
            "selector": {"istio": self.selector},
        }]);
        let delivery = json!({"mode": "envoyfilter", "module": format!("file://{FILTER}"), "debugHeader": "x-canary-debug"});
        Ok(release
            .with("/spec/gateways", gateways)
            .with("/spec/hosts", json!([HOST]))
            // The lab's Gateway speaks HTTP, and the simulated users keep `Secure` cookies.
            .with("/spec/cookies", json!({"tls": true}))
            .with("/spec/delivery", delivery))
    }

    /// What `canary-ctl generate` prints for these releases at this generation.
    pub fn generate(&self, releases: &[&Document], generation: u64) -> Result<String, LabError> {
        let mut command = Command::new(artifact::canary_ctl()?);
        command
            .args(["generate", "--generation", &generation.to_string()])
            .arg("--signing-keys")
            .arg(self.keys()?);
        for release in releases {
            let path = self.folder.path().join(release.file_name());
            std::fs::write(&path, release.text()).map_err(LabError::system("write a release"))?;
            command.arg("--file").arg(path);
        }
        run(&mut command)
    }

    /// A token for testers of this release, as `canary-ctl token create` prints it; the release has been generated before.
    pub fn token(&self, release: &Document, version: &str) -> Result<String, LabError> {
        let mut command = Command::new(artifact::canary_ctl()?);
        command.args(["token", "create", "--version", version, "--signing-keys"]).arg(self.keys()?);
        command.arg("--file").arg(self.folder.path().join(release.file_name()));
        Ok(run(&mut command)?.trim().to_owned())
    }

    /// A file of keys, drawn once by `canary-ctl init`.
    pub fn keys(&self) -> Result<PathBuf, LabError> {
        let keys = self.folder.path().join("signing-keys.json");
        if !keys.exists() {
            let mut command = Command::new(artifact::canary_ctl()?);
            command.args([
                "init",
                "--name",
                "shop",
                "--host",
                HOST,
                "--session-cookie",
                "JSESSIONID",
                "--canary",
                "v2",
            ]);
            command
                .arg("--signing-keys")
                .arg(&keys)
                .arg("--file")
                .arg(self.folder.path().join("unused.yaml"));
            run(&mut command)?;
        }
        Ok(keys)
    }

    /// Sets up another gateway, in a namespace of this name and with this label `istio`; answers where it is.
    pub async fn another_gateway(&self, lab: &Lab, name: &str, envoy: &str) -> Result<SocketAddr, LabError> {
        ends_with_the_test(name);
        let namespace = namespace(name, &json!({}));
        lab.apply(&(namespace + &gateway(name, name, envoy)?.text())).await?;
        lab.rolled_out(name, "gateway").await?;
        lab.service(name, "gateway", 80).await
    }

    /// A browser in front of the gateway, as behind a load balancer that ends TLS.
    pub fn user(&self) -> User {
        User::http1(self.gateway, HOST).as_if_tls()
    }

    /// The name of the gateway's pod.
    pub async fn gateway_pod(&self, lab: &Lab) -> Result<String, LabError> {
        let pods = lab.pods(&self.ingress, &format!("istio={}", self.selector)).await?;
        pods.into_iter().next().ok_or_else(|| LabError::Unexpected {
            what: "gateway",
            expected: "a pod",
            found: format!("none in {}", self.ingress),
        })
    }

    /// Where a Prometheus finds the metrics of the gateway's pod.
    pub async fn gateway_metrics(&self, lab: &Lab) -> Result<SocketAddr, LabError> {
        let pod = self.gateway_pod(lab).await?;
        let path = "jsonpath={.status.podIP}";
        let found = lab.kubectl(&["get", "pod", "-n", &self.ingress, &pod, "-o", path]).await?;
        let address = found.trim().parse().map_err(|_| LabError::Unexpected {
            what: "address of a pod",
            expected: "an IP address",
            found,
        })?;
        Ok(SocketAddr::new(address, METRICS_PORT))
    }

    /// Deletes both namespaces without waiting.
    pub async fn delete(&self, lab: &Lab) -> Result<(), LabError> {
        lab.delete_namespaces(&[&self.namespace, &self.ingress]).await
    }
}

/// A gateway in this namespace, with this label `istio` and this Envoy.
fn gateway(ingress: &str, selector: &str, envoy: &str) -> Result<Objects, LabError> {
    let mut gateway = Objects::read("gateway", ingress)?;
    for pointer in
        ["/spec/selector/istio", "/spec/selector/matchLabels/istio", "/spec/template/metadata/labels/istio"]
    {
        gateway.replace(pointer, selector);
    }
    let image = proxy_image(envoy)?;
    gateway.replace("/spec/template/metadata/annotations/sidecar.istio.io~1proxyImage", &image);
    Ok(gateway)
}

/// What makes V8 in a gateway that starts after it. Under a name that is none of `canary-ctl`, whose own it leaves alone.
fn runtime(ingress: &str, selector: &str) -> Result<String, LabError> {
    let path = artifact::root().join("envoyfilter-templates/wasm-runtime.yaml");
    let mut object = documents(&path)?.into_iter().next().unwrap_or_default();
    for (pointer, value) in [
        ("/metadata", json!({"name": "lab-wasm-runtime", "namespace": ingress})),
        ("/spec/workloadSelector/labels", json!({"istio": selector})),
        // One name for each filter of a chain.
        ("/spec/configPatches/1/patch/value/name", json!("lab-wasm-runtime")),
    ] {
        if let Some(field) = object.pointer_mut(pointer) {
            *field = value;
        }
    }
    Ok(format!("---\n{object}\n"))
}

fn namespaces(shop: &str, ingress: &str, sidecars: bool) -> String {
    let injection = if sidecars { "enabled" } else { "disabled" };
    namespace(shop, &json!({"istio-injection": injection})) + &namespace(ingress, &json!({}))
}

fn namespace(name: &str, labels: &serde_json::Value) -> String {
    let metadata = json!({"name": name, "labels": labels});
    format!("---\n{}\n", json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}))
}

fn run(command: &mut Command) -> Result<String, LabError> {
    let output = command.output().map_err(LabError::system(format!("run {command:?}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(LabError::Command {
        command: format!("{command:?}"),
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
