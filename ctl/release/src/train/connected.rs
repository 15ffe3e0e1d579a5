//! Which releases of one train name belong together: two teams may choose the same name.
//!
//! A release behind gateways decides it: to its train belong the releases of its own namespace, and of those that its file names. What another
//! namespace says of itself does not count, so that a `ConfigMap` there joins no train.

use crate::spec::ReleaseName;
use crate::state::TrainMember;
use std::collections::BTreeSet;

/// A release with the name of the train.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainPlace {
    /// The release.
    pub release: ReleaseName,
    /// Whether sidecars alone serve it.
    pub is_inner: bool,
    /// The namespaces whose releases belong to its train.
    pub namespaces: BTreeSet<String>,
}

impl TrainPlace {
    /// The place of a release in its train.
    pub fn of(release: &ReleaseName, member: &TrainMember) -> Self {
        let own = [release.namespace.to_string()];
        let named = member.namespaces.iter().filter(|_| !member.is_inner).cloned();
        let namespaces = named.chain(own).collect();
        Self { release: release.clone(), is_inner: member.is_inner, namespaces }
    }

    fn has(&self, other: &Self) -> bool {
        self.namespaces.contains(other.release.namespace.as_str())
    }

    /// Whether a release behind gateways belongs to this one's train: both have to name the other.
    fn is_with(&self, other: &Self) -> bool {
        self.has(other) && (other.is_inner || other.has(self))
    }
}

/// The releases in groups, each of which is a train of its own. A release that sidecars serve may be in several.
pub fn connected(places: &[TrainPlace]) -> Vec<BTreeSet<ReleaseName>> {
    let mut groups: Vec<BTreeSet<ReleaseName>> = Vec::new();
    for outer in places.iter().filter(|place| !place.is_inner) {
        let with = places.iter().filter(|other| outer.is_with(other)).map(|other| other.release.clone());
        let mut group: BTreeSet<ReleaseName> = with.chain([outer.release.clone()]).collect();
        let is_outer =
            |name: &ReleaseName| places.iter().any(|place| !place.is_inner && place.release == *name);
        let outers: BTreeSet<ReleaseName> = group.iter().filter(|name| is_outer(name)).cloned().collect();
        let (touched, mut apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|other| !other.is_disjoint(&outers));
        group.extend(touched.into_iter().flatten());
        apart.push(group);
        groups = apart;
    }
    let is_free = |place: &&TrainPlace| groups.iter().all(|group| !group.contains(&place.release));
    let free: Vec<&TrainPlace> = places.iter().filter(is_free).collect();
    let namespaces: BTreeSet<&str> = free.iter().map(|place| place.release.namespace.as_str()).collect();
    for namespace in namespaces {
        let of = free.iter().filter(|place| place.release.namespace.as_str() == namespace);
        groups.push(of.map(|place| place.release.clone()).collect());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `shop/web` and `shop/web>back` are behind a gateway, the second names the namespace `back`; `back/api<` is called inside the mesh.
    fn groups(releases: &[&str]) -> Vec<String> {
        let places: Vec<TrainPlace> = releases.iter().map(|text| place(text)).collect();
        let joined = |group: BTreeSet<ReleaseName>| {
            group.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let mut groups: Vec<String> = connected(&places).into_iter().map(joined).collect();
        groups.sort();
        groups
    }

    fn place(text: &str) -> TrainPlace {
        let (name, named) = text.split_once('>').unwrap_or((text, ""));
        let release: ReleaseName = name.trim_end_matches('<').parse().unwrap();
        let named = named.split(',').filter(|namespace| !namespace.is_empty()).map(str::to_owned);
        let namespaces = named.chain([release.namespace.to_string()]).collect();
        TrainPlace { release, is_inner: name.ends_with('<'), namespaces }
    }

    #[test]
    fn releases_of_two_teams_are_two_trains_unless_a_gateways_release_names_the_namespace() {
        assert_eq!(groups(&["shop/web", "shop/api<"]), ["shop/api shop/web"]);
        assert_eq!(
            groups(&["shop/web", "shop/api<", "blog/web", "blog/api<"]),
            ["blog/api blog/web", "shop/api shop/web"]
        );
        assert_eq!(groups(&["shop/web", "back/api<"]), ["back/api", "shop/web"]);
        assert_eq!(
            groups(&["shop/web>back,data", "back/api<", "data/store<"]),
            ["back/api data/store shop/web"]
        );
        assert_eq!(groups(&["one/web>two", "two/web>one", "two/api<"]), ["one/web two/api two/web"]);
        assert_eq!(groups(&["shop/web", "shop/admin", "shop/api<"]), ["shop/admin shop/api shop/web"]);
        assert!(groups(&[]).is_empty());
    }

    #[test]
    fn a_release_that_names_another_teams_namespace_joins_nothing() {
        assert_eq!(groups(&["shop/web", "evil/x<"]), ["evil/x", "shop/web"]);
        assert_eq!(
            groups(&["shop/web", "shop/api<", "evil/web>shop"]),
            ["evil/web shop/api", "shop/api shop/web"]
        );
    }
}
