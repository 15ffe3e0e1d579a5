//! Prometheus text into samples.

use std::collections::BTreeMap;

/// From here on an `f64` does not hold every whole number.
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0;

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

    /// The value as a count; `None` where it is negative, has a fraction, or is too large to be exact.
    pub fn count(&self) -> Option<u64> {
        let is_count = self.value >= 0.0 && self.value < LARGEST_COUNT && self.value.fract() == 0.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number below 2^53"
        )]
        is_count.then_some(self.value as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_names_labels_and_values() {
        let text = "# TYPE a counter\na{x=\"1\",y=\"q\\\"}, \\\\ \"} 7\nb{} 0.5\nc 1\nnonsense\n";
        let samples = parse_samples(text);
        assert_eq!(samples.len(), 3, "{samples:?}");
        assert!(samples[0].is("a", &[("x", "1"), ("y", "q\"}, \\ ")]), "{:?}", samples[0]);
        assert!(!samples[0].is("a", &[("x", "2")]), "{:?}", samples[0]);
        assert!(samples[2].labels.is_empty(), "{:?}", samples[2]);
        let counts: Vec<_> = samples.iter().map(Sample::count).collect();
        assert_eq!(counts, [Some(7), None, Some(1)]);
    }

    #[test]
    fn a_value_that_is_negative_or_too_large_is_no_count() {
        for value in ["-1", "9007199254740993", "NaN", "+Inf"] {
            assert_eq!(parse_samples(&format!("a {value}"))[0].count(), None, "{value}");
        }
    }
}
