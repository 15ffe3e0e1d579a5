//! Cookie dates, in all the spellings that browsers take.
//!
//! # Source
//! RFC 6265 §5.1.1: the text is cut at everything that is no part of a word, and each word is tried as time, day of
//! month, month and year. (HTTP-date crates take only the three forms of RFC 9110, not PHP's `01-Jan-1970`.)

/// The date in seconds since 1970-01-01 UTC; `None` if it is no date.
pub(super) fn seconds_since_1970(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for word in
        text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b':').filter(|word| !word.is_empty())
    {
        if time.is_none() && word.contains(&b':') {
            time = time_of_day(word);
        } else if day.is_none() && word.len() <= 2 && number(word).is_some() {
            day = number(word);
        } else if month.is_none() && month_of(word).is_some() {
            month = month_of(word);
        } else if year.is_none() && matches!(word.len(), 2 | 4) {
            year = number(word).map(full_year);
        }
    }
    let (time, day, month, year) = (time?, day?, month?, year?);
    let valid = (1..=31).contains(&day) && year >= 1601;
    valid.then(|| days_since_1970(year, month, day) * 86_400 + time)
}

/// A number of up to four digits; no part of a date has more, and longer ones would overflow.
fn number(word: &[u8]) -> Option<i64> {
    let digits = word.iter().map(|byte| byte.is_ascii_digit().then(|| i64::from(byte - b'0')));
    let mut digits = if word.len() <= 4 { digits } else { return None };
    digits.try_fold(0, |number, digit| digit.map(|digit| number * 10 + digit))
}

fn full_year(year: i64) -> i64 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    }
}

fn time_of_day(word: &[u8]) -> Option<i64> {
    let mut parts =
        word.split(|byte| *byte == b':').map(|part| number(part).filter(|_| matches!(part.len(), 1 | 2)));
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let valid = parts.next().is_none() && hours < 24 && minutes < 60 && seconds < 60;
    valid.then_some(hours * 3600 + minutes * 60 + seconds)
}

fn month_of(word: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let start = word.get(..3)?;
    (1..).zip(MONTHS).find(|(_, month)| start.eq_ignore_ascii_case(month)).map(|(number, _)| number)
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar.
///
/// # Source
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::seconds_since_1970;

    #[test]
    fn every_spelling_of_a_date_is_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT",
        ] {
            assert_eq!(seconds_since_1970(text.as_bytes()), Some(784_111_777), "{text}");
        }
        assert_eq!(seconds_since_1970(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds_since_1970(b"Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "soon",
            "0",
            "Sun, 06 Nov 1994",
            "99:99:99 1 Jan 1994",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "99999999999999999999:1:1",
        ] {
            assert_eq!(seconds_since_1970(text.as_bytes()), None, "{text}");
        }
    }
}
