//! Which module the binary embeds: the file that `CANARY_FILTER_WASM` names, else `wasm/embedded.wasm` of the target directory,
//! which `./x wasm` writes. Where neither is there the binary has none: an empty file.
//!
//! An installed binary (`cargo install`, profile `release`) without one is told as a warning.
//!
//! Only the path is decided here. `src/main.rs` includes the file, and cargo tracks it with that one target: a new module builds
//! the binary again, and neither this library nor the tests that link it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const GIVEN: &str = "CANARY_FILTER_WASM";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={GIVEN}");
    let module = match env::var_os(GIVEN) {
        Some(path) => {
            fs::canonicalize(&path).map_err(|error| format!("{GIVEN}={}: {error}", path.display()))?
        }
        None => embedded(Path::new(&env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?))?,
    };
    println!("cargo::rustc-env=CANARY_EMBEDDED_MODULE={}", module.display());
    Ok(())
}

/// The file of the target directory, made where it is missing.
fn embedded(out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    // Cargo tags the target directory; below it are profiles, and platforms where one is named.
    let target = out.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    let folder =
        target.or_else(|| out.ancestors().nth(4)).ok_or("OUT_DIR is in a target directory")?.join("wasm");
    let (built, embedded) = (folder.join("canary_filter.wasm"), folder.join("embedded.wasm"));
    if !embedded.exists() {
        fs::create_dir_all(&folder)?;
        fs::write(&embedded, fs::read(built).unwrap_or_default())?;
    }
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") && fs::metadata(&embedded)?.len() == 0 {
        // Run again once it is there, for the warning to go.
        println!("cargo::rerun-if-changed={}", embedded.display());
        println!(
            "cargo::warning=no filter is in this canary-ctl, and `delivery.module` has to name one: \
             run `./x wasm` first, or set {GIVEN} to the path of a built one"
        );
    }
    Ok(embedded)
}
