//! The common part of all imports: the parts of a release that no peer knows, and names that fit.

use super::difference::{Differences, Fate, Importance, SourceOrigin};
use super::draft::{Draft, DraftField};
use super::source::{SourceObject, Sources};
use super::steps::MoveStep;
use super::{Error, Import, ImportOptions};
use crate::spec::Seconds;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An import while it goes on.
pub(super) struct Context<'s> {
    pub(super) sources: &'s Sources,
    pub(super) subject: &'s SourceObject,
    pub(super) options: &'s ImportOptions,
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) differences: Differences,
    pub(super) draft: Draft,
    pub(super) steps: Vec<MoveStep>,
    names: BTreeSet<(&'static str, String)>,
    prometheus: Option<String>,
}

impl<'s> Context<'s> {
    pub(super) fn new(sources: &'s Sources, subject: &'s SourceObject, options: &'s ImportOptions) -> Self {
        let namespace = options.namespace.clone().or_else(|| subject.namespace.clone());
        Self {
            sources,
            subject,
            options,
            name: subject.name.clone(),
            namespace: namespace.unwrap_or_else(|| "default".to_owned()),
            differences: Differences::default(),
            draft: Draft::default(),
            steps: Vec::new(),
            names: BTreeSet::new(),
            prometheus: None,
        }
    }

    pub(super) fn origin(&self, path: &str) -> SourceOrigin {
        self.subject.origin(path)
    }

    pub(super) fn add(&mut self, field: DraftField) {
        self.draft.add(field);
    }

    /// Notes a value that nothing says.
    pub(super) fn placeholder(
        &mut self,
        origin: &SourceOrigin,
        difference: impl Into<String>,
        action: impl Into<String>,
    ) {
        self.differences.note(origin, (Importance::Behaviour, Fate::Placeholder), difference, action);
    }

    /// Name, namespace, and what is the same in every first release.
    pub(super) fn metadata(&mut self) {
        let origin = self.origin("metadata.name");
        let (name, namespace) = (self.name.clone(), self.namespace.clone());
        self.add(DraftField::value("apiVersion", "canary-ctl.io/v1alpha1", &origin));
        self.add(DraftField::value("kind", "Release", &origin));
        self.add(DraftField::value("metadata/name", name, &origin).or("release-name"));
        self.add(DraftField::value("metadata/namespace", namespace, &origin).or("default"));
        self.add(DraftField::value("spec/uid", self.options.uid.clone(), &origin));
        let weight = DraftField::value("spec/weight", 0, &origin);
        self.add(weight.comment("A share of users; there it is one of requests."));
    }

    /// One of the versions, with a placeholder for what no pod can have as its label.
    pub(super) fn version(
        &mut self,
        path: &'static str,
        version: String,
        (role, origin): (&str, &SourceOrigin),
    ) {
        let is_legal = is_version(&version);
        if !is_legal {
            let difference = format!("`{version}` is no value of a label: `{role}` is in its place");
            self.placeholder(origin, difference, format!("set `{}`", path.replace('/', ".")));
        }
        self.add(DraftField::value(path, if is_legal { version } else { role.to_owned() }, origin).or(role));
    }

    /// The key of users and what keeps their sessions. `found` is a session cookie that the source names.
    pub(super) fn users(&mut self, found: Option<(String, SourceOrigin)>) {
        let origin = self.origin("spec");
        let options = self.options;
        if let Some(claim) = options.jwt_claim.clone() {
            self.add(DraftField::value("spec/stickiness", "user", &origin));
            self.add(DraftField::fields(
                "spec/identifyBy/-",
                vec![("jwt", json!({"claim": claim}))],
                &origin,
            ));
            return;
        }
        self.add(DraftField::value("spec/stickiness", "session", &origin));
        let asked = options.session_cookie.clone().map(|cookie| (cookie, origin.clone()));
        if let Some((cookie, origin)) = asked.or(found) {
            self.add(DraftField::value("spec/session/cookie", cookie.clone(), &origin));
            self.add(DraftField::fields("spec/identifyBy/-", vec![("cookie", cookie.into())], &origin));
            return;
        }
        self.placeholder(
            &origin,
            "nothing says which cookie has the session of the application; without it users are known by a cookie of the filter, and sessions from before are not recognised",
            "set `spec.session.cookie` and `spec.identifyBy`",
        );
    }

    /// Gateways by their names, or those of the options; inside the mesh alone without any.
    pub(super) fn gateways(&mut self, named: &[(String, SourceOrigin)]) {
        let asked = self.options.gateway.clone().map(|name| vec![(name, self.origin("spec"))]);
        let named = asked.unwrap_or_else(|| named.to_vec());
        let mut seen = BTreeSet::new();
        for (name, origin) in named.iter().filter(|(name, _)| seen.insert(name)) {
            let (namespace, object) = match name.split_once('/') {
                Some((namespace, object)) => (namespace.to_owned(), object.to_owned()),
                None => (self.namespace.clone(), name.clone()),
            };
            self.gateway(&namespace, &object, origin);
        }
    }

