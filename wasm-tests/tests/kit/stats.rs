//! Proves the verdict on shares with values that tables give.

use wasm_tests::stats::{UNLIKELY, chi_square_p_value, share_p_value};

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
}

#[test]
fn the_p_value_is_the_one_in_the_tables() {
    // Two standard errors, of 10,000 draws at one half: 2 × 0.02275.
    close(share_p_value(5_100, 10_000, 0.5), 0.0455);
    close(share_p_value(5_000, 10_000, 0.5), 1.0);
    // 11.07 is the 5 % point of five degrees: a die that shows 16.0, six times a hundred throws.
    close(chi_square_p_value(&[100, 100, 100, 100, 120, 80], &[1.0 / 6.0; 6]), 0.1562);
}

#[test]
fn a_rare_share_is_judged_exactly() {
    // Poisson with mean 1: P(X ≥ 6) = 0.000594, P(X = 0) = 0.3679.
    let six = share_p_value(6, 10_000, 0.000_1);
    assert!((six - 2.0 * 0.000_594).abs() < 1e-5, "{six}");
    close(share_p_value(0, 10_000, 0.000_1), 0.7358);
    let twenty = share_p_value(20, 10_000, 0.000_1);
    assert!(twenty < UNLIKELY, "{twenty}");
    // The mirror image: a share of nearly 1.
    let mirrored = share_p_value(9_994, 10_000, 0.999_9);
    assert!((mirrored - 2.0 * 0.000_594).abs() < 1e-5, "{mirrored}");
}

#[test]
fn a_share_that_is_off_is_unlikely_and_a_right_one_is_not() {
    let (off, right) = (share_p_value(2_500, 10_000, 0.20), share_p_value(2_043, 10_000, 0.20));
    assert!(off < UNLIKELY, "{off}");
    assert!(right > 0.1, "{right}");
}

#[test]
fn a_share_of_nothing_or_everything_allows_no_exception() {
    close(share_p_value(0, 1_000, 0.0), 1.0);
    close(share_p_value(1, 1_000, 0.0), 0.0);
    close(share_p_value(1_000, 1_000, 1.0), 1.0);
    close(share_p_value(999, 1_000, 1.0), 0.0);
}

#[test]
fn no_draws_say_nothing() {
    close(share_p_value(0, 0, 0.3), 1.0);
}
