//! Clients for tests: users with cookie jars like browsers', bare connections, raw bytes, web sockets, and many users at once.

mod connection;
mod error;
pub mod load;
mod raw;
mod response;
mod user;
mod websocket;

pub use connection::{Connection, Protocol};
pub use cookie_jar::{Initiator, Jar, Origin, Refused};
pub use error::ClientError;
pub use raw::{Raw, send_raw};
pub use response::Response;
pub use user::{Kind, User, Visit};
pub use websocket::{Heartbeat, WebSocket};
