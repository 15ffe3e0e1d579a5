//! The crowd: a fixed number of dots, each for the same part of the requests, distributed to versions as the requests were.

/// The dots of a crowd.
pub const CROWD: u64 = 200;

/// The share of each count in [`CROWD`] dots, by largest remainders; a count above zero gets at least one. `None` where nothing
/// was counted.
pub fn crowd(counts: &[u64]) -> Option<Vec<u64>> {
    let all: u128 = counts.iter().copied().map(u128::from).sum();
    if all == 0 {
        return None;
    }
    let scaled = |count: u64| u128::from(count) * u128::from(CROWD);
    let mut dots: Vec<u64> = Vec::with_capacity(counts.len());
    for &count in counts {
        let whole = u64::try_from(scaled(count) / all).unwrap_or(CROWD);
        dots.push(whole.max(u64::from(count > 0)));
    }
    let mut by_remainder: Vec<usize> = (0..counts.len()).collect();
    by_remainder.sort_by_key(|&at| std::cmp::Reverse(counts.get(at).map_or(0, |&count| scaled(count) % all)));
    let given: u64 = dots.iter().sum();
    for at in by_remainder.into_iter().cycle().take(usize::try_from(CROWD.saturating_sub(given)).unwrap_or(0))
    {
        if let Some(dot) = dots.get_mut(at) {
            *dot += 1;
        }
    }
    // Versions that have few requests have their dot from the largest.
    if let Some(largest) = dots.iter_mut().max() {
        *largest -= given.saturating_sub(CROWD);
    }
    Some(dots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_distributed_as_requests_were_and_nobody_with_requests_is_invisible() {
        for (counts, expected) in [
            (&[0, 0][..], None),
            (&[80, 20], Some(vec![160, 40])),
            (&[2, 1], Some(vec![133, 67])),
            (&[1, 1, 1], Some(vec![67, 67, 66])),
            (&[1_000_000, 1], Some(vec![199, 1])),
            (&[0, 7], Some(vec![0, 200])),
            (&[u64::MAX, u64::MAX], Some(vec![100, 100])),
        ] {
            assert_eq!(crowd(counts), expected, "{counts:?}");
        }
    }
}
