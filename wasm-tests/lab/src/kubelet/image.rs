//! Images by name: which files of this machine stand for their content.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::binaries::{Program, bootstrap_template};
use super::super::error::LabError;
use super::super::space::Mount;
use programs::artifact;

/// Where the image of the proxy keeps the filter, for `file://` urls: a place that Istio's documentation uses.
pub const FILTER: &str = "/var/local/lib/wasm-filters/canary_filter.wasm";

/// What stands for an image.
#[derive(Clone, Debug)]
pub struct Image {
    /// What runs when the pod names no command.
    pub entrypoint: Vec<String>,
    /// Files of this machine, and where the image has them.
    pub files: Vec<(PathBuf, PathBuf)>,
}

impl Image {
    /// An image of one program, at `/usr/local/bin` by its own name.
    pub fn of_program(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let target = format!("/usr/local/bin/{name}");
        Self { entrypoint: vec![target.clone()], files: vec![(path, PathBuf::from(target))] }
    }

    /// Its files as mounts.
    pub(super) fn mounts(&self) -> impl Iterator<Item = Mount> {
        let file =
            |(source, target): &(PathBuf, PathBuf)| Mount { source: source.clone(), target: target.clone() };
        self.files.iter().map(file)
    }
}

/// All images of the lab, by the last part of their name without the tag (`docker.io/istio/pilot:1` is `pilot`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Images(BTreeMap<String, Image>);

impl Images {
    /// Those of Istio, of the demo shop and of its catalog, a registry of images, and these.
    pub(crate) fn new(more: BTreeMap<String, Image>) -> Result<Self, LabError> {
        let mut images = BTreeMap::from([
            ("pilot".to_owned(), Image::of_program(Program::PILOT.path()?)),
            ("demo-shop".to_owned(), Image::of_program(artifact::demo_shop()?)),
            ("demo-catalog".to_owned(), Image::of_program(artifact::demo_catalog()?)),
            ("registry".to_owned(), Image::of_program(artifact::docker_registry()?)),
        ]);
        images.extend(more);
        Ok(Self(images))
    }

    /// What stands for this image. The tag of `proxyv2` is an Istio version, which determines the Envoy:
    /// [`proxy_image`].
    pub(super) fn find(&self, name: &str) -> Result<Image, LabError> {
        let last = name.rsplit('/').next().unwrap_or_default();
        let (image, tag) = last.split_once(':').unwrap_or((last, ""));
        if image == "proxyv2" {
            return proxy(tag);
        }
        self.0.get(image).cloned().ok_or_else(|| LabError::Unexpected {
            what: "image",
            expected: "one that the lab was given, e.g. pilot, proxyv2:1.32.0 or demo-shop",
            found: name.to_owned(),
        })
    }
}

/// The minor version of Envoy 1 in an Istio 1, minus Istio's: Istio 1.28 has Envoy 1.36.
const ENVOY_AHEAD: u32 = 8;

/// The image of the proxy of the Istio that has this Envoy (`1.36`). What is in it is the Envoy project's own build.
pub fn proxy_image(envoy: &str) -> Result<String, LabError> {
    let minor = envoy.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
    let istio =
        minor.and_then(|minor| minor.checked_sub(ENVOY_AHEAD)).ok_or_else(|| LabError::Unexpected {
            what: "version of Envoy",
            expected: "a minor version, e.g. 1.40",
            found: envoy.to_owned(),
        })?;
    Ok(format!("docker.io/istio/proxyv2:1.{istio}.0"))
}

fn proxy(tag: &str) -> Result<Image, LabError> {
    let istio = tag.strip_prefix("1.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    let minor =
        istio.map(|istio| format!("1.{}", istio + ENVOY_AHEAD)).ok_or_else(|| LabError::Unexpected {
            what: "tag of the image proxyv2",
            expected: "an Istio 1, e.g. 1.32.0",
            found: tag.to_owned(),
        })?;
    let mut image = Image::of_program(Program::AGENT.path()?);
    image.files.push((artifact::envoy(&minor)?, "/usr/local/bin/envoy".into()));
    image.files.push((bootstrap_template()?, "/var/lib/istio/envoy/envoy_bootstrap_tmpl.json".into()));
    // Labs without a filter are of use, too.
    image.files.extend(artifact::filter().ok().map(|filter| (filter, FILTER.into())));
    Ok(image)
}
