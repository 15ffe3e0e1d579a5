//! Proves the verdict on shares with values that tables give.

use wasm_tests::stats::{UNLIKELY, chi_square_p_value, share_p_value};

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
}

#[test]
fn the_p_value_is_the_one_in_the_tables() {
    // 3.841 is the 5 % point of one degree of freedom: 0.5 ± 0.98 standard errors of a hundred draws.
    close(share_p_value(60, 100, 0.5), 0.0455);
    close(share_p_value(50, 100, 0.5), 1.0);
    // 11.07 is the 5 % point of five degrees: a die that shows 16.0, six times a hundred throws.
    close(chi_square_p_value(&[100, 100, 100, 100, 120, 80], &[1.0 / 6.0; 6]), 0.1562);
}

#[test]
fn a_share_that_is_off_is_unlikely_and_a_right_one_is_not() {
    assert!(share_p_value(2_500, 10_000, 0.20) < UNLIKELY);
    assert!(share_p_value(2_043, 10_000, 0.20) > 0.1);
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
