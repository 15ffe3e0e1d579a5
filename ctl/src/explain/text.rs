//! An explanation as text.

use super::Explanation;
use crate::report::{Report, escape};
use std::fmt;

impl Report for Explanation {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{self}")
    }
}

/// A reason as people say it; JSON has its name and the number of its row.
fn in_words(reason: &str) -> &str {
    match reason {
        "override" => "tester",
        "pin" => "pinned",
        "adopted" => "older session",
        "hash" => "by bucket",
        "minted" => "new id",
        other => other,
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escape::line(&self.request))?;
        for (label, text) in self.lines() {
            write!(f, "\n  {label:<9} {}", escape::line(&text))?;
        }
        Ok(())
    }
}

impl Explanation {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let one = |label, text: Option<String>| text.map(|text| (label, text));
        let mut lines: Vec<_> = [
            one("release", Some(self.release.clone().unwrap_or_else(|| "none".to_owned()))),
            one("version", self.version_line()),
            one("why", Some(self.why_line())),
            one("key", self.key_line()),
            one("weight", self.weight_line()),
        ]
        .into_iter()
        .flatten()
        .collect();
        lines.extend(
            self.carries.iter().map(|carried| ("carries", format!("{}: {}", carried.name, carried.worth))),
        );
        lines.extend(self.remembers.iter().map(|text| ("remembers", text.clone())));
        lines.extend(self.notes.iter().map(|text| ("note", text.clone())));
        lines
    }

    fn version_line(&self) -> Option<String> {
        if let Some(version) = &self.version {
            return Some(format!("{version} ({})", self.role.unwrap_or_default()));
        }
        let chances: Vec<String> = self.chances.iter().map(ToString::to_string).collect();
        (!chances.is_empty()).then(|| chances.join(", "))
    }

    fn why_line(&self) -> String {
        match self.reason {
            Some(reason) => format!("{}: {}", in_words(reason), self.why),
            None => self.why.clone(),
        }
    }

    fn key_line(&self) -> Option<String> {
        let identity = self.identity.as_ref()?;
        let origin = self.key.as_ref().map_or_else(String::new, |key| format!("{key}, "));
        let bucket = self.bucket.map_or_else(String::new, |bucket| format!(", bucket {bucket} of 10000"));
        Some(format!("{origin}identity {identity}{bucket}"))
    }

    fn weight_line(&self) -> Option<String> {
        let weight = self.weight_percent?;
        let from = self
            .canary_from_percent
            .map_or_else(String::new, |from| format!("; canary from {from}% on, stable below"));
        Some(format!("{weight}%{from}"))
    }
}
