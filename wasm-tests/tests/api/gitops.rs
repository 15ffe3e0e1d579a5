//! `docs/guides/gitops.md`, typed: the object and its end, a request, Argo CD's settings. The libraries of the tools read the status in
//! `ctl/controller/tests/controller/gitops.rs`.

use crate::beside_an_api_server;
use crate::controller::{controller_in, define};
use mesh_lab::Kubernetes;
use programs::artifact;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

const SETTINGS: &str = "examples/argo-cd/argocd-cm.yaml";

/// The page, and a folder with the files that it names.
struct Reader<'l> {
    api: &'l Kubernetes,
    page: String,
    folder: TempDir,
}

impl<'l> Reader<'l> {
    fn new(api: &'l Kubernetes) -> Self {
        let page = std::fs::read_to_string(artifact::root().join("docs/guides/gitops.md")).unwrap();
        // Other tests of this API server have the namespace of the page.
        let page = page.replace("namespace: shop}", "namespace: gitops}").replace("-n shop ", "-n gitops ");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("examples/argo-cd")).unwrap();
        std::fs::copy(artifact::root().join(SETTINGS), folder.path().join(SETTINGS)).unwrap();
        let reader = Self { api, page, folder };
        std::fs::write(reader.folder.path().join("canary.yaml"), reader.block("The file", "yaml")).unwrap();
        reader
    }

    /// The first block of a language below a heading.
    fn block(&self, heading: &str, language: &str) -> &str {
        let (_, below) = self.page.split_once(&format!("\n## {heading}\n")).unwrap();
        let (_, block) = below.split_once(&format!("```{language}\n")).unwrap();
        block.split("```").next().unwrap()
    }

    /// Types the commands below a heading; the result is what they print.
    async fn types(&self, heading: &str) -> String {
        let kubectl = artifact::root().join(".tools/lab/bin");
        let output = Command::new("sh")
            .args(["-ec", self.block(heading, "sh")])
            .current_dir(self.folder.path())
            .env("KUBECONFIG", self.api.kubeconfig("admin").unwrap())
            .env("PATH", format!("{}:{}", kubectl.display(), std::env::var("PATH").unwrap()))
            .output()
            .await
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        printed
    }
}

async fn get(api: &Kubernetes, object: &[&str]) -> Value {
    let text = api.kubectl(&[&["get", "-o", "json"], object].concat()).await.unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Without a grant the end is a refusal. Rollouts need proxies.
#[test]
fn the_commands_of_the_page_lead_to_an_end_that_is_waited_for_and_to_an_answer() {
    beside_an_api_server(async |api| {
        api.kubectl(&["create", "namespace", "gitops"]).await.unwrap();
        define(api).await;
        let _controller = controller_in(api, "gitops");
        let reader = Reader::new(api);
        let printed = reader.types("With the controller").await;
        assert!(printed.ends_with("condition met\nFailed\n"), "{printed}");
        reader.types("Requests").await;
        let answered = async || {
            let object = get(api, &["release.canary-ctl.io", "shop", "-n", "gitops"]).await;
            Some(object["status"]["lastRequest"].clone()).filter(|answer| answer["result"] == "Refused")
        };
        let answer = api.until("an answer", answered).await.unwrap();
        assert_eq!((&answer["action"], &answer["by"]), (&json!("rollback"), &json!("ada")), "{answer}");
    });
}

#[test]
fn the_settings_of_argo_cd_keep_those_of_others_and_stay_when_its_manifests_are_applied_again() {
    beside_an_api_server(async |api| {
        api.kubectl(&["create", "namespace", "argocd"]).await.unwrap();
        let labels = json!({"app.kubernetes.io/name": "argocd-cm", "app.kubernetes.io/part-of": "argocd"});
        let metadata = json!({"name": "argocd-cm", "namespace": "argocd", "labels": labels});
        let installed = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
            "data": {"url": "https://argocd.example.com"}});
        let reader = Reader::new(api);
        let manifest = reader.folder.path().join("install.json");
        std::fs::write(&manifest, installed.to_string()).unwrap();
        let install = ["apply", "-f", manifest.to_str().unwrap()];
        let server_side = [&install[..], &["--server-side", "--force-conflicts"]].concat();
        api.kubectl(&install).await.unwrap();
        reader.types("Argo CD").await;
        api.kubectl(&install).await.unwrap();
        api.kubectl(&server_side).await.unwrap();
        let settings = get(api, &["configmap", "argocd-cm", "-n", "argocd"]).await;
        let keys: Vec<&String> = settings["data"].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert_eq!(settings["data"]["url"], "https://argocd.example.com");
    });
}
