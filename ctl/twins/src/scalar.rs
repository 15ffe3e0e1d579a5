//! Plain scalars as Kubernetes and Helm read them: by YAML 1.1, in the form of `sigs.k8s.io/yaml` (go-yaml v2).
//!
//! A YAML 1.2 reader takes `0644` for 644 and `yes` for a text; the API server gets 420 and `true`.

use serde_json::{Number, Value};

/// Checks a key that stood there without quotes: to Kubernetes `on:` is the key `true`.
///
/// # Errors
///
/// If the key would be another one, or none: what was expected and found.
pub(crate) fn check_key(key: &str) -> Result<(), String> {
    let (read, is_same) = match plain(key)? {
        Value::String(_) => return Ok(()),
        Value::Bool(value) => ("a boolean", value.to_string() == key),
        // A float is read in single precision, and an integer above the signed ones is no key.
        Value::Number(_) if key.contains('.') => ("a number", is_same_float(key)),
        Value::Number(number) => {
            ("a number", number.as_i64().is_some_and(|number| number.to_string() == key))
        }
        _ => ("null", false),
    };
    if is_same {
        return Ok(());
    }
    Err(format!("expected a key that is a text, found `{key}`, which Kubernetes reads as {read}"))
}

/// Whether Go's `strconv.FormatFloat` with format `g` and 32 bits writes a float as it stands there; it writes the others with an exponent.
fn is_same_float(key: &str) -> bool {
    key.parse::<f32>().is_ok_and(|float| (1e-4..1e6).contains(&float.abs()) && float.to_string() == key)
}

/// The value of a scalar that stood there without quotes.
///
/// # Errors
///
/// If it is a number that JSON does not have: what was expected and found.
pub(crate) fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf"
        | "-.Inf" | "-.INF" => return Err(format!("expected a number that JSON has, found `{text}`")),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    })
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// Go's `strconv.ParseInt` with base 0 after underscores are removed, then a decimal float.
fn number(text: &str) -> Option<Number> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return None;
    }
    // `strconv.ParseFloat` alone, which wants underscores between digits.
    let is_between = |part: &str| part.starts_with(is_digit) && part.ends_with(is_digit);
    if text.starts_with('.') && text.contains('_') && !text.get(1..)?.split('_').all(is_between) {
        return None;
    }
    let digits = text.replace('_', "");
    let (sign, magnitude) = match digits.strip_prefix(['+', '-']) {
        Some(rest) if digits.starts_with('-') => (-1, rest),
        Some(rest) => (1, rest),
        None => (1, digits.as_str()),
    };
    integer(sign, magnitude).or_else(|| float(&digits, magnitude))
}

fn integer(sign: i128, magnitude: &str) -> Option<Number> {
    let (base, digits) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, magnitude.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, magnitude.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, magnitude.get(2..)?),
        [b'0', _, ..] => (8, magnitude.get(1..)?),
        _ => (10, magnitude),
    };
    if !digits.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    let value = sign * i128::from_str_radix(digits, base).ok()?;
    i64::try_from(value).map(Number::from).or_else(|_| u64::try_from(value).map(Number::from)).ok()
}

/// Up to here every whole number is a float.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn float(text: &str, magnitude: &str) -> Option<Number> {
    let is_decimal = |letter: char| letter.is_ascii_digit() || ".eE+-".contains(letter);
    if !magnitude.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        || !magnitude.chars().all(is_decimal)
    {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    // Go writes a whole float as an integer.
    let whole =
        format!("{value:.0}").parse::<i64>().ok().filter(|_| value.fract() == 0.0 && value.abs() < MAX_WHOLE);
    whole.map(Number::from).or_else(|| Number::from_f64(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The expected values are those of `kubectl annotate --local -o json` of Kubernetes 1.36.
    #[test]
    fn plain_scalars_are_read_as_kubernetes_reads_them() {
        for (text, value) in [
            ("0644", json!(420)),
            ("0o644", json!(420)),
            ("0x1F", json!(31)),
            ("1_000", json!(1000)),
            ("-5", json!(-5)),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
            ("0.5", json!(0.5)),
            ("1e3", json!(1000)),
            ("1.0e+10", json!(10_000_000_000_i64)),
            ("08", json!(8)),
            ("1_0.5", json!(10.5)),
            ("0b11", json!(3)),
            ("-0644", json!(-420)),
            ("0o8", json!("0o8")),
            ("1e", json!("1e")),
            ("y", json!(true)),
            ("yes", json!(true)),
            ("off", json!(false)),
            ("~", json!(null)),
            ("", json!(null)),
            ("1.2.3", json!("1.2.3")),
            ("2001-01-01", json!("2001-01-01")),
            ("12:30", json!("12:30")),
            ("100m", json!("100m")),
            ("0x", json!("0x")),
            ("-", json!("-")),
            (".", json!(".")),
            ("shop", json!("shop")),
        ] {
            assert_eq!(plain(text), Ok(value), "{text}");
        }
    }
}
