//! Namespaces that end with the test that set them up.
//!
//! A proxy that no test needs any more takes one percent of a processor, and istiod sends it what other tests change. At the end of the
//! mesh tests there were 126 of them.

use std::cell::RefCell;

use mesh_lab::{Lab, LabError};

thread_local! {
    /// Of the test that this thread drives. A lab drives each test on a thread of its own.
    static NAMESPACES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Adds a namespace to those of the test that the calling thread drives.
pub fn ends_with_the_test(namespace: &str) {
    NAMESPACES.with_borrow_mut(|namespaces| namespaces.push(namespace.to_owned()));
}

/// Deletes the namespaces of the test that the calling thread drives, without waiting. Those that the test has deleted are no error.
///
/// # Errors
///
/// If the API server refuses to.
pub async fn delete_namespaces(lab: &Lab) -> Result<(), LabError> {
    let namespaces = NAMESPACES.take();
    lab.delete_namespaces(&namespaces.iter().map(String::as_str).collect::<Vec<_>>()).await
}
