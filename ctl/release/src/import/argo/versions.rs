//! The versions behind a Rollout: Argo tells them by a hash that changes with each revision, so they need names.

use super::super::common::{Context, is_version};
use super::super::draft::DraftField;

/// The versions of the release.
pub(super) struct RolloutVersions {
    pub(super) label: String,
    pub(super) stable: String,
    canary: Option<String>,
}

impl RolloutVersions {
    /// The label `version` with the value that the pods have, else as asked, else the tag of their image, else `v1`.
    pub(super) fn of(context: &mut Context<'_>) -> Self {
        let subject = context.subject;
        let label = "version".to_owned();
        let workload = subject.text("spec.workloadRef.name");
        let workload =
            workload.and_then(|name| context.sources.find(&["Deployment"], name, &context.namespace));
        let template =
            subject.get("spec.template").or_else(|| workload.and_then(|found| found.get("spec.template")));
        let own = template.and_then(|template| template.at("metadata.labels")?.text("version"));
        let image =
            template.and_then(|template| template.at("spec.containers")?.items().first()?.text("image"));
        let tag = image
            .and_then(|image| image.rsplit('/').next()?.split('@').next()?.split_once(':'))
            .map(|(_, tag)| tag);
        let asked = context.options.stable.as_deref();
        let found = own.or(asked).or(tag).filter(|text| is_version(text)).map(str::to_owned);
        if let (Some(own), Some(asked)) = (own, asked.filter(|asked| own != Some(*asked))) {
            let difference = format!("the pods of stable are labelled `{own}`, and `{asked}` was asked for");
            context.placeholder(&context.origin("spec.template"), difference, "the pods keep their label");
        }
        if found.is_none() {
            let origin = context.origin("spec.template");
            context.placeholder(
                &origin,
                "neither a label `version` nor the tag of the image names the version: `v1` is taken",
                "check `spec.versions.stable`",
            );
        }
        let stable = found.unwrap_or_else(|| "v1".to_owned());
        Self { label, stable, canary: context.options.canary.clone() }
    }

    pub(super) fn write(&self, context: &mut Context<'_>) {
        let origin = context.origin("spec.template");
        let comment = "Argo tells revisions by a hash that changes: each version needs pods with this label.";
        context.add(DraftField::value("spec/versions/label", self.label.clone(), &origin).comment(comment));
        context.version("spec/versions/stable", self.stable.clone(), ("stable", &origin));
        if let Some(canary) = &self.canary {
            context.version("spec/versions/canary", canary.clone(), ("canary", &origin));
            return;
        }
        context.placeholder(
            &origin,
            "the version under test has no name yet",
            "set `spec.versions.canary` with the next release",
        );
    }
}
