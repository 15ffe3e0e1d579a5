//! Deployments that a promotion leaves in the hands of Helm, Argo CD or Flux: those of a version that is not live any more, beside those of
//! stable. Who deploys them has to be told, or its record and the cluster disagree.

use super::template_drift::{annotation, version_of};
use super::{HELM_RELEASE, Workloads};
use crate::object::Reference;
use crate::plan::VERSION_ANNOTATION;
use crate::record::Record;
use assignment::contract::Role;
use serde_json::Value;

/// The label by which charts name themselves with their version (`shop-0.2.0`): Helm's [standard
/// labels](https://helm.sh/docs/chart_best_practices/labels/#standard-labels).
const CHART: &str = "helm.sh/chart";

/// A Deployment of a version that is not live, which was rendered beside that of stable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedDeployment {
    /// It.
    pub deployment: Reference,
    /// The version of its pods.
    pub version: String,
    /// The version that was promoted.
    pub stable: String,
    /// The Helm release that has deployed both, if one has.
    pub helm: Option<HelmRelease>,
}

/// A release of Helm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmRelease {
    /// Its name.
    pub name: String,
    /// Chart and version that have deployed stable, as one text, if its Deployment says them.
    pub chart: Option<String>,
}

impl UnfinishedDeployment {
    /// All of a release. None while stable itself was not rendered with its version: then nothing was deployed beside it.
    pub fn all(record: &Record, workloads: &Workloads) -> Vec<Self> {
        let label = &record.service.label;
        let rendered = |deployment: &&Value| annotation(deployment, VERSION_ANNOTATION).is_some();
        let Some(stable) = record.state.version_of(Role::Stable) else { return Vec::new() };
        let is_stable = |deployment: &&Value| version_of(deployment, label) == Some(stable);
        let Some(promoted) = workloads.behind().filter(rendered).find(is_stable) else { return Vec::new() };
        let unfinished = |deployment: &Value| {
            let version = version_of(deployment, label)?;
            let is_live = record.state.versions.iter().any(|live| live.name == version);
            let helm = |name: &str| HelmRelease { name: name.to_owned(), chart: chart(promoted) };
            (!is_live).then_some(Self {
                deployment: Reference::of(deployment).ok()?,
                version: version.to_owned(),
                stable: stable.to_owned(),
                helm: annotation(deployment, HELM_RELEASE).map(helm),
            })
        };
        workloads.behind().filter(rendered).filter_map(unfinished).collect()
    }
}

fn chart(deployment: &Value) -> Option<String> {
    deployment.pointer("/metadata/labels")?.get(CHART)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::load;
    use crate::state::ReleaseState;
    use serde_json::json;
    use std::path::Path;

    /// The example, whose stable is `v1` and whose canary is `v2`.
    fn record() -> Record {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        Record::first(&release, ReleaseState::first(&release, "uid".to_owned()))
    }

    fn rendered(name: &str, version: &str, chart: &str) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "shop", "labels": {"helm.sh/chart": chart},
                "annotations": {HELM_RELEASE: "shop", VERSION_ANNOTATION: version}},
            "spec": {"template": {"metadata": {"labels": {"app": "shop", "version": version}}}}})
    }

    fn workloads(deployments: Vec<Value>) -> Workloads {
        let selector = json!({"app": "shop"}).as_object().cloned().unwrap();
        Workloads { selector, deployments, replica_sets: Vec::new() }
    }

    #[test]
    fn the_version_before_the_promoted_one_is_unfinished_with_the_chart_of_the_promoted_one() {
        let both =
            workloads(vec![rendered("shop", "v0", "shop-0.1.0"), rendered("shop-v1", "v1", "shop-0.2.0")]);
        let found = UnfinishedDeployment::all(&record(), &both);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (one.deployment.name.as_str(), one.version.as_str(), one.stable.as_str()),
            ("shop", "v0", "v1")
        );
        let helm = HelmRelease { name: "shop".to_owned(), chart: Some("shop-0.2.0".to_owned()) };
        assert_eq!(one.helm, Some(helm));
    }

    #[test]
    fn live_versions_are_finished_and_so_is_what_nobody_has_rendered() {
        let live = workloads(vec![rendered("shop", "v1", "a"), rendered("shop-v2", "v2", "b")]);
        assert_eq!(UnfinishedDeployment::all(&record(), &live), []);
        let mut by_hand = rendered("shop-v0", "v0", "a");
        by_hand["metadata"]["annotations"] = json!({});
        let found =
            UnfinishedDeployment::all(&record(), &workloads(vec![rendered("shop", "v1", "a"), by_hand]));
        assert_eq!(found, []);
    }
}
