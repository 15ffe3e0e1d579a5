//! What releases that share a proxy have to have in common, and do not.

use super::{Error, ProxySettings};
use crate::spec::ReleaseName;
use assignment::contract::SameSite;
use std::fmt;

/// The field of the revision of Istio that reads the objects.
pub const REVISION_FIELD: &str = "metadata.labels.istio.io/rev";

/// A field in which two releases of one proxy differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The field of `canary.yaml`.
    pub field: &'static str,
    /// A release, and its value.
    pub first: (String, String),
    /// Another release, and its value.
    pub second: (String, String),
}

impl Disagreement {
    /// The error of two releases with these values of a field.
    pub(crate) fn error(
        field: &'static str,
        (first, value): (&ReleaseName, String),
        (second, other): (&ReleaseName, String),
    ) -> Error {
        let (first, second) = ((first.to_string(), value), (second.to_string(), other));
        Error::Disagree(Box::new(Self { field, first, second }))
    }
}

/// `delivery.debugHeader` is `x-a` in `shop/shop` and none in `shop/blog`.
impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, first: (first, value), second: (second, other) } = self;
        write!(f, "`{field}` is {value} in `{first}` and {other} in `{second}`")
    }
}

impl ProxySettings {
    /// The first field in which two settings of a proxy differ, with both values.
    pub(crate) fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let (ours, theirs) = (&self.id_cookie, &other.id_cookie);
        let flags = |field, one: bool, other: bool| Some((field, quoted(one), quoted(other)));
        if ours.secure != theirs.secure {
            flags("cookies.tls", ours.secure, theirs.secure)
        } else if ours.same_site != theirs.same_site {
            Some(("cookies.sameSite", same_site(ours.same_site), same_site(theirs.same_site)))
        } else if ours.domain != theirs.domain {
            Some(("cookies.domain", optional(ours.domain.as_ref()), optional(theirs.domain.as_ref())))
        } else if self.debug_header != other.debug_header {
            let values = (optional(self.debug_header.as_ref()), optional(other.debug_header.as_ref()));
            Some(("delivery.debugHeader", values.0, values.1))
        } else if self.filter_state != other.filter_state {
            flags("delivery.filterState", self.filter_state, other.filter_state)
        } else {
            (ours != theirs).then(|| ("cookies", quoted(&ours.name), quoted(&theirs.name)))
        }
    }
}

fn same_site(value: SameSite) -> String {
    quoted(value.as_str())
}

/// A value of a field that may be left out.
pub(crate) fn optional(value: Option<&String>) -> String {
    value.map_or_else(|| "none".to_owned(), quoted)
}

/// A value as messages show it.
pub(crate) fn quoted(value: impl fmt::Display) -> String {
    format!("`{value}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProxySettings;
    use crate::file::load;
    use assignment::contract::Position;
    use std::path::Path;

    #[test]
    fn two_settings_that_differ_are_told_by_field_and_values() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        let settings = |change: &dyn Fn(&mut crate::spec::Release)| {
            let mut release = release.clone();
            change(&mut release);
            ProxySettings::of(&release, Position::Edge)
        };
        let plain = settings(&|_| {});
        let difference = |change: &dyn Fn(&mut crate::spec::Release)| {
            plain.difference(&settings(change)).map(|(field, one, other)| format!("{field} {one} {other}"))
        };
        assert_eq!(difference(&|_| {}), None);
        let found = [
            difference(&|release| release.cookies.tls = false),
            difference(&|release| release.cookies.same_site = SameSite::Strict),
            difference(&|release| release.cookies.domain = Some("example.com".to_owned())),
            difference(&|release| release.delivery.debug_header = Some("x-debug".to_owned())),
            difference(&|release| release.delivery.filter_state = !release.delivery.filter_state),
        ];
        assert_eq!(
            found.map(Option::unwrap),
            [
                "cookies.tls `true` `false`",
                "cookies.sameSite `Lax` `Strict`",
                "cookies.domain none `example.com`",
                "delivery.debugHeader none `x-debug`",
                "delivery.filterState `false` `true`",
            ]
        );
    }
}
