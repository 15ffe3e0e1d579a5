//! Secrets are taken out of texts of servers: one that repeats what it was sent, in an error, would have it printed, and kept in a record.

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use std::collections::BTreeSet;
use std::fmt;

/// Shorter texts occur by chance, and would be taken out of words.
const MIN_SECRET: usize = 4;
/// So much of the begin of a secret at the end of a text, which may have been cut, is taken out.
const MIN_PREFIX: usize = 6;
const REDACTED: &str = "(redacted)";

/// The secrets of a request, in the spellings that a server may repeat: as they are, in JSON, in a URL, in base64.
#[derive(Clone, Default)]
pub struct Redaction(Vec<String>);

impl Redaction {
    /// Takes out these.
    pub fn of<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut redaction = Self::default();
        secrets.into_iter().for_each(|secret| redaction.add(secret));
        redaction
    }

    /// Takes out another one.
    pub fn add(&mut self, secret: &str) {
        let known: BTreeSet<String> = self.0.drain(..).chain(spellings(secret)).collect();
        let long = known.into_iter().filter(|spelling| spelling.len() >= MIN_SECRET);
        self.0 = long.collect();
        // A spelling may contain another one.
        self.0.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    }

    /// The text without the secrets, and without the begin of one at its end.
    pub fn redact(&self, text: &str) -> String {
        let whole = self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED));
        let end = whole.trim_end_matches('…');
        let cut = self.0.iter().filter_map(|secret| prefix_at_end(end, secret)).max();
        match cut.and_then(|length| end.get(..end.len() - length)) {
            Some(rest) => format!("{rest}{REDACTED}{}", &whole[end.len()..]),
            None => whole,
        }
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}

/// The length of the longest begin of a secret with which a text ends.
fn prefix_at_end(text: &str, secret: &str) -> Option<usize> {
    let lengths = (MIN_PREFIX..secret.len()).rev();
    lengths.filter(|length| secret.get(..*length).is_some_and(|begin| text.ends_with(begin))).max()
}

fn spellings(secret: &str) -> Vec<String> {
    let json = serde_json::Value::from(secret).to_string();
    let json = json.get(1..json.len() - 1).unwrap_or_default();
    let mut all = vec![secret.to_owned(), json.to_owned(), percent_encoded(secret)];
    if secret.len() >= MIN_SECRET {
        for engine in [&STANDARD, &URL_SAFE] {
            all.extend((0..3).map(|before| base64_within(engine, secret.as_bytes(), before)));
        }
    }
    all
}

/// The part of these bytes in the base64 of a longer text, whatever is around them: `before` bytes of a group of three come before.
fn base64_within(engine: &GeneralPurpose, bytes: &[u8], before: usize) -> String {
    let padded: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
    let encoded = engine.encode(&padded);
    // Six bits a letter: the letters that are of these bytes alone.
    let (first, end) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
    encoded.get(first..end).unwrap_or_default().to_owned()
}

fn percent_encoded(text: &str) -> String {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let letters = text
        .bytes()
        .map(|byte| if is_unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "p/ss \"w\u{f6}rd+?>~";

    #[test]
    fn a_secret_is_taken_out_in_each_spelling_and_wherever_it_is() {
        let redaction = Redaction::of([SECRET]);
        let json = serde_json::Value::from(SECRET).to_string();
        assert_eq!(redaction.redact(&format!("found {SECRET}!")), "found (redacted)!");
        assert_eq!(redaction.redact(&format!("found {json}!")), "found \"(redacted)\"!");
        assert_eq!(redaction.redact("?t=p%2Fss%20%22w%C3%B6rd%2B%3F%3E~&"), "?t=(redacted)&");
        for user in ["", "a", "ab", "abc"] {
            for engine in [&STANDARD, &URL_SAFE] {
                let encoded = engine.encode(format!("{user}:{SECRET}:{user}"));
                let shown = redaction.redact(&encoded);
                let (before, after) = shown.split_once(REDACTED).unwrap();
                assert!(before.len() + after.len() <= 14, "{user}: {encoded}: {shown}");
            }
        }
    }

    #[test]
    fn what_is_cut_in_a_secret_is_taken_out_too() {
        let redaction = Redaction::of(["token-that-is-secret"]);
        assert_eq!(redaction.redact("error: token-that-i"), "error: (redacted)");
        assert_eq!(redaction.redact("error: token-that-i…"), "error: (redacted)…");
        assert_eq!(redaction.redact("expected a token"), "expected a token", "too little of it");
    }

    #[test]
    fn words_stay_where_a_secret_is_short_or_there_is_none() {
        let text = "expected a value, found none…";
        for secrets in [&[][..], &["a"], &[""], &["other-secret"]] {
            assert_eq!(Redaction::of(secrets.iter().copied()).redact(text), text);
        }
        assert_eq!(format!("{:?}", Redaction::of(["secret"])), "Redaction");
    }

    #[test]
    fn the_longer_of_two_secrets_is_taken_out_as_one() {
        let redaction = Redaction::of(["secret", "secret-and-more"]);
        assert_eq!(redaction.redact("secret-and-more, secret"), "(redacted), (redacted)");
    }
}
