//! About `canary.yaml`, keys, and what is made of them.

use super::Hint;
use super::command::shown;
use canary_release::config::{self, Disagreement, KeyError, REVISION_FIELD};
use canary_release::{file, manifest};
use std::io::ErrorKind;

impl Hint for file::Error {
    /// A fault of a field has its hint in its text.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound => Some(
                "`-f FILE` names the file of the release; `canary-ctl init` writes a first one".to_owned(),
            ),
            Self::Faulty { faults, .. } => faults.iter().find_map(|fault| {
                let hint = match fault.message.split_once(", found ")?.1 {
                    "`Canary`" => "`canary-ctl init --from-flagger FILE` makes a release of Flagger's object",
                    "`Rollout`" => "`canary-ctl init --from-argo FILE` makes a release of Argo's object",
                    // A `*` at the beginning of a value names an anchor.
                    "unknown anchor" => {
                        "a value that begins with `*` needs quotation marks, as the host `\"*.example.com\"`"
                    }
                    _ => return None,
                };
                Some(hint.to_owned())
            }),
            Self::Unreadable { .. } => None,
        }
    }
}

impl Hint for KeyError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing => {
                Some("`canary-ctl init` draws keys; name their file with `--signing-keys FILE`".to_owned())
            }
            Self::Malformed { .. } => {
                Some("give the file that `canary-ctl init` has written, signing-keys.json".to_owned())
            }
            Self::Unreadable { .. } => None,
        }
    }
}

impl Hint for config::Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Contract(error) => error.hint().map(str::to_owned),
            Self::HostTaken { release, other, .. } => Some(format!(
                "take the host out of the file of `{}` or of `{}`, or give them other `paths`",
                shown(release),
                shown(other)
            )),
            Self::Disagree(disagreement) => Some(shared_field(disagreement)),
            Self::Keys(error) => error.hint(),
            Self::Random(_) => None,
        }
    }
}

/// The field in which the files of both releases have to agree.
fn shared_field(disagreement: &Disagreement) -> String {
    let Disagreement { field, first: (first, _), second: (second, _) } = disagreement;
    let (first, second) = (shown(first), shown(second));
    let same = format!("set `{field}` to the same value in the files of `{first}` and `{second}`");
    if *field == REVISION_FIELD {
        return format!(
            "{same}; to move both to another revision, take the label out of one, apply it, and change the other first"
        );
    }
    same
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
    use assignment::contract::ContractError;

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
    fn a_host_of_another_release_is_told_in_the_words_of_the_file() {
        let (release, host, other) =
            ("shop/blog".to_owned(), "shop.example.com/".to_owned(), "shop/shop".to_owned());
        let error = config::Error::from(ContractError::HostTaken { release, host, other });
        assert_eq!(
            error.to_string(),
            "expected a host and a path that one release has, found `shop.example.com/` in `shop/blog` and in `shop/shop`"
        );
        let expected =
            "take the host out of the file of `shop/blog` or of `shop/shop`, or give them other `paths`";
        assert_eq!(error.hint().as_deref(), Some(expected));
    }

    #[test]
    fn releases_that_disagree_are_told_about_the_field() {
        let disagreement = |field| {
            let of = |release: &str, value: &str| (release.to_owned(), value.to_owned());
            let (first, second) = (of("shop/shop", "`true`"), of("shop/blog", "`false`"));
            config::Error::Disagree(Box::new(Disagreement { field, first, second }))
        };
        let error = disagreement("cookies.tls");
        assert_eq!(
            error.to_string(),
            "releases that share a proxy must agree: `cookies.tls` is `true` in `shop/shop` and `false` in `shop/blog`"
        );
        let expected = "set `cookies.tls` to the same value in the files of `shop/shop` and `shop/blog`";
        assert_eq!(error.hint().as_deref(), Some(expected));
        let hint = disagreement(REVISION_FIELD).hint().unwrap();
        assert!(hint.contains("take the label out of one"), "{hint}");
    }
}
