//! Conditions of Argo's metrics: the comparisons of one value with numbers. The language has more, which has no form here.

/// The least and the greatest value that is as expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    /// A bound is excluded there and included here.
    pub(super) is_strict: bool,
    /// A value that is none is accepted there, and does not decide here.
    pub(super) accepts_none: bool,
}

/// Reads a condition that holds for good values.
pub(super) fn success(text: &str) -> Option<Bounds> {
    let mut bounds = Bounds::default();
    let mut text = text;
    // `isNaN(result[0]) || result[0] >= 0.99`: without a value nothing is decided.
    while let Some((before, after)) = text.split_once("||") {
        if !is_none_check(before) {
            return None;
        }
        bounds.accepts_none = true;
        text = after;
    }
    for part in text.split("&&") {
        comparison(part)?.narrow(&mut bounds);
    }
    (bounds.min.is_some() || bounds.max.is_some()).then_some(bounds)
}

/// Reads a condition that holds for bad values.
pub(super) fn failure(text: &str) -> Option<Bounds> {
    let mut bounds = Bounds::default();
    for part in text.split("||") {
        comparison(part)?.negated().narrow(&mut bounds);
    }
    (bounds.min.is_some() || bounds.max.is_some()).then_some(bounds)
}

#[derive(Clone, Copy)]
struct Comparison {
    is_least: bool,
    is_strict: bool,
    number: f64,
}

impl Comparison {
    /// The values for which it does not hold.
    const fn negated(self) -> Self {
        Self { is_least: !self.is_least, is_strict: !self.is_strict, number: self.number }
    }

    fn narrow(self, bounds: &mut Bounds) {
        let narrower = |old: Option<f64>, choose: fn(f64, f64) -> f64| {
            Some(old.map_or(self.number, |old| choose(old, self.number)))
        };
        if self.is_least {
            bounds.min = narrower(bounds.min, f64::max);
        } else {
            bounds.max = narrower(bounds.max, f64::min);
        }
        bounds.is_strict |= self.is_strict;
    }
}

fn comparison(text: &str) -> Option<Comparison> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let operators = [(">=", true, false), ("<=", false, false), (">", true, true), ("<", false, true)];
    let (operator, is_least, is_strict) =
        operators.into_iter().find(|(operator, ..)| text.contains(operator))?;
    let (left, right) = text.split_once(operator)?;
    let (left, right) = (left.trim(), right.trim());
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    if is_value(left) {
        return Some(Comparison { is_least, is_strict, number: number(right)? });
    }
    if is_value(right) {
        return Some(Comparison { is_least: !is_least, is_strict, number: number(left)? });
    }
    None
}

fn is_value(text: &str) -> bool {
    matches!(
        text,
        "result"
            | "result[0]"
            | "asFloat(result)"
            | "asFloat(result[0])"
            | "default(result, 0)"
            | "default(result[0], 0)"
    )
}

fn is_none_check(text: &str) -> bool {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    matches!(
        text.as_str(),
        "isNaN(result)"
            | "isNaN(result[0])"
            | "len(result)==0"
            | "result==nil"
            | "isNil(result)"
            | "isInf(result[0])"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_bounds() {
        for (text, min, max) in [
            ("result[0] >= 0.95", Some(0.95), None),
            ("result <= 500", None, Some(500.0)),
            ("result[0] > 1 && result[0] < 2", Some(1.0), Some(2.0)),
            ("isNaN(result[0]) || result[0] >= 99", Some(99.0), None),
            ("len(result) == 0 || result[0] < 0.05", None, Some(0.05)),
            ("0.9 <= result[0]", Some(0.9), None),
        ] {
            let found = success(text).expect(text);
            assert_eq!((found.min, found.max), (min, max), "{text}");
        }
        let found = failure("result[0] < 0.9 || result[0] > 2").unwrap();
        assert_eq!((found.min, found.max, found.is_strict), (Some(0.9), Some(2.0), false));
    }

    #[test]
    fn other_expressions_have_no_form() {
        for text in [
            "",
            "true",
            "all(result, {# > 1})",
            "result[0] == 1",
            "result[0] >= 1 || result[1] >= 2",
            "result[0] >= NaN",
            "result[0] - result[1] < 1",
            "len(result) > 0 && result[0] > 1",
            "!(result[0] > 1)",
        ] {
            assert_eq!(success(text), None, "{text}");
        }
        assert_eq!(failure("result[0] < 1 && result[0] > 0"), None);
    }
}
