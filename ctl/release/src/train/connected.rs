//! Which releases with the name of a train are one train: two teams of a cluster may have chosen the same name.
//!
//! Releases of one namespace are one train, and so are those of two namespaces where the sidecars of one serve a release of the other: who calls a
//! service inside the mesh has its sidecar's namespace in that release's `sidecars[]`. Gateways say nothing: teams share them.

use crate::record::Record;
use crate::spec::ReleaseName;
use std::collections::BTreeSet;

/// A release with the name of the train, and the namespaces that it connects.
pub type ReleaseNamespaces = (ReleaseName, BTreeSet<String>);

/// The namespaces that a release connects; of one whose record cannot be read its own.
pub fn release_namespaces(release: &ReleaseName, record: Option<&Record>) -> ReleaseNamespaces {
    let inner = record.filter(|record| record.train.as_ref().is_some_and(|member| member.is_inner));
    let callers =
        inner.into_iter().flat_map(|record| record.proxies.iter().map(|proxies| proxies.namespace.clone()));
    (release.clone(), callers.chain([release.namespace.to_string()]).collect())
}

/// The releases in groups, each of which is a train of its own.
pub fn connected(releases: impl IntoIterator<Item = ReleaseNamespaces>) -> Vec<BTreeSet<ReleaseName>> {
    let mut groups: Vec<(BTreeSet<ReleaseName>, BTreeSet<String>)> = Vec::new();
    for (release, namespaces) in releases {
        let (touched, mut apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(_, of)| !of.is_disjoint(&namespaces));
        let mut group = (BTreeSet::from([release]), namespaces);
        for (releases, namespaces) in touched {
            group.0.extend(releases);
            group.1.extend(namespaces);
        }
        apart.push(group);
        groups = apart;
    }
    groups.into_iter().map(|(releases, _)| releases).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `shop/web` is behind a gateway; `back/api<shop` is called from the namespace `shop`.
    fn groups(releases: &[&str]) -> Vec<String> {
        let releases = releases.iter().map(|text| {
            let (name, caller) = text.split_once('<').unwrap_or((text, ""));
            let name: ReleaseName = name.parse().unwrap();
            let callers =
                [caller, name.namespace.as_str()].into_iter().filter(|namespace| !namespace.is_empty());
            let callers = callers.map(str::to_owned).collect();
            (name, callers)
        });
        let joined = |group: BTreeSet<ReleaseName>| {
            group.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let mut groups: Vec<String> = connected(releases).into_iter().map(joined).collect();
        groups.sort();
        groups
    }

    #[test]
    fn releases_of_two_teams_are_two_trains_unless_one_calls_the_other() {
        assert_eq!(groups(&["shop/web", "shop/api<shop"]), ["shop/api shop/web"]);
        assert_eq!(
            groups(&["shop/web", "shop/api<shop", "blog/web", "blog/api<blog"]),
            ["blog/api blog/web", "shop/api shop/web"]
        );
        assert_eq!(
            groups(&["shop/web", "back/api<shop", "data/store<back"]),
            ["back/api data/store shop/web"]
        );
        assert_eq!(
            groups(&["data/store<back", "shop/web", "back/api<shop"]),
            ["back/api data/store shop/web"]
        );
        assert_eq!(
            groups(&["one/web", "two/web", "one/api<two", "last/api<one"]),
            ["last/api one/api one/web two/web"]
        );
        let joined = ["one/web<left", "two/web<right", "left/api<right", "last/store<two"];
        assert_eq!(groups(&joined), ["last/store left/api one/web two/web"]);
        assert_eq!(groups(&["shop/web", "live/socket"]), ["live/socket", "shop/web"]);
        assert!(groups(&[]).is_empty());
    }
}
