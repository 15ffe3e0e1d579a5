//! Previews of every object, and of the releases whose object is gone. Reads only, and takes no Lease.

use super::{ListError, api};
use crate::reconcile::{Preview, PreviewAction, name_of, resource};
use crate::removal::carried_out;
use crate::{GROUP, Grant, Host, Reconciler, VERSION};
use canary_operations::Cluster;
use jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, TypeMeta};
use serde_json::Value;
use std::time::Duration;

/// The previews of the releases of a namespace, or of all, sorted by name.
///
/// # Errors
///
/// If the objects or the grants cannot be listed.
pub async fn preview(
    client: &Client,
    cluster: &Cluster,
    host: impl Host,
    namespace: Option<&str>,
) -> Result<Vec<Preview>, ListError> {
    // Records first: an object that is created in between has its record later than this list.
    let namespaces: Vec<String> = namespace.iter().map(ToString::to_string).collect();
    let recorded = carried_out(cluster, &namespaces).await.map_err(ListError::Records)?;
    let objects = list(client, namespace, &resource()).await?;
    let grants = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, VERSION, "ReleaseGrant"));
    let grants: Vec<Grant> = list(client, None, &grants).await?.iter().filter_map(Grant::of).collect();
    let reconciler = Reconciler::new(cluster, client.clone(), host, (String::new(), Duration::ZERO));
    let mut previews = Vec::new();
    for object in &objects {
        previews.push(Box::pin(reconciler.preview(object, &grants, Timestamp::now())).await);
    }
    let gone =
        recorded.iter().filter(|name| !objects.iter().any(|object| name_of(object).as_ref() == Some(name)));
    previews.extend(gone.map(|name| Preview::new(&name, PreviewAction::Remove, "its object was deleted")));
    previews.sort_by(|one, other| one.release.cmp(&other.release));
    Ok(previews)
}

async fn list(
    client: &Client,
    namespace: Option<&str>,
    resource: &ApiResource,
) -> Result<Vec<Value>, ListError> {
    let found =
        api(client, namespace, resource).list(&ListParams::default()).await.map_err(ListError::Objects)?;
    // The API server leaves the type out of the objects of a list.
    let types = TypeMeta { api_version: format!("{GROUP}/{VERSION}"), kind: resource.kind.clone() };
    let json = |object: DynamicObject| {
        serde_json::to_value(DynamicObject { types: Some(types.clone()), ..object }).unwrap_or_default()
    };
    Ok(found.items.into_iter().map(json).collect())
}
