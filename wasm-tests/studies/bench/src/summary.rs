//! Three figures for many: median and quartiles, because means are sensitive to outliers and minima to chance.

/// Median and quartiles of at least one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    /// A quarter of the figures are below.
    pub(crate) low: f64,
    /// Half of them.
    pub(crate) median: f64,
    /// Three quarters.
    pub(crate) high: f64,
    /// The largest.
    pub(crate) max: f64,
}

impl Summary {
    /// Of these figures; `None` if there are none.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            low: quantile(&sorted, 1)?,
            median: quantile(&sorted, 2)?,
            high: quantile(&sorted, 3)?,
            max: sorted.last().copied()?,
        })
    }
}

/// The quantile `quarter / 4` of sorted figures, between neighbours where it falls between them.
fn quantile(sorted: &[f64], quarter: usize) -> Option<f64> {
    let quarters = sorted.len().checked_sub(1)? * quarter;
    let (below, rest) = (quarters / 4, quarters % 4);
    let low = sorted.get(below).copied()?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    Some((high - low).mul_add([0.0, 0.25, 0.5, 0.75].get(rest).copied()?, low))
}

/// The figure that 99 of 100 do not exceed; `None` if there are none.
pub(crate) fn percentile_99(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len() * 99).div_ceil(100).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_neighbours() {
        let summary = Summary::of([4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(summary, Summary { low: 1.75, median: 2.5, high: 3.25, max: 4.0 });
        assert_eq!(Summary::of([7.0]).unwrap(), Summary { low: 7.0, median: 7.0, high: 7.0, max: 7.0 });
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn the_99th_percentile_of_a_hundred_leaves_one_above() {
        assert_eq!(percentile_99((1..=100).map(f64::from)), Some(99.0));
        assert_eq!(percentile_99([5.0]), Some(5.0));
        assert_eq!(percentile_99([]), None);
    }
}
