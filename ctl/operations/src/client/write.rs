//! Writes objects: server-side apply of our fields, merge patches for the fields of their owners, and deletion.

use super::ApiClient;
use super::objects::request;
use crate::Error;
use canary_release::object::{FIELD_MANAGER, Reference, Stage, restore_ownership};
use canary_release::plan::{Action, Change};
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};

use WriteMode::Commit;

/// Whether a write takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteMode {
    /// It does.
    Commit,
    /// The API server validates it and discards it (`dryRun=All`).
    DryRun,
}

impl ApiClient {
    /// Carries out one change; the object after it, `None` if it was deleted.
    ///
    /// # Errors
    ///
    /// If fields have other owners, or the object was modified since it was observed ([`Error::Stale`]).
    pub(crate) async fn carry_out(&self, change: &Change, mode: WriteMode) -> Result<Option<Value>, Error> {
        change.check_claim(self.force_conflicts)?;
        match change.action {
            Action::Delete => self.delete(change, mode).await.map(|()| None),
            Action::Create | Action::Update => {
                let claimed = self.claim(change, mode).await?;
                self.apply_fields(claimed.as_ref().unwrap_or(change), mode).await.map(Some)
            }
            Action::Restore => self.hand_back(change, mode).await,
        }
    }

    /// Applies these fields of an existing object as ours, and gives up those that were ours before.
    ///
    /// # Errors
    ///
    /// If a field has another owner.
    pub(crate) async fn apply_body(
        &self,
        object: &Reference,
        body: &Value,
        mode: WriteMode,
    ) -> Result<(), Error> {
        let (api, resource) = self.api(object);
        let params = PatchParams { dry_run: mode != Commit, ..PatchParams::apply(FIELD_MANAGER) };
        let applied = api.patch(&object.name, &params, &Patch::Apply(body)).await;
        applied.map(drop).map_err(|error| request("patch", object, &resource).error(error))
    }

    async fn delete(&self, change: &Change, mode: WriteMode) -> Result<(), Error> {
        let (api, resource) = self.api(&change.object);
        let condition = Preconditions { resource_version: change.seen.clone(), ..Preconditions::default() };
        let mut params = DeleteParams::default().preconditions(condition);
        params.dry_run = mode != Commit;
        match api.delete(&change.object.name, &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            Err(error) => Err(request("delete", &change.object, &resource).error(error)),
            Ok(_) => Ok(()),
        }
    }

    /// Applies our fields, and returns the object after it.
    async fn apply_fields(&self, change: &Change, mode: WriteMode) -> Result<Value, Error> {
        let (api, resource) = self.api(&change.object);
        let mut body = change.body.clone();
        if let (Some(seen), Some(metadata)) = (&change.seen, body.get_mut("metadata")) {
            metadata["resourceVersion"] = json!(seen);
        }
        let mut params = PatchParams::apply(FIELD_MANAGER);
        // Whether the list of routes may be taken was checked before, for the version of the object that was observed.
        params.force = self.force_conflicts || change.stage == Stage::Edits;
        params.dry_run = mode != Commit;
        let applied = api.patch(&change.object.name, &params, &Patch::Apply(body)).await;
        let applied = applied.map_err(|error| request("patch", &change.object, &resource).error(error))?;
        Ok(serde_json::to_value(applied).unwrap_or_default())
    }

    /// Makes the fields of an object's owner ours if it is taken over: no value changes, and a call that continues after
    /// this write finds an object of ours. `None` if there is nothing to claim.
    async fn claim(&self, change: &Change, mode: WriteMode) -> Result<Option<Change>, Error> {
        let Some(claim) = change.claim.as_ref().filter(|_| mode == Commit) else {
            return Ok(None);
        };
        let claimed = self.merge(&change.object, claim, mode).await?;
        let seen = claimed.metadata.resource_version;
        Ok(Some(Change { seen, claim: None, ..change.clone() }))
    }

    /// Takes our fields out of an object, then restores those of its owner. If it is interrupted in between, a repeated
    /// call does both again.
    async fn hand_back(&self, change: &Change, mode: WriteMode) -> Result<Option<Value>, Error> {
        let object = if change.fields.is_empty() {
            self.get(&change.object).await?
        } else {
            Some(self.apply_fields(change, mode).await?)
        };
        let Some(object) = object else { return Ok(None) };
        let restored = self.merge(&change.object, &restore_ownership(&object), mode).await?;
        Ok(serde_json::to_value(restored).ok())
    }

    /// Merges a patch (RFC 7396) into an object; what it changes is ours. One that names a `resourceVersion` is for that version alone.
    ///
    /// # Errors
    ///
    /// If the object does not exist, or was modified since that version ([`Error::Stale`]).
    pub(crate) async fn merge(
        &self,
        object: &Reference,
        patch: &Value,
        mode: WriteMode,
    ) -> Result<DynamicObject, Error> {
        let (api, resource) = self.api(object);
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            dry_run: mode != Commit,
            ..PatchParams::default()
        };
        let merged = api.patch(&object.name, &params, &Patch::Merge(patch)).await;
        merged.map_err(|error| request("patch", object, &resource).error(error))
    }
}
