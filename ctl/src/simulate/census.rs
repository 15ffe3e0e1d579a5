//! Every user counted by bucket, once; the plan is then answered from 10 000 numbers, however many lines there were.

use super::{Field, Progress, lines};
use assignment::identity::IdentityKey;
use assignment::{BUCKETS, Identity, Salt, Weight};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Read};

/// The hash from a key to an identity, by the release's `identity`.
#[derive(Clone, Debug)]
pub enum Identifier {
    /// `identity: plain`.
    Plain,
    /// `identity: keyed`.
    Keyed(IdentityKey),
}

impl Identifier {
    #[inline]
    fn identify(&self, key: &[u8]) -> Identity {
        match self {
            Self::Plain => Identity::of_key(key),
            Self::Keyed(secret) => Identity::of_key_with(secret, key),
        }
    }
}

/// The rules from lines to users, and from users to buckets.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The place of the key in a line.
    pub field: Field,
    /// The hash to an identity.
    pub identifier: Identifier,
    /// The salt of the buckets.
    pub salt: Salt,
    /// Count each identity once. All of them are kept in memory then: 8 bytes each and the table's slack, about 20 bytes.
    /// Without it the memory is that of the histogram.
    pub distinct: bool,
}

#[cfg(test)]
impl Rules {
    /// Every line a user.
    pub(super) fn of_lines(salt: &str) -> Self {
        let (field, identifier) = (Field::Line, Identifier::Plain);
        Self { field, identifier, salt: Salt::new(salt), distinct: false }
    }
}

/// The counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// Lines read.
    pub lines: u64,
    /// Lines without the key.
    pub without_key: u64,
    /// Whether every identity was counted once, however often it came.
    pub is_distinct: bool,
    /// Whether no two identities differ.
    is_alike: bool,
    /// The number of users below bucket `n`, for `n` from 0 to [`BUCKETS`].
    below: Vec<u64>,
}

impl Census {
    /// Counts the users of a list or a log.
    ///
    /// # Errors
    /// The reader's.
    pub fn take(reader: impl Read, rules: &Rules, progress: &mut Progress) -> io::Result<Self> {
        let Rules { field, identifier, salt, distinct } = rules;
        let mut histogram = vec![0_u64; usize::from(BUCKETS)];
        let mut seen = distinct.then(HashSet::<u64, BuildHasherDefault<AlreadyHashed>>::default);
        let (mut lines, mut without_key) = (0, 0);
        let (mut first, mut is_alike) = (None, true);
        let count = |line: &[u8]| {
            lines += 1;
            let Some(key) = field.of(line) else {
                without_key += 1;
                return;
            };
            let identity = identifier.identify(&key);
            is_alike &= *first.get_or_insert(identity.as_u64()) == identity.as_u64();
            if seen.as_mut().is_some_and(|seen| !seen.insert(identity.as_u64())) {
                return;
            }
            if let Some(users) = histogram.get_mut(usize::from(salt.bucket(identity).number())) {
                *users += 1;
            }
        };
        lines::for_each_line(reader, count, |bytes| progress.advance(bytes))?;
        Ok(Self { lines, without_key, is_distinct: *distinct, is_alike, below: running_totals(&histogram) })
    }

    /// Users counted: lines with a key, or distinct identities.
    pub fn users(&self) -> u64 {
        self.below.last().copied().unwrap_or_default()
    }

    /// Whether one user has all lines, and there are several.
    pub fn is_of_one_user(&self) -> bool {
        self.is_alike && self.lines.saturating_sub(self.without_key) > 1
    }

    /// Users who are on the canary at this weight.
    pub fn on_canary(&self, weight: Weight) -> u64 {
        self.below.get(usize::from(weight.basis_points())).copied().unwrap_or_default()
    }

    /// The users in `parts` equal ranges of buckets, to see whether they are spread evenly. `parts` divides [`BUCKETS`].
    pub fn spread(&self, parts: usize) -> Vec<u64> {
        let edges: Vec<u64> = self.below.iter().step_by(usize::from(BUCKETS) / parts).copied().collect();
        edges.iter().zip(edges.iter().skip(1)).map(|(low, high)| high - low).collect()
    }
}

fn running_totals(histogram: &[u64]) -> Vec<u64> {
    let totals = histogram.iter().scan(0, |total, users| {
        *total += users;
        Some(*total)
    });
    std::iter::once(0).chain(totals).collect()
}

/// An identity is a hash: hashing it again would cost more than the look-up.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |number, byte| (number << 8) | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str, distinct: bool) -> Census {
        let rules = Rules { distinct, ..Rules::of_lines("shop/shop/v2") };
        Census::take(text.as_bytes(), &rules, &mut Progress::hidden()).unwrap()
    }

    #[test]
    fn the_count_below_each_weight_is_what_the_algorithm_says_user_by_user() {
        let keys: Vec<String> = (0..2_000).map(|number| format!("session-{number}")).collect();
        let census = count(&keys.join("\n"), false);
        let salt = Salt::new("shop/shop/v2");
        for points in [0, 1, 100, 2_500, 9_999, 10_000] {
            let weight = Weight::new(points).unwrap();
            let on_canary =
                |key: &&String| salt.bucket(Identity::of_key(key.as_bytes())).is_canary_at(weight);
            assert_eq!(census.on_canary(weight), keys.iter().filter(on_canary).count() as u64, "{weight}");
        }
        assert_eq!((census.users(), census.lines), (2_000, 2_000));
    }

    #[test]
    fn lines_without_a_key_are_counted_apart() {
        let census = count("a\n\n  \nb\n", false);
        assert_eq!((census.lines, census.without_key, census.users()), (4, 2, 2));
    }

    #[test]
    fn a_user_who_comes_often_counts_once_where_distinct_users_are_asked_for() {
        assert_eq!(count("a\nb\na\na\n", false).users(), 4);
        assert_eq!(count("a\nb\na\na\n", true).users(), 2);
    }

    #[test]
    fn one_user_with_several_lines_is_seen_with_and_without_counting_each_once() {
        for is_distinct in [false, true] {
            for (text, expected) in
                [("a\na\n\n", true), ("a\nb\n", false), ("a\na\nb", false), ("a\n\n", false), ("", false)]
            {
                assert_eq!(count(text, is_distinct).is_of_one_user(), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn the_parts_of_the_spread_add_up_to_all_users() {
        let keys: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        let spread = count(&keys.join("\n"), false).spread(100);
        assert_eq!((spread.len(), spread.iter().sum::<u64>()), (100, 500));
    }

    #[test]
    fn keyed_identities_are_those_of_the_algorithm() {
        let secret = IdentityKey::new(b"0123456789abcdef");
        let salt = Salt::new("s");
        let bucket = salt.bucket(Identity::of_key_with(&secret, b"alice"));
        let rules = Rules { identifier: Identifier::Keyed(secret), ..Rules::of_lines("s") };
        let census = Census::take(&b"alice"[..], &rules, &mut Progress::hidden()).unwrap();
        let weight = Weight::new(u32::from(bucket.canary_from())).unwrap();
        assert_eq!(census.on_canary(weight), 1);
        assert_eq!(census.on_canary(Weight::new(u32::from(bucket.number())).unwrap()), 0);
    }
}
