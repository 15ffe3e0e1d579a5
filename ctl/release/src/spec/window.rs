//! When a rollout may send more users to the canary: times of the week in a time zone.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

const MINUTES_PER_HOUR: u16 = 60;
const MINUTES_PER_DAY: u16 = 24 * MINUTES_PER_HOUR;
/// One week, and the present day once more: its window may have begun before now.
const DAYS: usize = 8;

/// Times of the week. A window whose end is before its beginning ends on the next day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolloutWindow {
    /// The days on which it begins.
    pub days: BTreeSet<Day>,
    /// When it begins.
    pub from: TimeOfDay,
    /// The first minute after it.
    pub to: TimeOfDay,
    /// Whose days and times these are.
    pub time_zone: TimeZoneName,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Day {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

/// A time of a day, to the minute, from `00:00` to `24:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    minutes: u16,
}

/// The text is no time of a day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time from `00:00` to `24:00`, found `{0}`")]
pub struct TimeError(String);

/// A name of the IANA time zone database: `Europe/Berlin`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeZoneName(String);

/// The database has no such time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time zone of the IANA database, like `Europe/Berlin`, found `{0}`")]
pub struct TimeZoneError(String);

impl RolloutWindow {
    /// Whether a time is in it. None is in a window whose time zone is unknown.
    pub fn is_open(&self, now: Timestamp) -> bool {
        let Some(now) = self.time_zone.at(now) else { return false };
        let begins_on = |day: Weekday| self.days.contains(&day.into());
        let (today, time) = (now.weekday(), TimeOfDay::of(&now));
        if self.from < self.to {
            return begins_on(today) && self.from <= time && time < self.to;
        }
        begins_on(today) && self.from <= time || begins_on(today.previous()) && time < self.to
    }

    /// When it begins next. None if its time zone is unknown.
    pub fn next_start(&self, now: Timestamp) -> Option<Zoned> {
        let zoned = self.time_zone.at(now)?;
        let dates = std::iter::successors(Some(zoned.date()), |date| date.tomorrow().ok()).take(DAYS);
        dates
            .filter(|date| self.days.contains(&date.weekday().into()))
            .filter_map(|date| self.from.on(date, zoned.time_zone()))
            .find(|start| start.timestamp() > now)
    }
}

impl Day {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];
}

impl From<Weekday> for Day {
    fn from(day: Weekday) -> Self {
        match day {
            Weekday::Monday => Self::Mon,
            Weekday::Tuesday => Self::Tue,
            Weekday::Wednesday => Self::Wed,
            Weekday::Thursday => Self::Thu,
            Weekday::Friday => Self::Fri,
            Weekday::Saturday => Self::Sat,
            Weekday::Sunday => Self::Sun,
        }
    }
}

impl TimeOfDay {
    /// The first minute of a day.
    pub const START: Self = Self { minutes: 0 };
    /// The end of a day, `24:00`.
    pub const END: Self = Self { minutes: MINUTES_PER_DAY };

    fn of(time: &Zoned) -> Self {
        let part = |part: i8| u16::try_from(part).unwrap_or_default();
        Self { minutes: part(time.hour()) * MINUTES_PER_HOUR + part(time.minute()) }
    }

    /// That time of a date. Where clocks are put forward over it, the time that they then show.
    fn on(self, date: jiff::civil::Date, zone: &TimeZone) -> Option<Zoned> {
        let part = |part: u16| i8::try_from(part).unwrap_or_default();
        let (hour, minute) = (self.minutes / MINUTES_PER_HOUR, self.minutes % MINUTES_PER_HOUR);
        date.at(part(hour), part(minute), 0, 0).to_zoned(zone.clone()).ok()
    }
}

impl FromStr for TimeOfDay {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let number = |digits: &str| {
            let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u16>().ok().filter(|_| is_number)
        };
        let parse = || {
            let (hour, minute) = text.split_once(':')?;
            let (hour, minute) = (number(hour)?, number(minute).filter(|minute| *minute < MINUTES_PER_HOUR)?);
            Some(hour * MINUTES_PER_HOUR + minute).filter(|minutes| *minutes <= MINUTES_PER_DAY)
        };
        parse().map(|minutes| Self { minutes }).ok_or_else(|| TimeError(text.to_owned()))
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        text.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> Self {
        time.to_string()
    }
}

