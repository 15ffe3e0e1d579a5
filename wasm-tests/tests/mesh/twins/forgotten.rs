//! An upgrade that forgets the post-renderer: refused by the API server, or reported by `status` and mended by Helm.

use super::{TwinChart, sorted};
use mesh_lab::documents;

impl TwinChart<'_> {
    /// Applies the policy, and lets the API server check two updates of stable's Deployment as dry runs: what the chart says of it, and
    /// what the post-renderer has made of that. Both were rendered by [`deploy_beside`](Self::deploy_beside). Then Helm tries it.
    pub(super) async fn is_refused_by_the_policy(&self) {
        let policy = self.canary_ctl(&["generate", "admission-policy"]).await;
        self.lab.kubectl_as("admin", &["apply", "-f", "-"], &policy).await.unwrap();
        let refused = async || {
            let refused = self.replace("rendered.yaml").await.err()?;
            refused.contains("ValidatingAdmissionPolicy").then_some(refused)
        };
        let message = self.lab.until("the policy's refusal", refused).await.unwrap();
        let expected = "Deployment shop makes the pods of version v1, and this update takes their version from them: helm upgrade needs \
                        --post-renderer";
        assert!(message.contains(expected), "expected `{expected}` in {message}");
        self.replace("expected.yaml").await.expect("what the post-renderer makes of it");
        let pods = [self.pods("v1").await, self.pods("v2").await];
        let upgrade =
            ["upgrade", "shop", &self.text("chart"), "--set", "version=forgotten", "-n", &self.namespace];
        let refused =
            self.lab.helm(self.helm, &upgrade).await.expect_err("the policy refuses it").to_string();
        assert!(refused.contains(expected), "expected `{expected}` in {refused}");
        self.helm(&["rollback", "shop"]).await;
        self.deployed().await;
        assert_eq!(sorted(&self.path("deployed.yaml")), sorted(&self.path("expected.yaml")), "rolled back");
        assert_eq!([self.pods("v1").await, self.pods("v2").await], pods, "nothing was replaced or deleted");
    }

    /// Upgrades the chart by Helm alone where stable was installed through the post-renderer: its selector names the version, and cannot
    /// change.
    pub(super) async fn is_refused_by_the_selector(&self) {
        let before = self.objects().await;
        let upgrade =
            ["upgrade", "shop", &self.text("chart"), "--set", "version=forgotten", "-n", &self.namespace];
        let refused = self.lab.helm(self.helm, &upgrade).await.expect_err("the selector").to_string();
        assert!(refused.contains("field is immutable"), "{refused}");
        self.helm(&["rollback", "shop"]).await;
        self.deployed().await;
        assert_eq!(sorted(&self.path("deployed.yaml")), sorted(&self.path("expected.yaml")), "rolled back");
        assert_eq!(self.objects().await, before, "nothing was deleted");
    }

    /// A dry run of the update of Deployment `shop` to what a file has of it.
    async fn replace(&self, file: &str) -> Result<String, String> {
        let objects = documents(&self.path(file)).unwrap();
        let is_it = |object: &&serde_json::Value| {
            object["kind"] == "Deployment" && object["metadata"]["name"] == "shop"
        };
        let deployment = objects.iter().find(is_it).expect("stable's Deployment").to_string();
        let line = ["replace", "--dry-run=server", "-n", &self.namespace, "-f", "-"];
        self.lab.kubectl_as("admin", &line, &deployment).await.map_err(|error| error.to_string())
    }

    /// Upgrades the chart by Helm alone where the policy keeps the Deployment of stable, and goes back.
    pub(super) async fn is_kept_by_the_policy(&self, stable: &str) {
        let pods = self.pods(stable).await;
        self.helm(&["upgrade", "shop", &self.text("chart"), "--set", "version=forgotten"]).await;
        assert_eq!(self.pods(stable).await, pods, "the policy keeps them");
        self.helm(&["rollback", "shop"]).await;
        self.ready(&format!("shop-{stable}")).await;
        assert_eq!(self.pods(stable).await, pods, "after the way back");
    }

    /// Deletes the policies, and returns when the Deployment of stable may be deleted.
    pub(super) async fn loses_the_policy(&self, stable: &str) {
        let policy = self.canary_ctl(&["generate", "admission-policy"]).await;
        self.lab.kubectl_as("admin", &["delete", "-f", "-"], &policy).await.unwrap();
        let name = format!("shop-{stable}");
        let line = ["delete", "deployment", &name, "-n", &self.namespace, "--dry-run=server"];
        let is_allowed = async || self.lab.kubectl(&line).await.is_ok().then_some(());
        self.lab.until("a deletion that is allowed", is_allowed).await.unwrap();
    }

    /// Upgrades the chart by Helm alone where stable has a name of its own and no policy keeps it, and goes back.
    pub(super) async fn is_reported_and_mended(&self, stable: &str) {
        self.helm(&["upgrade", "shop", &self.text("chart"), "--set", "version=forgotten"]).await;
        let namespace = &self.namespace;
        let problem = format!(
            "problem: Deployment {namespace}/shop makes pods without the label `version`, expected `{stable}`: they replace those of"
        );
        let reported = async || {
            let status = self.canary_ctl(&["status"]).await;
            status.contains(&problem).then_some(status)
        };
        let status = self.lab.until("a status that names the Deployment", reported).await.unwrap();
        let hint =
            format!("`helm rollback shop -n {namespace}` brings back what it has replaced and deleted");
        assert!(status.contains(&hint), "{status}");
        self.helm(&["rollback", "shop"]).await;
        self.ready(&format!("shop-{stable}")).await;
        let status = self.canary_ctl(&["status"]).await;
        assert!(!status.contains("makes pods"), "{status}");
    }
}
