//! Reads, applies and deletes objects of any kind, by their own words: no types for kinds that Istio owns.

use super::refusal::Attempt;
use super::{Cluster, Error};
use crate::manifest::Stage;
use crate::plan::{Action, Change, FIELD_MANAGER, Reference, handed_back};
use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Whether a write takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteMode {
    /// It does.
    Commit,
    /// The API server validates it and discards it (`dryRun=All`).
    DryRun,
}

impl Cluster {
    /// An object as it is; `None` where it is not, or its kind is not.
    pub(super) async fn get(&self, reference: &Reference) -> Result<Option<Value>, Error> {
        let (api, resource) = self.api(reference);
        let found = api.get_opt(&reference.name).await;
        let found = found.map_err(|error| attempt("get", reference, &resource).refused(error))?;
        Ok(found.map(|object| serde_json::to_value(object).unwrap_or_default()))
    }

    /// The objects that are there, by their names.
    pub(super) async fn get_all<'r>(
        &self,
        references: impl IntoIterator<Item = &'r Reference>,
    ) -> Result<BTreeMap<Reference, Value>, Error> {
        let mut observed = BTreeMap::new();
        for reference in references {
            if !observed.contains_key(reference)
                && let Some(body) = self.get(reference).await?
            {
                observed.insert(reference.clone(), body);
            }
        }
        Ok(observed)
    }

    /// Carries out one change. Fails where fields have other owners, and where the object has changed since it was seen.
    pub(super) async fn carry_out(&self, change: &Change, mode: WriteMode) -> Result<(), Error> {
        change.check_claim(self.writing.force_conflicts)?;
        if mode == WriteMode::Commit {
            self.count_write()?;
        }
        let (api, resource) = self.api(&change.object);
        match change.action {
            Action::Delete => {
                let condition =
                    Preconditions { resource_version: change.seen.clone(), ..Preconditions::default() };
                let mut how = DeleteParams::default().preconditions(condition);
                how.dry_run = mode == WriteMode::DryRun;
                match api.delete(&change.object.name, &how).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                    Err(error) => Err(attempt("delete", &change.object, &resource).refused(error)),
                    Ok(_) => Ok(()),
                }
            }
            Action::Create | Action::Update => {
                let claimed = self.claim(change, mode).await?;
                self.apply_fields(claimed.as_ref().unwrap_or(change), mode).await.map(drop)
            }
            Action::HandBack => self.hand_back(change, mode).await,
        }
    }

    /// Applies our fields, and returns the object as it is then.
    async fn apply_fields(&self, change: &Change, mode: WriteMode) -> Result<Value, Error> {
        let (api, resource) = self.api(&change.object);
        let mut body = change.body.clone();
        if let (Some(seen), Some(metadata)) = (&change.seen, body.get_mut("metadata")) {
            metadata["resourceVersion"] = json!(seen);
        }
        let mut how = PatchParams::apply(FIELD_MANAGER);
        // Whose list of routes may be taken was asked before; what was not seen is not taken.
        how.force = self.writing.force_conflicts || change.stage == Stage::Edits;
        how.dry_run = mode == WriteMode::DryRun;
        let done = api.patch(&change.object.name, &how, &Patch::Apply(body)).await;
        let done = done.map_err(|error| attempt("patch", &change.object, &resource).refused(error))?;
        Ok(serde_json::to_value(done).unwrap_or_default())
    }

    /// Makes the fields of an object's owner ours, where it is taken over: no value changes, and who is killed after it has
    /// an object of ours to go on with. The change as it is then, and nothing where there is nobody to take over from.
    async fn claim(&self, change: &Change, mode: WriteMode) -> Result<Option<Change>, Error> {
        let Some(claim) = change.claim.as_ref().filter(|_| mode == WriteMode::Commit) else {
            return Ok(None);
        };
        let claimed = self.merge(&change.object, claim, mode).await?;
        self.count_write()?;
        let seen = claimed.metadata.resource_version;
        Ok(Some(Change { seen, claim: None, ..change.clone() }))
    }

    /// Takes our fields out of an object, then gives the fields to their owner. Killed in between, it is done again.
    async fn hand_back(&self, change: &Change, mode: WriteMode) -> Result<(), Error> {
        let object = if change.fields.is_empty() {
            self.get(&change.object).await?
        } else {
            let applied = self.apply_fields(change, mode).await?;
            if mode == WriteMode::Commit {
                self.count_write()?;
            }
            Some(applied)
        };
        let Some(object) = object else { return Ok(()) };
        self.merge(&change.object, &handed_back(&object), mode).await.map(drop)
    }

    /// Merges a patch (RFC 7396) into an object.
    async fn merge(
        &self,
        object: &Reference,
        patch: &Value,
        mode: WriteMode,
    ) -> Result<DynamicObject, Error> {
        let (api, resource) = self.api(object);
        let how = PatchParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            dry_run: mode == WriteMode::DryRun,
            ..PatchParams::default()
        };
        let done = api.patch(&object.name, &how, &Patch::Merge(patch)).await;
        done.map_err(|error| attempt("patch", object, &resource).refused(error))
    }

    /// Applies these fields of an object that is there as ours, and gives up those that were ours before.
    pub(super) async fn apply_body(
        &self,
        object: &Reference,
        body: &Value,
        mode: WriteMode,
    ) -> Result<(), Error> {
        let (api, resource) = self.api(object);
        let mut how = PatchParams::apply(FIELD_MANAGER);
        how.dry_run = mode == WriteMode::DryRun;
        if mode == WriteMode::Commit {
            self.count_write()?;
        }
        let done = api.patch(&object.name, &how, &Patch::Apply(body)).await;
        done.map(drop).map_err(|error| attempt("patch", object, &resource).refused(error))
    }

    /// Counts a write before it is made. Fails where no more are allowed.
    pub(super) fn count_write(&self) -> Result<(), Error> {
        let written = self.written.fetch_add(1, Ordering::SeqCst);
        match self.writing.at_most {
            Some(most) if written >= most => Err(Error::Stopped { writes: most }),
            _ => Ok(()),
        }
    }

    fn api(&self, reference: &Reference) -> (Api<DynamicObject>, ApiResource) {
        let (group, version) = reference.api_version.split_once('/').unwrap_or(("", &reference.api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &reference.kind));
        (Api::namespaced_with(self.client.clone(), &reference.namespace, &resource), resource)
    }
}

fn attempt<'a>(verb: &'static str, object: &'a Reference, resource: &'a ApiResource) -> Attempt<'a> {
    Attempt {
        verb,
        resource: &resource.plural,
        group: &resource.group,
        namespace: &object.namespace,
        name: &object.name,
    }
}
