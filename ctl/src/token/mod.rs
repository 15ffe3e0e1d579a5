//! Override tokens: signed and expiring; a tester chooses a version with one.
//!
//! ```text
//! issue     a version and a life  -> a token
//! link      a URL and a token     -> a link that sets the token's cookie, and back
//! inspect   a token               -> its content, and whether a proxy would accept it
//! ```

mod inspect;
mod issue;
mod link;
mod text;

pub use inspect::{Claims, Inspection, TokenVerdict, inspect};
pub use issue::{IssueError, Issued, issue};
pub use link::{LinkError, link, token_in};

/// The reason for which there is no token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be signed.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// It cannot be put into a link.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl Error {
    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Issue(error) => error.hint().map(str::to_owned),
            Self::Link(_) => None,
        }
    }
}
