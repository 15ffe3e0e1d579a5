//! Where the dashboard's data come from.

use crate::{ChangeReport, ChangeRequest, ReleaseView};
use canary_release::spec::ReleaseName;
use canary_release::status::ReleaseSummary;
use hyper::StatusCode;
use serde::Serialize;

/// A release in the list.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseRow {
    /// `<namespace>/<name>`.
    pub release: String,
    /// The summary of its record; `None` if it cannot be read.
    #[serde(flatten)]
    pub summary: Option<ReleaseSummary>,
    /// Its unusual conditions, each as a sentence.
    pub notes: Vec<String>,
}

/// The reason for which there are no data.
#[derive(Clone, Debug, Serialize)]
pub struct ApiError {
    /// The status of the response.
    #[serde(skip)]
    pub status: StatusCode,
    /// The expected and the found text.
    pub error: String,
    /// The remedy for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Reads and changes releases: of a cluster, of a local Envoy, or of a test.
#[expect(async_fn_in_trait, reason = "one thread serves all connections, so no future has to be `Send`")]
pub trait ReleaseSource {
    /// The releases that can be seen.
    async fn releases(&self) -> Result<Vec<ReleaseRow>, ApiError>;

    /// One release as it is at this moment.
    async fn release(&self, name: &ReleaseName) -> Result<ReleaseView, ApiError>;

    /// Changes a release, or says what a change would come to.
    async fn change(&self, name: &ReleaseName, request: &ChangeRequest) -> Result<ChangeReport, ApiError>;
}
