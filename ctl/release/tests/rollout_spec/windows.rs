//! `spec.rollout.windows`.

use crate::{faults, parse};
use canary_release::spec::Day;

#[test]
fn windows_are_read_with_their_defaults() {
    let spec = parse(
        "  rollout:
    windows:
      - {days: [mon, tue], from: 09:00, to: \"16:30\", timeZone: Europe/Berlin}
      - {timeZone: UTC}
    deadline: 7d
",
    );
    let windows = spec.unwrap().windows;
    assert_eq!(windows.len(), 2);
    assert_eq!(windows[0].days, [Day::Mon, Day::Tue].into());
    let text = |window: usize| format!("{} to {}", windows[window].from, windows[window].to);
    assert_eq!((text(0).as_str(), text(1).as_str()), ("09:00 to 16:30", "00:00 to 24:00"));
    assert_eq!(windows[1].days, Day::ALL.into());
}

#[test]
fn the_faults_of_windows_are_told_at_their_places() {
    let found = faults(
        "  rollout:
    deadline: 7d
    windows:
      - {days: [mon, friday], from: 9:00, timeZone: Europe/Atlantis}
      - {from: 09:00, to: 09:00, timeZone: UTC}
      - {from: \"24:00\", to: 08:00, timeZone: UTC}
      - {days: [], from: 09:00}
",
    );
    assert_eq!(
        found,
        [
            "canary.yaml:15:22: expected `mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`, found `friday`",
            "canary.yaml:15:37: expected a time from `00:00` to `24:00`, found `9:00`",
            "canary.yaml:15:53: expected a time zone of the IANA database, like `Europe/Berlin`, found `Europe/Atlantis`",
            "canary.yaml:16:9: expected a window that begins before it ends, found 09:00 to 09:00",
            "canary.yaml:17:9: expected a window that begins before it ends, found 24:00 to 08:00",
            "canary.yaml:18:9: `spec.rollout.windows[3].timeZone` is missing",
            "canary.yaml:18:16: expected a day at least, found none",
        ]
    );
}

#[test]
fn a_rollout_with_windows_says_how_long_it_may_take() {
    let found = faults("  rollout:\n    windows: [{timeZone: UTC}]\n");
    assert_eq!(
        found,
        ["canary.yaml:13:14: expected `rollout.deadline` beside `rollout.windows`, found none"]
    );
    assert_eq!(parse("  rollout:\n    windows: []\n").unwrap().windows, []);
}
