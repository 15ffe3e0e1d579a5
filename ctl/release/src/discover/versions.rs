//! Which version is stable and which the canary.

use super::Error;
use crate::discover::Survey;
use crate::format::counted;
use assignment::contract::Role;

impl Survey {
    /// Stable and canary: as requested. A role that is not requested goes to the only other existing version.
    ///
    /// A requested canary need not exist yet.
    ///
    /// # Errors
    ///
    /// If there is more than one candidate.
    pub fn stable_and_canary(
        &self,
        stable: Option<&str>,
        canary: Option<&str>,
    ) -> Result<(String, String), Error> {
        let other_than = |version: Option<&str>| {
            let mut others = self.versions.keys().filter(|found| Some(found.as_str()) != version);
            others.next().filter(|_| others.next().is_none()).cloned()
        };
        let ambiguous = |role| Error::Ambiguous { role, found: self.found() };
        let stable = match stable {
            Some(stable) => stable.to_owned(),
            None => other_than(canary).ok_or_else(|| ambiguous(Role::Stable))?,
        };
        let canary = match canary {
            Some(canary) => canary.to_owned(),
            None => other_than(Some(&stable)).ok_or_else(|| ambiguous(Role::Canary))?,
        };
        Ok((stable, canary))
    }

    fn found(&self) -> String {
        let pods = |pods: &usize| counted(*pods, "pod", "pods");
        let said = self.versions.iter().map(|(version, of)| format!("`{version}` ({})", pods(of)));
        said.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(
        versions: &[&str],
        stable: Option<&str>,
        canary: Option<&str>,
    ) -> Result<(String, String), String> {
        let survey = Survey {
            port: 80,
            label: "version".to_owned(),
            versions: versions.iter().map(|version| ((*version).to_owned(), 2)).collect(),
            hosts: Vec::new(),
            gateways: Vec::new(),
            route_objects: Vec::new(),
            affinity_cookie: None,
        };
        survey.stable_and_canary(stable, canary).map_err(|error| error.to_string())
    }

    fn both(stable: &str, canary: &str) -> (String, String) {
        (stable.to_owned(), canary.to_owned())
    }

    #[test]
    fn the_only_other_version_is_the_other_role() {
        assert_eq!(chosen(&["v1"], None, Some("v2")), Ok(both("v1", "v2")), "the canary is yet to come");
        assert_eq!(chosen(&["v1", "v2"], None, Some("v2")), Ok(both("v1", "v2")));
        assert_eq!(chosen(&["v1", "v2"], Some("v2"), None), Ok(both("v2", "v1")));
    }

    #[test]
    fn an_ambiguous_value_is_asked_for_and_not_guessed() {
        let which = |role: &str, found: &str| Err(format!("which version is {role}? found {found}"));
        let two = "`v1` (2 pods), `v2` (2 pods)";
        assert_eq!(chosen(&["v1", "v2"], None, None), which("stable", two));
        assert_eq!(chosen(&["v1", "v2"], None, Some("v3")), which("stable", two));
        assert_eq!(chosen(&["v1"], None, None), which("the canary", "`v1` (2 pods)"));
    }
}
