//! An upgrade that forgets the post-renderer: reported by `status` and mended by Helm.

use super::TwinChart;

impl TwinChart<'_> {
    /// Upgrades the chart by Helm alone where stable has a name of its own, and goes back.
    pub(super) async fn is_reported_and_mended(&self, stable: &str) {
        self.helm(&["upgrade", "shop", &self.text("chart"), "--set", "version=forgotten"]).await;
        let namespace = &self.namespace;
        let problem = format!(
            "problem: Deployment {namespace}/shop makes pods without the label `version`, expected `{stable}`: they replace those of"
        );
        let reported = async || {
            let status = self.canary_ctl(&["status"]);
            status.contains(&problem).then_some(status)
        };
        let status = self.lab.until("a status that names the Deployment", reported).await.unwrap();
        let hint =
            format!("`helm rollback shop -n {namespace}` brings back what it has replaced and deleted");
        assert!(status.contains(&hint), "{status}");
        self.helm(&["rollback", "shop"]).await;
        self.ready(&format!("shop-{stable}")).await;
        let status = self.canary_ctl(&["status"]);
        assert!(!status.contains("makes pods"), "{status}");
    }
}
