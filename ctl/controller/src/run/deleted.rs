//! Releases whose object is gone: found by their records, and removed when the object is missing from a list of that moment, too.

use super::{DEBOUNCE, Shared, api};
use crate::reconcile::{name_of, resource};
use crate::removal::{Removal, carried_out, remove_all};
use crate::{GROUP, Host, Reconciler};
use canary_operations::Error;
use canary_release::spec::ReleaseName;
use kube::api::ListParams;
use kube::core::{ApiResource, GroupVersionKind};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

/// The time until the next search for such releases, where one of them waits.
const REMOVE_AGAIN: Duration = Duration::from_secs(15);
/// The same, where none does.
const LOOK_AGAIN: Duration = Duration::from_mins(10);

/// Removes releases whose object is gone, when one was deleted and now and then.
pub(super) async fn remove_deleted<H: Host>(shared: &Shared<'_>, reconciler: &Reconciler<'_, H>) {
    let mut again = REMOVE_AGAIN;
    loop {
        tokio::select! {
            () = shared.deleted.notified() => tokio::time::sleep(DEBOUNCE).await,
            () = tokio::time::sleep(again) => {}
        }
        again = match remove_gone(shared, reconciler).await {
            Ok(false) => LOOK_AGAIN,
            Ok(true) => REMOVE_AGAIN,
            Err(error) => {
                shared.options.failed(&error.to_string());
                REMOVE_AGAIN
            }
        };
    }
}

/// Whether something is left to remove.
async fn remove_gone<H: Host>(shared: &Shared<'_>, reconciler: &Reconciler<'_, H>) -> Result<bool, Error> {
    let cluster = reconciler.cluster();
    let namespaces: Vec<String> = shared.options.namespace.iter().cloned().collect();
    // Records first: an object that is created in between has its record later than this list.
    let recorded = carried_out(cluster, &namespaces).await?;
    if recorded.is_empty() {
        return Ok(false);
    }
    let Some(objects) = listed(shared).await else { return Ok(true) };
    let gone: Vec<ReleaseName> = recorded.into_iter().filter(|name| !objects.contains(name)).collect();
    let is_left = Cell::new(false);
    let is_gone = async |name: &ReleaseName| {
        let is_gone = listed(shared).await.is_some_and(|objects| !objects.contains(name));
        is_left.set(is_left.get() || !is_gone);
        is_gone
    };
    let removed = |name: &ReleaseName, removal: Result<Removal, Error>| match removal {
        Ok(Removal::Uninstalled) => {
            (shared.options.log)(&format!("{name}: uninstalled, its object was deleted"));
        }
        Ok(Removal::Nothing) => {}
        Ok(Removal::Waits(why)) => {
            is_left.set(true);
            (shared.options.log)(&format!(
                "{name}: its object was deleted, stable has all users; waits: {why}"
            ));
        }
        Err(error) => {
            is_left.set(true);
            shared.options.failed(&format!("{name}: its object was deleted: {error}"));
        }
    };
    Box::pin(remove_all(cluster, &gone, is_gone, removed)).await;
    Ok(is_left.get())
}

/// The objects that exist by a list of this moment: what a watch has missed must not remove a release. `None` where that is not known: a list
/// may fail, also with 404, while the definition of the resource is there.
async fn listed(shared: &Shared<'_>) -> Option<BTreeSet<ReleaseName>> {
    let namespace = shared.options.namespace.as_deref();
    match api(shared.client, namespace, &resource()).list_metadata(&ListParams::default()).await {
        Ok(found) => {
            let objects = found.items.iter().filter_map(|object| serde_json::to_value(object).ok());
            Some(objects.filter_map(|object| name_of(&object)).collect())
        }
        Err(kube::Error::Api(status)) if status.is_not_found() => {
            let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
            let definitions = api(shared.client, None, &ApiResource::from_gvk(&kind));
            let found = definitions.get_metadata_opt(&format!("releases.{GROUP}")).await;
            matches!(found, Ok(None)).then(BTreeSet::new)
        }
        Err(_) => None,
    }
}
