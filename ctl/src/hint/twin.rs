//! About charts that are refused, and what a promotion leaves of one.

use super::Hint;
use super::command::{ShellCommand, shown};
use canary_release::object::Reference;
use canary_release::status::{HelmRelease, UnfinishedDeployment};
use helm_twins::{Check, Refusal};

const TWO_RELEASES: &str = "a StatefulSet, a DaemonSet and pods of an operator cannot have a twin; two Helm releases behind one Service can: docs/helm.md, \
                 \"A StatefulSet\"";
const NARROW_SELECTOR: &str = "an autoscaler on both versions needs a selector that names the version: delete the Deployment with `--cascade=orphan` and create it with that selector \
                 (docs/helm.md, \"With a HorizontalPodAutoscaler\"), then skip the check once; any other change needs a workload of another name";
const OTHER_LABEL: &str = "name the value that the pods have as the stable version, or choose another label in `versions.label` of canary.yaml; if their \
                 restart is meant, skip the check";

impl Hint for Refusal {
    fn hint(&self) -> Option<String> {
        let text = match self.check {
            Check::ServiceExists => {
                "name the chart's Service in `service.name` of canary.yaml, and its namespace in `metadata.namespace`"
            }
            Check::ServiceUnchanged => {
                "release the change of the Service by itself, before or after the canary"
            }
            Check::OneDeployment => TWO_RELEASES,
            Check::StableExists => {
                "give what is deployed: `helm get manifest RELEASE > deployed.yaml`, and render with the same release name"
            }
            Check::SomethingDiffers => "there is no canary to make; `--alone` upgrades stable",
            Check::TwoVersions => "finish the promotion with `--finish`, or go back with `--alone`",
            Check::VersionLabel => "choose another label in `versions.label` of canary.yaml",
            Check::Strategy => "the old and the new version may not run at once; if they may, skip the check",
            Check::SharedClaim => {
                "use a claim that several pods can mount; if one node runs both versions, skip the check"
            }
            Check::HostPort => {
                "two pods on one node cannot have the same port; if nodes are enough, skip the check"
            }
            Check::OneDisruptionBudget => "one budget over both versions is enough: keep its name",
            Check::SelectorOverlap => {
                "give the other workload a selector that the released pods do not match"
            }
            Check::HooksAnswered => {
                "`--hooks run` runs them when the canary is installed, `--hooks skip` leaves them out"
            }
            Check::RandomSecret => {
                "`--share NAME` keeps stable's, `--twin-secret NAME` gives the canary its own; `--rendered-again FILE` finds random ones"
            }
            Check::NameInText => {
                "`--share NAME` keeps one object for both versions; if the text means something else, skip the check"
            }
            Check::SealedSecret => "release the change of the Secret by itself, before the canary",
            Check::TwinName => "choose another version name in canary.yaml, or a shorter one",
            Check::RenderedOnce => {
                "give the output of `helm template`, and not what is deployed; take the annotation out of the chart"
            }
            Check::FinishKeepsPods => {
                "render with the chart version, the values and the decisions (`--share`, `--twin-secret`) of the canary; if the restart is meant, \
                 skip the check"
            }
            Check::SelectorUnchanged => NARROW_SELECTOR,
            Check::StablePodsKept => OTHER_LABEL,
        };
        let skip = format!(" (`--skip-check {}`)", self.check.name());
        Some(format!("{text}{}", if self.check.can_be_skipped() { skip.as_str() } else { "" }))
    }
}

impl Hint for UnfinishedDeployment {
    /// The way to bring its record and the cluster together.
    fn hint(&self) -> Option<String> {
        let Self { deployment, version, stable, helm } = self;
        let [name, version, stable] =
            [&deployment.to_string(), version, stable].map(|name| shown(name).into_owned());
        Some(match helm {
            Some(helm) => {
                let chart = helm.chart.as_deref().map(shown);
                let chart = chart.map(|chart| format!(" (CHART is {chart})")).unwrap_or_default();
                format!(
                    "Helm deploys {name} of `{version}` still. With the chart and the values of `{stable}` its record and the cluster \
                     agree{chart}: {}",
                    upgrade(helm, deployment)
                )
            }
            None => format!(
                "{name} of `{version}` is deployed still: give who deploys it what `canary-ctl twin render --finish` makes of the render \
                 of `{stable}`"
            ),
        })
    }
}

/// The commands after which Helm has stable alone.
fn upgrade(helm: &HelmRelease, deployment: &Reference) -> String {
    let named = |words| ShellCommand::new(words).name(&helm.name, "RELEASE");
    let placed = |command: ShellCommand| command.words("-n").name(&deployment.namespace, "NAMESPACE");
    let manifest = placed(named("helm get manifest")).words("> deployed.yaml");
    let values = placed(named("helm get values")).words("-o yaml > values.yaml");
    let upgrade = placed(named("helm upgrade").words("CHART")).words(
        "-f values.yaml --post-renderer canary-twin --post-renderer-args --deployed=deployed.yaml --post-renderer-args --finish",
    );
    format!(
        "{manifest}, then {values}, then {upgrade}, with the `--hooks` and `--share` of the canary, if there were any; Helm 3 takes \
         `--post-renderer canary-ctl --post-renderer-args twin --post-renderer-args post-render` instead of `--post-renderer canary-twin`"
    )
}
