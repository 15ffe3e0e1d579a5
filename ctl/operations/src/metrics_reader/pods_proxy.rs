//! One request that the API server passes on to the pod.

use super::failure::Failure;
use super::{MAX_BYTES, PORT};
use canary_release::metrics::PodName;
use futures_util::AsyncReadExt as _;
use http::Request;

pub(super) async fn read(
    client: &kube::Client,
    (namespace, pod): &PodName,
    path: &str,
) -> Result<String, Failure> {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}:{PORT}/proxy/{path}");
    let request = Request::get(path).body(Vec::new()).map_err(|error| Failure::no_response(&error))?;
    let body = client.request_stream(request).await.map_err(Failure::of)?;
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    let is_text = body.take(limit).read_to_string(&mut text).await.is_ok();
    if is_text && text.len() <= MAX_BYTES { Ok(text) } else { Err(Failure::NoMetrics) }
}
