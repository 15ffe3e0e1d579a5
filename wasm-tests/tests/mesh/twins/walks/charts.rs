//! Charts of one feature each, and what `helm create` writes.

use super::super::running_chart::NARROWED;
use super::super::templates::AUTOSCALER;
use mesh_lab::{Helm, Image};
use programs::artifact;
use std::collections::BTreeMap;

/// A chart, and what becomes of it beside a canary.
pub(super) struct ChartCase {
    pub(super) name: &'static str,
    pub(super) helm: Helm,
    /// What there is besides the Deployment and its Service; `None` for what `helm create` writes.
    pub(super) objects: Option<&'static str>,
    /// The chart's `values.yaml`, and with `helm create` what `--set` is given.
    pub(super) values: &'static str,
    pub(super) decisions: &'static [&'static str],
    /// What there is twice beside a canary, by the chart's names.
    pub(super) twinned: &'static [&'static str],
    /// An object and a field of it that never changes.
    pub(super) kept: Option<[&'static str; 2]>,
    /// The same of one that has the version of stable.
    pub(super) stable_has: Option<[&'static str; 2]>,
    /// The same of one that has the version that was deployed last.
    pub(super) last_has: Option<[&'static str; 2]>,
    /// Whether its pods' account may read its ConfigMap, and its twin, by name.
    pub(super) has_role: bool,
}

/// A Deployment behind a Service.
const PLAIN: ChartCase = ChartCase {
    name: "",
    helm: Helm::Four,
    objects: Some(""),
    values: "",
    decisions: &[],
    twinned: &["Deployment shop"],
    kept: None,
    stable_has: None,
    last_has: None,
    has_role: false,
};

/// All of them; the name of each is that of its namespace, and of its host.
pub(super) const CHARTS: [ChartCase; 11] = [
    ChartCase {
        name: "scaffold",
        objects: None,
        values: ",readinessProbe.periodSeconds=1",
        ..PLAIN
    },
    ChartCase {
        name: "subchart",
        helm: Helm::Three,
        objects: None,
        values: ",readinessProbe.periodSeconds=1",
        stable_has: Some(["deployment/shop-worker", "{.spec.template.spec.containers[0].image}"]),
        ..PLAIN
    },
    ChartCase {
        name: "configuration",
        helm: Helm::Three,
        objects: Some(CONFIGURATION),
        values: "envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: api}}]",
        decisions: &["--twin-secret=api"],
        twinned: &["Deployment shop", "ConfigMap settings", "Secret api"],
        ..PLAIN
    },
    ChartCase {
        name: "projected",
        objects: Some(CONFIGURATION),
        values: "volumes: [{name: all, projected: {sources: [{configMap: {name: settings}}, {secret: {name: api}}]}}]",
        decisions: &["--twin-secret=api"],
        twinned: &["Deployment shop", "ConfigMap settings", "Secret api"],
        ..PLAIN
    },
    ChartCase {
        name: AUTOSCALED,
        objects: Some(AUTOSCALER),
        values: "resources: {requests: {cpu: 100m}}",
        decisions: NARROWED,
        twinned: &["Deployment shop", "HorizontalPodAutoscaler shop"],
        ..PLAIN
    },
    ChartCase {
        name: "budget",
        helm: Helm::Three,
        objects: Some(
            "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: shop},
                spec: {maxUnavailable: 1, selector: {matchLabels: {app: shop}}}}\n",
        ),
        kept: Some(["poddisruptionbudget/shop", "{.metadata.uid}"]),
        ..PLAIN
    },
    ChartCase {
        name: "migration",
        objects: Some(
            "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade,
                helm.sh/hook-delete-policy: before-hook-creation}}, spec: {template: {spec: {restartPolicy: Never,
                containers: [{name: migrate, image: demo-shop, command: [/bin/echo, '{{ .Values.version }}']}]}}}}\n",
        ),
        decisions: &["--hooks=run"],
        last_has: Some(["job/migrate", "{.spec.template.spec.containers[0].command[1]}"]),
        ..PLAIN
    },
    ChartCase {
        name: "random",
        helm: Helm::Three,
        objects: Some(
            "---\n{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: {{ randAlphaNum 20 | quote }}}}\n",
        ),
        values: "volumes: [{name: db, secret: {secretName: db}}]",
        decisions: &["--share=db"],
        kept: Some(["secret/db", "{.data.password}"]),
        ..PLAIN
    },
    ChartCase {
        name: "worker",
        objects: Some(
            "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}, spec: {selector: {matchLabels: {app: worker}},
                template: {metadata: {labels: {app: worker}}, spec: {containers: [{name: worker, image: demo-shop,
                args: ['--listen=0.0.0.0:8080', '--version={{ .Values.version }}', --pod=worker]}]}}}}\n",
        ),
        stable_has: Some(["deployment/worker", "{.spec.template.spec.containers[0].args[1]}"]),
        ..PLAIN
    },
    ChartCase {
        name: "claim",
        helm: Helm::Three,
        objects: Some(
            "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteMany],
                storageClassName: '', resources: {requests: {storage: 1Mi}}}}\n",
        ),
        values: "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]",
        kept: Some(["persistentvolumeclaim/data", "{.metadata.uid}"]),
        ..PLAIN
    },
    ChartCase {
        name: "role",
        objects: Some(
            "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {greeting: '{{ .Values.version }}'}}
---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reader}, rules: [{apiGroups: [''],
                resources: [configmaps], resourceNames: [settings], verbs: [get]}]}
---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: reader}, roleRef: {apiGroup:
                rbac.authorization.k8s.io, kind: Role, name: reader}, subjects: [{kind: ServiceAccount, name: default}]}\n",
        ),
        values: "volumes: [{name: settings, configMap: {name: settings}}]",
        twinned: &["Deployment shop", "ConfigMap settings"],
        has_role: true,
        ..PLAIN
    },
];

/// The chart whose pods have metrics.
pub(super) const AUTOSCALED: &str = "autoscaled";
/// What all pods of a version use together, in thousandths of a processor; each asks for 100, and is to use 80.
pub(super) const LOAD: [(&str, u32); 3] = [("v1", 160), ("v2", 240), ("v3", 70)];
/// The pods that its autoscalers make of that.
pub(super) const PODS: [(&str, usize); 3] = [("v1", 2), ("v2", 3), ("v3", 1)];

const CONFIGURATION: &str = "---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {GREETING: '{{ .Values.version }}'}}
---
{apiVersion: v1, kind: Secret, metadata: {name: api}, stringData: {TOKEN: 'token of {{ .Values.version }}'}}
";

/// What `helm create` writes gives its containers no arguments: images of the shop that need none.
pub(crate) fn images() -> BTreeMap<String, Image> {
    let image = |version: &str| {
        let mut image = Image::of_program(artifact::demo_shop().unwrap());
        let version_flag = format!("--version={version}");
        let arguments = ["--listen=0.0.0.0:80", &version_flag, "--pod=$(HOSTNAME)"];
        image.entrypoint.extend(arguments.map(str::to_owned));
        (format!("shop-{version}"), image)
    };
    ["v1", "v2", "v3"].map(image).into()
}
