//! W3C baggage as clients and applications send it: several lines, members between commas, properties behind them.
//!
//! # Source
//! W3C Baggage §3.2: a value has no comma, semicolon or blank that is not percent-encoded; blanks may stand around
//! members, keys and values.

/// The name of the header.
pub const BAGGAGE: &str = "baggage";

/// The members of a line, as they are between the commas.
pub fn baggage_members(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b',')
}

/// The value of a member if it has this key, without its properties.
pub fn baggage_value<'m>(member: &'m [u8], key: &str) -> Option<&'m [u8]> {
    let value =
        member.trim_ascii_start().strip_prefix(key.as_bytes())?.trim_ascii_start().strip_prefix(b"=")?;
    value.split(|byte| *byte == b';').next().map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_by_its_whole_key_with_blanks_and_properties_around() {
        for (member, value) in [
            ("canary=x", Some("x")),
            (" canary = x ;p=1; q", Some("x")),
            ("canary=", Some("")),
            ("canary-two=x", None),
            ("a=canary=x", None),
            ("Canary=x", None),
            ("canary", None),
            ("", None),
        ] {
            assert_eq!(baggage_value(member.as_bytes(), "canary"), value.map(str::as_bytes), "{member}");
        }
    }
}
