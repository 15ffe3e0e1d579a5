//! Edits of a header map, applied immediately by the owner of the map.

/// A header map that can be edited: Envoy's through host calls, a plain list in tests.
///
/// Each call costs a crossing into the proxy (about 0.25 µs, and for request headers a second walk through the route
/// table), so callers make only those that change something.
pub trait HeaderEdits {
    /// Sets a header, replacing every line of that name.
    fn set(&mut self, name: &str, value: &[u8]);
    /// Adds a line, in addition to existing ones.
    fn add(&mut self, name: &str, value: &[u8]);
    /// Removes every line of that name.
    fn remove(&mut self, name: &[u8]);
    /// Replaces the whole map; for the rare edits of one line among several of a name.
    fn set_all(&mut self, pairs: &[(&[u8], &[u8])]);
}
