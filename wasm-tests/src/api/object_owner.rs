//! Owners of objects, which write them with their real tools.

use crate::mesh::ShopEnv;
use crate::scenario::HOST;
use mesh_lab::{Helm, Kubernetes, LabError};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The owner of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `helm upgrade --install`.
    Helm(Helm),
    /// `kubectl apply`, with its annotation.
    Kubectl,
    /// As Argo CD does: as a manager of its own, repeatedly, with `kubectl`'s annotation.
    ArgoCd,
    /// The same with `ServerSideApply=true`: forced.
    ArgoCdServerSide,
}

impl Owner {
    pub const ALL: [Self; 5] = [
        Self::Helm(Helm::Three),
        Self::Helm(Helm::Four),
        Self::Kubectl,
        Self::ArgoCd,
        Self::ArgoCdServerSide,
    ];

    /// The field manager.
    pub const fn manager(self) -> &'static str {
        match self {
            Self::Helm(_) => "helm",
            Self::Kubectl => "kubectl-client-side-apply",
            Self::ArgoCd | Self::ArgoCdServerSide => "argocd-controller",
        }
    }
}

/// A VirtualService of theirs, for the shop at its gateway.
pub fn virtual_service(env: &ShopEnv, name: &str, http: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": name, "namespace": env.namespace},
        "spec": {"hosts": [HOST], "gateways": [format!("{}/shop", env.ingress)], "http": http},
    })
}

/// Objects in a folder, as a chart or as what a repository has.
pub struct Chart<'l> {
    api: &'l Kubernetes,
    folder: TempDir,
    name: String,
    namespace: String,
}

impl<'l> Chart<'l> {
    /// One without objects, for this namespace.
    pub fn new(api: &'l Kubernetes, namespace: &str) -> Self {
        Self::called(api, "shop", namespace)
    }

    /// The same, as this release of Helm's.
    pub fn called(api: &'l Kubernetes, name: &str, namespace: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("templates")).unwrap();
        std::fs::write(folder.path().join("Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 0.1.0\n")
            .unwrap();
        Self { api, folder, name: name.to_owned(), namespace: namespace.to_owned() }
    }

    /// Installs it, or upgrades it, with these objects in it and no others.
    pub async fn comes(&self, owner: Owner, objects: &[Value]) -> Result<(), LabError> {
        let text = text(owner, objects);
        let manager = "--field-manager=argocd-controller";
        match owner {
            Owner::Helm(helm) => {
                std::fs::write(self.folder.path().join("templates/all.yaml"), text).unwrap();
                let path = self.folder.path().to_str().unwrap();
                let line = ["upgrade", "--install", &self.name, path, "-n", &self.namespace];
                self.api.helm(helm, &line).await.map(drop)
            }
            Owner::Kubectl => self.kubectl(&["apply", "-f", "-"], &text).await,
            Owner::ArgoCd => self.again_and_again(&["apply", manager, "-f", "-"], &text).await,
            Owner::ArgoCdServerSide => {
                let line = ["apply", "--server-side", "--force-conflicts", manager, "-f", "-"];
                self.again_and_again(&line, &text).await
            }
        }
    }

    /// Takes it away, with its objects.
    pub async fn goes(&self, owner: Owner, objects: &[Value]) {
        let gone = match owner {
            Owner::Helm(helm) => {
                self.api.helm(helm, &["uninstall", &self.name, "-n", &self.namespace]).await.map(drop)
            }
            _ => self.kubectl(&["delete", "-f", "-"], &text(owner, objects)).await,
        };
        gone.unwrap();
    }

    /// Applies these objects, and no longer the others: Helm deletes those itself, for the other owners they are
    /// deleted here.
    pub async fn leaves_out(&self, owner: Owner, objects: &[Value], others: &[Value]) {
        self.comes(owner, objects).await.unwrap();
        if !matches!(owner, Owner::Helm(_)) {
            self.kubectl(&["delete", "-f", "-"], &text(owner, others)).await.unwrap();
        }
    }

    /// What the cluster has as the timeout of the last route of its VirtualService `shop`.
    pub async fn timeout(&self) -> String {
        let path = "jsonpath={.spec.http[-1:].timeout}";
        let line = ["get", "virtualservice", "shop", "-n", &self.namespace, "-o", path];
        self.api.kubectl(&line).await.unwrap()
    }

    async fn again_and_again(&self, line: &[&str], text: &str) -> Result<(), LabError> {
        for _ in 0..2 {
            self.kubectl(line, text).await?;
        }
        Ok(())
    }

    async fn kubectl(&self, line: &[&str], text: &str) -> Result<(), LabError> {
        self.api.kubectl_as("admin", line, text).await.map(drop)
    }
}

/// With the label or annotation by which their owner recognises them. Helm adds its own.
fn text(owner: Owner, objects: &[Value]) -> String {
    let mut text = String::new();
    for object in objects {
        let mut object = object.clone();
        if matches!(owner, Owner::ArgoCd | Owner::ArgoCdServerSide) {
            object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = json!("shop:shop");
        }
        text.extend(["---\n", &object.to_string(), "\n"]);
    }
    text
}
