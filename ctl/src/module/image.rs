//! A module as an OCI image in the form that Istio's agent reads: a manifest with two layers, one of which is the module as it is.
//! The same module gives the same bytes, so the same digest: nothing in it is a time, a name or a version.
//!
//! # Source
//! OCI image specification 1.1, *Image Manifest*, *Image Configuration* and *Image Layout*; Istio, `pkg/wasm/imagefetcher.go`, the last of its
//! three formats. Its other two are archives (`tar.gz`) with a file `plugin.wasm`.

use canary_release::ModuleDigest;
use hyper::body::Bytes;
use serde::Serialize;
use std::path::PathBuf;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

const CONFIG: &str = "application/vnd.oci.image.config.v1+json";

/// The two layers that the agent looks for: what the module is, and the module.
const MODULE_CONFIG: &str = "application/vnd.module.wasm.config.v1+json";

const MODULE: &str = "application/vnd.module.wasm.content.layer.v1+wasm";

/// Bytes that a registry keeps by their digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageBlob {
    media_type: &'static str,
    /// `sha256:` and 64 hexadecimal digits.
    pub(crate) digest: String,
    pub(crate) bytes: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleImage {
    /// The manifest that names the blobs. Its digest is that of the image.
    pub(crate) manifest: ImageBlob,
    /// Configuration and layers.
    pub(crate) blobs: [ImageBlob; 3],
}

/// A blob as manifests name it, in the order of the specification.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    media_type: &'a str,
    digest: &'a str,
    size: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    schema_version: u8,
    media_type: &'a str,
    config: Descriptor<'a>,
    layers: [Descriptor<'a>; 2],
}

#[derive(Serialize)]
struct ImageConfig<'a> {
    architecture: &'a str,
    os: &'a str,
    config: RunConfig,
    rootfs: RootFs<'a>,
}

/// The settings of a container; a module is none.
#[derive(Serialize)]
struct RunConfig {}

#[derive(Serialize)]
struct RootFs<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    diff_ids: [&'a str; 2],
}

impl ImageBlob {
    fn new(media_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { media_type, digest: digest(&bytes), bytes }
    }

    fn descriptor(&self) -> Descriptor<'_> {
        Descriptor { media_type: self.media_type, digest: &self.digest, size: self.bytes.len() }
    }

    /// `blobs/sha256/<64 digits>`.
    fn path(&self) -> PathBuf {
        PathBuf::from("blobs").join(self.digest.replace(':', "/"))
    }
}

impl ModuleImage {
    /// The image of a module.
    ///
    /// # Errors
    ///
    /// None that is known: the structures here have a JSON form.
    pub(crate) fn of(module: Vec<u8>) -> serde_json::Result<Self> {
        let (about, module) = (ImageBlob::new(MODULE_CONFIG, "{}"), ImageBlob::new(MODULE, module));
        let config = ImageConfig {
            architecture: "wasm",
            os: "wasi",
            config: RunConfig {},
            rootfs: RootFs { kind: "layers", diff_ids: [&about.digest, &module.digest] },
        };
        let config = ImageBlob::new(CONFIG, serde_json::to_vec(&config)?);
        let manifest = Manifest {
            schema_version: 2,
            media_type: MANIFEST,
            config: config.descriptor(),
            layers: [about.descriptor(), module.descriptor()],
        };
        let manifest = ImageBlob::new(MANIFEST, serde_json::to_vec(&manifest)?);
        Ok(Self { manifest, blobs: [config, about, module] })
    }

    /// The files of a layout with this image alone, in the order in which they are written: what names a file comes after it.
    ///
    /// # Errors
    ///
    /// None that is known: the structures here have a JSON form.
    pub(crate) fn layout(&self) -> serde_json::Result<Vec<(PathBuf, Bytes)>> {
        let index = ImageIndex {
            schema_version: 2,
            media_type: "application/vnd.oci.image.index.v1+json",
            manifests: [self.manifest.descriptor()],
        };
        let blobs = self.blobs.iter().chain([&self.manifest]);
        let mut files: Vec<_> = blobs.map(|blob| (blob.path(), blob.bytes.clone())).collect();
        files.push((PathBuf::from(MARKER), Bytes::from_static(br#"{"imageLayoutVersion":"1.0.0"}"#)));
        files.push((PathBuf::from(INDEX), serde_json::to_vec(&index)?.into()));
        Ok(files)
    }
}

/// `sha256:` and the SHA-256 of these bytes, as registries name them.
fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", ModuleDigest::of(bytes).sha256)
}

/// The file that marks a folder as a layout.
pub(crate) const MARKER: &str = "oci-layout";

/// The list of its images.
pub(crate) const INDEX: &str = "index.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageIndex<'a> {
    schema_version: u8,
    media_type: &'a str,
    manifests: [Descriptor<'a>; 1],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_module_is_the_same_image_whoever_makes_it() {
        let image = ModuleImage::of(b"\0asm".to_vec()).unwrap();
        let text = String::from_utf8(image.manifest.bytes.to_vec()).unwrap();
        // By hand, and its digest by `sha256sum`.
        let expected = concat!(
            r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","#,
            r#""config":{"mediaType":"application/vnd.oci.image.config.v1+json","#,
            r#""digest":"sha256:b789ed06be0fe4f3107635aec4c71928cd964c9a23de2aedc1bcbcd08ebe1ca3","size":235},"layers":["#,
            r#"{"mediaType":"application/vnd.module.wasm.config.v1+json","#,
            r#""digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"#,
            r#"{"mediaType":"application/vnd.module.wasm.content.layer.v1+wasm","#,
            r#""digest":"sha256:cd5d4935a48c0672cb06407bb443bc0087aff947c6b864bac886982c73b3027f","size":4}]}"#,
        );
        assert_eq!(text, expected);
        assert_eq!(
            image.manifest.digest,
            "sha256:9d13ebf1b410f85f003d4777039ec71b5eb9cfde2f3f7dccd1c0a9a26c7f31a3"
        );
        assert_eq!(image.blobs.map(|blob| blob.bytes.len()), [235, 2, 4]);
    }
}
