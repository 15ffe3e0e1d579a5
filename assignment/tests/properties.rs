//! What the algorithm promises of *users*: the same version always, moves in one direction only, exact shares,
//! releases that do not know of each other.
//!
//! The statistics have fixed seeds: they are the same on every machine and fail never or always.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

use assignment::{BUCKETS, Identity, Salt, Weight};
use proptest::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// With fixed seeds a correct algorithm is far above it; a wrong one is far below.
const UNLIKELY: f64 = 1e-4;

const USERS: u32 = 1_000_000;

/// Session ids as servers draw them: 32 hexadecimal digits. Counted up, because a good hash must not need luck.
fn session(number: u32) -> Identity {
    Identity::of_key(format!("{:032x}", u128::from(number) * 0x9e37_79b9_7f4a_7c15).as_bytes())
}

fn bucket(salt: &str, identity: Identity) -> u16 {
    Salt::new(salt).bucket(identity).number()
}

fn is_canary(salt: &str, key: &[u8], weight: Weight) -> bool {
    Salt::new(salt).bucket(Identity::of_key(key)).is_canary_at(weight)
}

fn weights() -> impl Strategy<Value = Weight> {
    (0_u32..=10_000).prop_map(|basis_points| Weight::new(basis_points).unwrap())
}

proptest! {
    #[test]
    fn the_same_key_salt_and_weight_give_the_same_version(key: Vec<u8>, salt: String, weight in weights()) {
        prop_assert_eq!(is_canary(&salt, &key, weight), is_canary(&salt.clone(), &key.clone(), weight));
    }

    #[test]
    fn raising_the_weight_moves_no_user_off_the_canary(key: Vec<u8>, salt: String, a in weights(), b in weights()) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(!is_canary(&salt, &key, low) || is_canary(&salt, &key, high));
    }

    #[test]
    fn a_bucket_changes_sides_at_one_weight_only(key: Vec<u8>, salt: String) {
        let bucket = Salt::new(&salt).bucket(Identity::of_key(&key));
        prop_assert!(bucket.number() < BUCKETS);
        let from = u32::from(bucket.canary_from());
        prop_assert!(!bucket.is_canary_at(Weight::new(from - 1).unwrap()));
        prop_assert!(bucket.is_canary_at(Weight::new(from).unwrap()));
    }

    #[test]
    fn releases_of_a_train_agree_on_every_user(key: Vec<u8>, train: String, weight in weights()) {
        let (front_end, api) = (Salt::new(&train), Salt::new(&train));
        let identity = Identity::of_key(&key);
        prop_assert_eq!(front_end.bucket(identity).is_canary_at(weight), api.bucket(identity).is_canary_at(weight));
    }

    #[test]
    fn an_identity_survives_its_way_through_a_header(key: Vec<u8>) {
        let identity = Identity::of_key(&key);
        prop_assert_eq!(Identity::from_hex(&identity.to_hex()), Some(identity));
    }
}

#[test]
fn going_back_to_a_weight_brings_the_same_users_back() {
    let salt = Salt::new("shop/web/v2");
    let on_canary = |percent: u32| -> Vec<u32> {
        let weight = Weight::new(percent * 100).unwrap();
        (0..20_000).filter(|user| salt.bucket(session(*user)).is_canary_at(weight)).collect()
    };
    let (before, between, after) = (on_canary(20), on_canary(10), on_canary(20));
    assert_eq!(before, after);
    assert!(between.iter().all(|user| before.contains(user)), "10 % is a part of 20 %");
    assert!((1..before.len()).contains(&between.len()), "{} of {} users", between.len(), before.len());
}

#[test]
fn all_buckets_are_hit_evenly() {
    let mut seen = vec![0_u32; usize::from(BUCKETS)];
    for user in 0..USERS {
        seen[usize::from(bucket("shop/web/v2", session(user)))] += 1;
    }
    let expected = f64::from(USERS) / f64::from(BUCKETS);
    let p = p_value(seen.iter().map(|hits| (f64::from(*hits), expected)), f64::from(BUCKETS) - 1.0);
    assert!((UNLIKELY..=1.0 - UNLIKELY).contains(&p), "p = {p}: uneven, or too even to be a hash");
}

#[test]
fn the_share_on_the_canary_is_the_weight() {
    for text in ["shop/web/v2", "shop/api/2026-11-21-a"] {
        let salt = Salt::new(text);
        let buckets: Vec<_> = (0..USERS).map(|user| salt.bucket(session(user))).collect();
        for basis_points in [1, 10, 100, 1_250, 2_500, 5_000, 9_999] {
            let weight = Weight::new(basis_points).unwrap();
            let on_canary = buckets.iter().filter(|bucket| bucket.is_canary_at(weight)).count();
            let (hits, expected) =
                (u32::try_from(on_canary).unwrap(), f64::from(USERS) * weight.as_fraction());
            let classes =
                [(f64::from(hits), expected), (f64::from(USERS - hits), f64::from(USERS) - expected)];
            let p = p_value(classes.into_iter(), 1.0);
            assert!(p > UNLIKELY, "{text} at {weight}: {hits} of {USERS}, p = {p}");
        }
    }
}

#[test]
fn two_releases_with_different_salts_draw_independently() {
    let (first, second) = (Salt::new("shop/web/v2"), Salt::new("shop/web/v3"));
    let weight = Weight::new(2_000).unwrap();
    let mut table = [[0_u32; 2]; 2];
    for user in 0..USERS {
        let identity = session(user);
        let sides = [first, second].map(|salt| usize::from(salt.bucket(identity).is_canary_at(weight)));
        table[sides[0]][sides[1]] += 1;
    }
    let p = independence_p_value(table);
    assert!(p > UNLIKELY, "{table:?}, p = {p}");
    let shared = [[table[0][0] + table[0][1], 0], [0, table[1][0] + table[1][1]]];
    assert!(independence_p_value(shared) < UNLIKELY, "the same salt would be seen as dependent");
}

/// Pearson's chi-square over a 2×2 table.
fn independence_p_value(table: [[u32; 2]; 2]) -> f64 {
    let rows = table.map(|row| f64::from(row[0] + row[1]));
    let columns = [0, 1].map(|column| f64::from(table[0][column] + table[1][column]));
    let total = rows[0] + rows[1];
    let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
    p_value(cells.into_iter().map(|(r, c)| (f64::from(table[r][c]), rows[r] * columns[c] / total)), 1.0)
}

/// Pearson's chi-square: how likely is a deviation at least as large, if what was expected is right?
fn p_value(classes: impl Iterator<Item = (f64, f64)>, freedom: f64) -> f64 {
    let chi_square: f64 = classes.map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    ChiSquared::new(freedom).unwrap().sf(chi_square)
}