impl TimeZoneName {
    fn at(&self, time: Timestamp) -> Option<Zoned> {
        Some(time.to_zoned(TimeZone::get(&self.0).ok()?))
    }
}

impl FromStr for TimeZoneName {
    type Err = TimeZoneError;

    fn from_str(text: &str) -> Result<Self, TimeZoneError> {
        let name = || Self(text.to_owned());
        TimeZone::get(text).map(|_| name()).map_err(|_| TimeZoneError(text.to_owned()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
            Self::Sun => "sun",
        })
    }
}

impl fmt::Display for TimeOfDay {
    /// `09:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / MINUTES_PER_HOUR, self.minutes % MINUTES_PER_HOUR)
    }
}

impl fmt::Display for TimeZoneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(days: &[Day], from: &str, to: &str) -> RolloutWindow {
        let days = days.iter().copied().collect();
        let zone = "Europe/Berlin".parse().unwrap();
        RolloutWindow { days, from: from.parse().unwrap(), to: to.parse().unwrap(), time_zone: zone }
    }

    /// A time on clocks in Berlin.
    fn at(text: &str) -> Timestamp {
        let time: jiff::civil::DateTime = text.parse().unwrap();
        time.in_tz("Europe/Berlin").unwrap().timestamp()
    }

    fn next_start(window: &RolloutWindow, now: &str) -> String {
        window.next_start(at(now)).unwrap().strftime("%F %R %Z").to_string()
    }

    // 2026-11-25 is a Wednesday.
    #[test]
    fn a_window_is_open_from_its_first_minute_to_the_one_before_its_end() {
        let window = window(&[Day::Wed, Day::Thu], "09:00", "16:00");
        for (time, is_open) in [
            ("2026-11-25T08:59:59", false),
            ("2026-11-25T09:00", true),
            ("2026-11-25T15:59:59", true),
            ("2026-11-25T16:00", false),
            ("2026-11-26T12:00", true),
            ("2026-11-27T12:00", false),
        ] {
            assert_eq!(window.is_open(at(time)), is_open, "{time}");
        }
    }

    #[test]
    fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
        let window = window(&[Day::Wed], "22:00", "04:00");
        for (time, is_open) in [
            ("2026-11-25T03:00", false),
            ("2026-11-25T23:00", true),
            ("2026-11-26T03:59", true),
            ("2026-11-26T04:00", false),
            ("2026-11-26T23:00", false),
        ] {
            assert_eq!(window.is_open(at(time)), is_open, "{time}");
        }
    }

    #[test]
    fn the_next_start_is_on_the_clocks_of_the_time_zone_in_summer_and_in_winter() {
        let twice_a_week = window(&[Day::Mon, Day::Wed], "09:00", "16:00");
        assert_eq!(next_start(&twice_a_week, "2026-11-25T08:00"), "2026-11-25 09:00 CET");
        assert_eq!(next_start(&twice_a_week, "2026-11-25T09:00"), "2026-11-30 09:00 CET");
        assert_eq!(next_start(&twice_a_week, "2026-03-27T12:00"), "2026-03-30 09:00 CEST");
        let weekly = window(&[Day::Wed], "09:00", "16:00");
        assert_eq!(next_start(&weekly, "2026-11-25T12:00"), "2026-12-02 09:00 CET");
    }

    #[test]
    fn a_window_of_a_whole_day_ends_at_its_midnight() {
        let window = window(&[Day::Wed], "00:00", "24:00");
        assert!(window.is_open(at("2026-11-25T00:00")) && window.is_open(at("2026-11-25T23:59")));
        assert!(!window.is_open(at("2026-11-26T00:00")));
    }

    #[test]
    fn times_and_time_zones_that_are_none_are_refused() {
        for text in ["9:00", "09:60", "24:01", "25:00", "09", "", "+9:00", "09:0x"] {
            assert_eq!(text.parse::<TimeOfDay>(), Err(TimeError(text.to_owned())), "{text}");
        }
        assert!("Europe/Atlantis".parse::<TimeZoneName>().is_err());
        assert!("UTC".parse::<TimeZoneName>().is_ok());
    }
}
