//! Names in a text, each found as a whole: no letter, digit, `-` or `_` beside it.

use std::collections::{BTreeMap, BTreeSet};

/// Names to look for, each of words with dots between them. A text is read once, however many they are.
pub(super) struct NameTokens<'n>(BTreeMap<&'n str, Vec<usize>>);

/// The longest name of an object (RFC 1123).
const MAX_NAME: usize = 253;

impl<'n> NameTokens<'n> {
    pub(super) fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut indices: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, name) in names.into_iter().enumerate() {
            indices.entry(name).or_default().push(index);
        }
        Self(indices)
    }

    /// Which of the names are in a text, as indices.
    pub(super) fn find(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            rest = rest.get(start..).unwrap_or_default();
            let word = first_word(rest).len();
            let mut end = word;
            while end <= MAX_NAME {
                let indices = rest.get(..end).and_then(|name| self.0.get(name));
                found.extend(indices.into_iter().flatten());
                match rest.get(end..).and_then(|behind| behind.strip_prefix('.')).map(first_word) {
                    None | Some("") => break,
                    Some(next) => end += 1 + next.len(),
                }
            }
            rest = rest.get(word..).unwrap_or_default();
        }
        found
    }
}

fn first_word(text: &str) -> &str {
    text.split(|letter| !is_part(letter)).next().unwrap_or_default()
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '-' || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_whole_only() {
        let names = NameTokens::new(["shop", "shop.config", "é"]);
        for (text, expected) in [
            ("shop", &[0][..]),
            ("http://shop:80", &[0]),
            ("shop-v2", &[]),
            ("myshop", &[]),
            ("a,shop.", &[0]),
            ("shop2 shop", &[0]),
            ("", &[]),
            ("x/shop.config: é", &[0, 1, 2]),
            ("shop.config2 été", &[0]),
        ] {
            assert_eq!(names.find(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
