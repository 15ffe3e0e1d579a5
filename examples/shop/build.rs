//! Makes messages, server and client of `proto/pod.proto`. `protox` reads it, so that no `protoc` need be installed.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["pod.proto"], ["proto"])?;
    tonic_prost_build::configure()
        // The shop brings its own server and connections.
        .build_transport(false)
        // Over HTTP the same response is JSON.
        .message_attribute(".", "#[derive(serde::Serialize, serde::Deserialize)]")
        .field_attribute(
            "AskResponse.catalog",
            "#[serde(default, skip_serializing_if = \"Option::is_none\")]",
        )
        .compile_fds(files)?;
    Ok(())
}
