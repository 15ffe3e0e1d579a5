//! Tokens as text.

use super::{Inspection, Issued, TokenVerdict};
use crate::report::{Report, escape};
use canary_release::spec::Seconds;
use std::fmt;

impl Report for Issued {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{self}")
    }
}

impl Report for Inspection {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{self}")
    }
}

impl fmt::Display for Issued {
    /// The link where there is one, else the token: the one thing that is copied.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.link.as_ref().unwrap_or(&self.token))
    }
}

impl fmt::Display for TokenVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "valid",
            Self::NotGenuine => "not genuine: edited, of another release, or signed by another key",
            Self::Expired => "expired",
            Self::Revoked => "revoked: issued before `tokensNotBefore`",
            Self::VersionGone => "its version has left the release, or came back since with a new epoch",
            Self::VersionUnknown => "its version is not known to this release",
            Self::TooLong => "it says a longer life than the 7 days that a token may have",
            Self::Ahead => "issued more than 5 minutes ahead of this machine's clock",
            Self::NotByToken => "the release believes no tokens",
        })
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.release, self.verdict)?;
        let Some(claims) = &self.claims else { return Ok(()) };
        // A forged token is shown too.
        write!(f, "\n  version  {} (epoch {})", escape::line(&claims.version), claims.epoch)?;
        write!(f, "\n  issued   {}", moment(claims.issued_seconds))?;
        write!(f, "\n  expires  {}", moment(claims.expires_seconds))?;
        if let Some(left) = self.left_seconds.and_then(Seconds::new) {
            write!(f, " (in {left})")?;
        }
        write!(f, "\n  key      {}\n  nonce    {}", escape::line(&claims.key), claims.nonce)
    }
}

/// A moment as RFC 3339; the number itself where no calendar has it.
fn moment(seconds: u64) -> String {
    let timestamp =
        i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    timestamp.map_or_else(|| format!("second {seconds}"), |timestamp| timestamp.to_string())
}
