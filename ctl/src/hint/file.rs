//! About `canary.yaml`, keys, and what is made of them.

use super::Hint;
use canary_release::config::{self, KeyError};
use canary_release::{manifest, spec};
use std::io::ErrorKind;

impl Hint for spec::Error {
    /// A fault of a field has its hint in its text.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound => {
                Some("`canary-ctl init` writes one; `-f FILE` names another".to_owned())
            }
            Self::Unreadable { .. } | Self::Faulty { .. } => None,
        }
    }
}

impl Hint for KeyError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing => {
                Some("`canary-ctl init` draws keys; name their file with `--signing-keys FILE`".to_owned())
            }
            Self::Unreadable { .. } | Self::Malformed { .. } => None,
        }
    }
}

impl Hint for config::Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Contract(error) => error.hint().map(str::to_owned),
            Self::Disagree { what, .. } => Some(format!("give them the same {what}")),
            Self::Keys(error) => error.hint(),
            Self::Random(_) => None,
        }
    }
}

impl Hint for manifest::Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Template(_) => None,
            Self::Config(error) => error.hint(),
            Self::NoModule => Some(
                "set `delivery.module` to a URL, or build the tool with a module: `./x build`, or `CANARY_FILTER_WASM=FILE cargo install --path ctl`"
                    .to_owned(),
            ),
            Self::TooLarge { module: module @ 1.., found, .. } if found - module <= manifest::MAX_OBJECT => Some(
                "put the module into a registry and set `delivery.module: oci://…`: then the object contains its address alone"
                    .to_owned(),
            ),
            Self::TooLarge { .. } => Some(
                "spread the releases over several gateways, or use `delivery.mode: trafficextension`"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_keys_have_a_hint_wherever_they_are_missed() {
        let expected = "`canary-ctl init` draws keys; name their file with `--signing-keys FILE`";
        let error = || config::Error::from(KeyError::Missing);
        assert_eq!(error().hint().as_deref(), Some(expected));
        let everywhere = [
            crate::Error::from(error()),
            manifest::Error::from(error()).into(),
            crate::local::Error::from(error()).into(),
            canary_operations::Error::from(error()).into(),
        ];
        for error in everywhere {
            assert_eq!(error.hint().as_deref(), Some(expected), "{error:?}");
        }
    }

    #[test]
    fn releases_that_disagree_are_told_about_the_field() {
        let (first, second) = ("shop/shop".to_owned(), "shop/blog".to_owned());
        let error = config::Error::Disagree { first, second, what: "delivery.module" };
        assert_eq!(error.hint().as_deref(), Some("give them the same delivery.module"));
    }
}
