//! The rights that `generate rbac` prints.

use crate::api::release_fixture::ReleaseFixture;
use programs::artifact;
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::process::Command;

/// Gives a user the rights that `generate rbac` prints with these further arguments.
pub async fn printed(
    fixture: &ReleaseFixture<'_>,
    user: &str,
    file: &NamedTempFile,
    more: &[&str],
) -> Vec<Value> {
    let mut command = Command::new(artifact::canary_ctl().unwrap());
    command.args(["generate", "rbac", "--user", user, "-f"]).arg(file.path()).args(more);
    let printed = command.output().await.unwrap();
    assert!(printed.status.success(), "{printed:?}");
    let text = String::from_utf8(printed.stdout).unwrap();
    fixture.api.apply(&text).await.unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}
