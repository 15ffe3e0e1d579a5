//! Clients for tests: users with cookie jars like browsers', bare connections, raw bytes, web sockets, and many users at once.

mod answer;
mod connection;
mod error;
pub mod load;
mod raw;
mod user;
mod websocket;

pub use answer::Answer;
pub use connection::{Connection, Protocol};
pub use cookie_jar::{Jar, Origin, Refused};
pub use error::ClientError;
pub use raw::{Raw, send_raw};
pub use user::{Kind, User, Visit};
pub use websocket::{Heartbeat, WebSocket};
