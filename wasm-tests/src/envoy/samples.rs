//! Prometheus text into samples, so that a test can ask for a metric by its labels.

use std::collections::BTreeMap;
use std::time::Duration;

/// Long enough for every worker to tell what our filter has counted, which it does once a second.
pub const COUNTED_WITHIN: Duration = Duration::from_millis(1_500);

/// One line of the exposition format.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Name without labels.
    pub name: String,
    /// Label values, unescaped.
    pub labels: BTreeMap<String, String>,
    /// Value.
    pub value: f64,
}

impl Sample {
    /// Whether it has this name and at least these labels.
    pub fn is(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.name == name
            && labels.iter().all(|(label, value)| self.labels.get(*label).is_some_and(|found| found == value))
    }
}

/// The samples in this text; comments and lines that are none are left out.
pub fn parse_samples(text: &str) -> Vec<Sample> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Sample> {
    let (series, value) = line.rsplit_once(' ')?;
    let (name, labels) = match series.split_once('{') {
        Some((name, labels)) => (name, parse_labels(labels.strip_suffix('}')?)?),
        None => (series, BTreeMap::new()),
    };
    Some(Sample { name: name.to_owned(), labels, value: value.parse().ok()? })
}

/// `a="1",b="x\"y"`: values may hold commas and braces, and `\\`, `\"` and `\n` stand for one character.
fn parse_labels(mut text: &str) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    while !text.is_empty() {
        let (label, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = rest.char_indices();
        let end = loop {
            match characters.next()? {
                (end, '"') => break end,
                (_, '\\') => match characters.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        labels.insert(label.to_owned(), value);
        text = rest.get(end + 1..)?;
        text = text.strip_prefix(',').unwrap_or(text);
    }
    Some(labels)
}
