//! Human-readable quantities for messages and reports.

use std::time::Duration;

/// A duration in the largest unit that keeps it readable: `0.14s`, `12s`, `3m`.
pub fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..10.0 => format!("{seconds:.2}s"),
        ..120.0 => format!("{seconds:.0}s"),
        _ => format!("{:.0}m", seconds / 60.0),
    }
}

/// A number with its noun: `1 proxy`, `2 proxies`.
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The pods of a version of which none is ready: `no pod`, `no ready pod of 2`.
pub fn none_ready(pods: usize) -> String {
    if pods == 0 { "no pod".to_owned() } else { format!("no ready pod of {pods}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_is_plural() {
        let found = [0_usize, 1, 2].map(|count| counted(count, "proxy", "proxies"));
        assert_eq!(found, ["0 proxies", "1 proxy", "2 proxies"]);
    }

    #[test]
    fn a_version_without_pods_has_not_none_of_none() {
        assert_eq!([0, 2].map(none_ready), ["no pod", "no ready pod of 2"]);
    }
}
