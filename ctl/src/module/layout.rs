//! An image as files: an OCI image layout, which other tools copy to a registry.
//!
//! # Source
//! OCI image specification 1.1, *Image Layout*.

use super::image::{Descriptor, ImageBlob, ModuleImage};
use hyper::body::Bytes;
use serde::Serialize;
use std::path::PathBuf;

/// What says that a folder is a layout.
pub(crate) const MARKER: &str = "oci-layout";
/// What says which images are in it.
pub(crate) const INDEX: &str = "index.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageIndex<'a> {
    schema_version: u8,
    media_type: &'a str,
    manifests: [Descriptor<'a>; 1],
}

/// The files of a layout with this image alone, in the order in which they are written: what names a file comes after it.
///
/// # Errors
///
/// None that is known: the structures here have a JSON form.
pub(crate) fn files(image: &ModuleImage) -> serde_json::Result<Vec<(PathBuf, Bytes)>> {
    let index = ImageIndex {
        schema_version: 2,
        media_type: "application/vnd.oci.image.index.v1+json",
        manifests: [image.manifest.descriptor()],
    };
    let blobs = image.blobs.iter().chain([&image.manifest]);
    let mut files: Vec<_> = blobs.map(|blob| (path(blob), blob.bytes.clone())).collect();
    files.push((PathBuf::from(MARKER), Bytes::from_static(br#"{"imageLayoutVersion":"1.0.0"}"#)));
    files.push((PathBuf::from(INDEX), serde_json::to_vec(&index)?.into()));
    Ok(files)
}

/// `blobs/sha256/<64 digits>`.
fn path(blob: &ImageBlob) -> PathBuf {
    PathBuf::from("blobs").join(blob.digest.replace(':', "/"))
}