    fn gateway(&mut self, namespace: &str, object: &str, origin: &SourceOrigin) {
        let found = self.sources.find(&["Gateway"], object, namespace);
        let selector = found.and_then(|gateway| gateway.get("spec.selector")).map(placed_yaml::Node::to_json);
        let mut fields =
            vec![("name", Value::from(format!("{namespace}/{object}"))), ("namespace", namespace.into())];
        let is_known = selector.is_some();
        fields.push(("selector", selector.unwrap_or_else(|| json!({"istio": "ingressgateway"}))));
        let placeholder = json!({"name": "istio-ingress/gateway", "namespace": "istio-ingress", "selector": {"istio": "ingressgateway"}});
        let mut field = DraftField::fields("spec/gateways/-", fields, origin).or(placeholder);
        if !is_known {
            field = field.comment("CHECK: the namespace and the labels of this Gateway's pods.");
            self.placeholder(
                origin,
                format!("the source does not say where the pods of Gateway `{namespace}/{object}` run"),
                "check `namespace` and `selector` of `spec.gateways`",
            );
        }
        self.add(field);
    }

    /// A DNS label for an item of a list, once in its group.
    pub(super) fn label(&mut self, group: &'static str, text: &str) -> String {
        let legal =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        let name: String = text.chars().map(legal).take(58).collect();
        let name = Some(name.trim_matches('-').to_owned()).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "unnamed".to_owned());
        let mut unique = name.clone();
        for number in 2.. {
            if self.names.insert((group, unique.clone())) {
                break;
            }
            unique = format!("{name}-{number}");
        }
        unique
    }

    /// The Prometheus of a metric; there is one in a release. Whether it is this one.
    pub(super) fn prometheus(&mut self, address: Option<&str>, origin: &SourceOrigin) -> bool {
        const PLACEHOLDER: &str = "http://prometheus.istio-system:9090";
        let wanted = address.unwrap_or_default().trim_end_matches('/').to_owned();
        if let Some(first) = &self.prometheus {
            return wanted == *first;
        }
        self.prometheus = Some(wanted.clone());
        let mut field =
            DraftField::value("spec/rollout/prometheus/address", wanted.clone(), origin).or(PLACEHOLDER);
        if wanted.is_empty() {
            field = DraftField::value("spec/rollout/prometheus/address", PLACEHOLDER, origin)
                .comment("CHECK: the address of the Prometheus that has these metrics.");
            self.placeholder(
                origin,
                "the address of Prometheus is a setting of the controller there",
                "check `spec.rollout.prometheus.address`",
            );
        }
        self.add(field);
        true
    }

    /// Without trust nothing of it is silent: the guards that are lost stand at the head of the file.
    pub(super) fn finish(mut self) -> Result<Import, Error> {
        let title = self.subject.title();
        self.draft.head(format!("Made of {title}. Lines with CHECK or PLACEHOLDER need a person."));
        let release = self.draft.finish(&mut self.differences)?;
        let differences = self.differences.finish();
        let lost = differences.iter().filter(|difference| difference.loses_guard());
        let lost: String =
            lost.map(|lost| comment(&format!("  {}: {}", lost.origin, lost.difference))).collect();
        let head =
            if lost.is_empty() { lost } else { format!("# Not in it, though it guards users:\n{lost}") };
        Ok(Import { release: head + &release, differences, steps: self.steps })
    }
}

fn comment(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    format!("# {line}\n")
}

/// A duration of Go, or a number of seconds, in whole seconds.
pub(super) fn seconds(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse::<u64>() {
        return Some(number);
    }
    if let Ok(seconds) = text.parse::<Seconds>() {
        return Some(seconds.get());
    }
    let unit = |suffix: &str, size: f64| Some(text.strip_suffix(suffix)?.parse::<f64>().ok()? * size);
    let found = unit("ms", 0.001)
        .or_else(|| unit("s", 1.0))
        .or_else(|| unit("m", 60.0))
        .or_else(|| unit("h", 3600.0))?;
    // Longer than ten years is no duration of a release.
    (0.0..3.2e8).contains(&found).then(|| found.ceil().to_string().parse().ok()).flatten()
}

/// The same in the words of a release.
pub(super) fn duration(seconds: u64) -> String {
    Seconds::new(seconds.max(1)).unwrap_or(Seconds::TEN_SECONDS).to_string()
}

/// A number as people write it.
pub(super) fn number(number: f64) -> Value {
    number.to_string().parse::<i64>().map_or_else(|_| json!(number), |whole| json!(whole))
}

/// The value of a label that a version can be, as Kubernetes has them, with room for the name of a Deployment.
pub(super) fn is_version(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.bytes().all(is_inner)
        && is_end(text.bytes().next())
        && is_end(text.bytes().last())
        && text.len() <= 63
}

/// A share of 0 to 100, as a number of the release.
pub(super) fn percent(share: f64) -> Value {
    number((share * 100.0).round() / 100.0)
}
