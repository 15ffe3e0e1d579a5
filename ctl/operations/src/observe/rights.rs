//! Which rights the user lacks: each is asked for by a `SelfSubjectAccessReview`, which any authorizer decides and which stores
//! nothing.

use crate::client::ApiRequest;
use crate::{Cluster, Error};
use canary_release::rbac::{Right, rules, single_rights};
use canary_release::spec::Release;
use futures_util::future::try_join_all;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;

impl Cluster {
    /// The user that the API server authenticates.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The rights that operations on a release need and the user does not have.
    ///
    /// # Errors
    ///
    /// If no objects can be made from the release, or the API server cannot be asked.
    pub async fn missing_rights(&self, release: &Release) -> Result<Vec<Right>, Error> {
        let needed = single_rights(&rules(release)?);
        let asked = needed.into_iter().map(async |right| {
            let is_allowed = self.is_allowed(&right).await?;
            Ok::<_, Error>((!is_allowed).then_some(right))
        });
        Ok(try_join_all(asked).await?.into_iter().flatten().collect())
    }

    async fn is_allowed(&self, right: &Right) -> Result<bool, Error> {
        let reviews: Api<SelfSubjectAccessReview> = Api::all(self.client.client.clone());
        let (resource, subresource) = match right.resource.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
            None => (right.resource.as_str(), None),
        };
        let attributes = ResourceAttributes {
            namespace: Some(right.namespace.clone()),
            group: Some(right.group.clone()),
            resource: Some(resource.to_owned()),
            subresource,
            name: right.name.clone(),
            verb: Some(right.verb.to_owned()),
            ..ResourceAttributes::default()
        };
        let spec = SelfSubjectAccessReviewSpec {
            resource_attributes: Some(attributes),
            ..SelfSubjectAccessReviewSpec::default()
        };
        let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
        let request = ApiRequest {
            verb: "create",
            resource: "selfsubjectaccessreviews",
            group: "authorization.k8s.io",
            namespace: "",
            name: "",
        };
        let reviewed = reviews.create(&PostParams::default(), &review).await;
        let reviewed = reviewed.map_err(|error| request.error(error))?;
        Ok(reviewed.status.is_some_and(|status| status.allowed))
    }
}
