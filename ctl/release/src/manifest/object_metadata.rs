//! The labels and annotations of releases on their objects.
//!
//! What a release has for itself has its own. The objects of a proxy belong to all of its releases: one annotation keeps what
//! each of them gives, so that a release which changes or leaves changes its own part only, and the order of calls does not matter.

use super::Error;
use crate::config::{self, Disagreement, REVISION_FIELD, quoted};
use crate::spec::{MANAGED_BY, ObjectMetadata, REVISION, Release};
use placed_yaml::{EditError, Template};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The annotation of a shared object: what each release gives, as JSON.
const BY_RELEASE: &str = "canary-ctl.io/metadata-by-release";

/// The metadata that the releases of a proxy give the objects that they share, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMetadata(BTreeMap<String, ObjectMetadata>);

impl SharedMetadata {
    /// That of some releases.
    ///
    /// # Errors
    ///
    /// If two of them want another revision of Istio to read the objects.
    pub(super) fn of_releases<'r>(
        releases: impl IntoIterator<Item = &'r Release>,
    ) -> Result<Self, config::Error> {
        let given = releases.into_iter().filter(|release| !release.metadata.is_empty());
        let shared =
            Self(given.map(|release| (release.name.to_string(), release.metadata.clone())).collect());
        shared.check()?;
        Ok(shared)
    }

    /// That of an observed object.
    pub(crate) fn of(object: &Value) -> Self {
        let text = object.pointer("/metadata/annotations").and_then(|all| all.get(BY_RELEASE)?.as_str());
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    /// The metadata that a release gives.
    pub(crate) fn release(&self, name: &str) -> Option<&ObjectMetadata> {
        self.0.get(name)
    }

    /// Of several values the one of the first release in alphabetical order.
    fn united(&self) -> ObjectMetadata {
        let mut united = ObjectMetadata::default();
        for one in self.0.values() {
            for (name, value) in &one.labels {
                united.labels.entry(name.clone()).or_insert_with(|| value.clone());
            }
            for (name, value) in &one.annotations {
                united.annotations.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        if !self.0.is_empty() {
            let kept = serde_json::to_string(&self.0).unwrap_or_default();
            united.annotations.insert(BY_RELEASE.to_owned(), kept);
        }
        united
    }

    /// A revision reads all of the proxy's objects, or none.
    fn check(&self) -> Result<(), config::Error> {
        let mut revisions = self.0.iter().filter_map(|(name, one)| Some((name, one.labels.get(REVISION)?)));
        let Some((first, revision)) = revisions.next() else { return Ok(()) };
        match revisions.find(|(_, other)| *other != revision) {
            Some((second, other)) => Err(config::Error::Disagree(Box::new(Disagreement {
                field: REVISION_FIELD,
                first: (first.clone(), quoted(revision)),
                second: (second.clone(), quoted(other)),
            }))),
            None => Ok(()),
        }
    }

    /// A manifest with it.
    pub(super) fn written(&self, text: String) -> Result<String, EditError> {
        with_metadata(text, &self.united())
    }
}

/// Adds to an object of `release` what other releases give the observed one.
///
/// # Errors
///
/// If they want another revision of Istio to read it.
pub(crate) fn keep_others(body: &mut Value, observed: &Value, release: &str) -> Result<(), Error> {
    let own = SharedMetadata::of(body);
    let mut all = SharedMetadata::of(observed);
    all.0.remove(release);
    all.0.extend(own.0.clone());
    all.check()?;
    exchange(body, &own, &all);
    Ok(())
}

/// The object without what a release gives it; `None` if that is nothing.
pub(crate) fn without_release(object: &Value, release: &str) -> Option<Value> {
    let before = SharedMetadata::of(object);
    let mut after = before.clone();
    after.0.remove(release)?;
    let mut body = object.clone();
    exchange(&mut body, &before, &after);
    Some(body)
}

/// A manifest with these labels and annotations beside its own.
pub(super) fn with_metadata(text: String, given: &ObjectMetadata) -> Result<String, EditError> {
    if given.is_empty() {
        return Ok(text);
    }
    let mut template = Template::new(text)?;
    if !given.labels.is_empty() {
        // None of a release is the label that the templates have: that is reserved.
        let mut labels = given.labels.clone();
        if template.has("metadata/labels")? {
            labels.insert(MANAGED_BY.to_owned(), crate::object::FIELD_MANAGER.to_owned());
        }
        template.set("metadata/labels", labels)?;
    }
    if !given.annotations.is_empty() {
        template.set("metadata/annotations", &given.annotations)?;
    }
    template.finish()
}

/// Replaces what one set of releases gives by what another one does.
fn exchange(body: &mut Value, before: &SharedMetadata, after: &SharedMetadata) {
    let (before, after) = (before.united(), after.united());
    let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    exchange_pairs(metadata, "labels", &before.labels, &after.labels);
    exchange_pairs(metadata, "annotations", &before.annotations, &after.annotations);
}

fn exchange_pairs(
    metadata: &mut Map<String, Value>,
    field: &str,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) {
    let all = metadata.entry(field).or_insert_with(|| json!({}));
    if let Some(all) = all.as_object_mut() {
        all.retain(|name, _| !before.contains_key(name));
        all.extend(after.iter().map(|(name, value)| (name.clone(), value.clone().into())));
        if all.is_empty() {
            metadata.remove(field);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(own: &[(&str, Value)]) -> Value {
        let given: BTreeMap<&str, &Value> = own.iter().map(|(name, metadata)| (*name, metadata)).collect();
        let shared = SharedMetadata(serde_json::from_value(json!(given)).unwrap());
        let mut body = json!({"metadata": {"name": "a", "labels": {MANAGED_BY: "canary-ctl"}}});
        exchange(&mut body, &SharedMetadata::default(), &shared);
        body
    }

    fn label<'o>(object: &'o Value, name: &str) -> Option<&'o str> {
        object["metadata"]["labels"].get(name)?.as_str()
    }

    #[test]
    fn the_order_in_which_releases_come_does_not_matter() {
        let (blog, shop) =
            (json!({"labels": {"team": "b", "floor": "2"}}), json!({"labels": {"team": "s", "app": "shop"}}));
        let together = object(&[("blog/blog", blog.clone()), ("shop/shop", shop.clone())]);
        let after = |body: Value, observed: &Value, release: &str| {
            let mut body = body;
            keep_others(&mut body, observed, release).unwrap();
            body
        };
        let (blogs, shops) = (object(&[("blog/blog", blog)]), object(&[("shop/shop", shop)]));
        assert_eq!(after(blogs.clone(), &shops, "blog/blog"), together);
        assert_eq!(after(shops.clone(), &blogs, "shop/shop"), together);
        assert_eq!(after(shops, &together, "shop/shop"), together, "nothing is fought over");
        assert_eq!([label(&together, "team"), label(&together, "app")], [Some("b"), Some("shop")]);
    }

    #[test]
    fn a_label_that_a_release_gives_no_longer_goes_and_those_of_others_stay() {
        let together = object(&[
            ("blog/blog", json!({"labels": {"team": "b"}})),
            ("shop/shop", json!({"labels": {"team": "s", "app": "shop"}, "annotations": {"note": "x"}})),
        ]);
        let mut body = object(&[]);
        keep_others(&mut body, &together, "shop/shop").unwrap();
        let alone = object(&[("blog/blog", json!({"labels": {"team": "b"}}))]);
        assert_eq!(body, alone);
        assert_eq!(without_release(&together, "shop/shop"), Some(alone.clone()));
        assert_eq!(label(&without_release(&together, "blog/blog").unwrap(), "team"), Some("s"));
        assert_eq!(without_release(&alone, "blog/blog"), Some(object(&[])));
        assert_eq!(without_release(&alone, "shop/shop"), None);
    }

    #[test]
    fn labels_of_others_that_no_release_gives_stay() {
        let mut observed = object(&[("shop/shop", json!({"labels": {"team": "s"}}))]);
        observed["metadata"]["labels"]["policy"] = json!("x");
        assert_eq!(label(&without_release(&observed, "shop/shop").unwrap(), "policy"), Some("x"));
    }

    #[test]
    fn releases_of_one_proxy_agree_on_the_revision_that_reads_their_objects() {
        let rev = |rev: &str| json!({"labels": {REVISION: rev}});
        let observed = object(&[("blog/blog", rev("1-29"))]);
        let mut body = object(&[("shop/shop", rev("1-30"))]);
        let error = keep_others(&mut body, &observed, "shop/shop").unwrap_err().to_string();
        assert!(error.contains("is `1-29` in `blog/blog` and `1-30` in `shop/shop`"), "{error}");
        let mut body = object(&[]);
        keep_others(&mut body, &observed, "shop/shop").unwrap();
        assert_eq!(label(&body, REVISION), Some("1-29"), "one without a revision follows");
    }
}
