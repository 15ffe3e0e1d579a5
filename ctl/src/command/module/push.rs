//! `module push`: make the image, see what is at its tag, upload what is missing, and only then set the tag.

use super::{carried, credentials, image, with_default_tag};
use crate::cli::ModulePush;
use crate::module::{ImageReference, ModuleImage, digest};
use crate::registry::{RegistryAccess, RegistryClient};
use crate::report::{Printer, Report, escape};
use crate::{Error, Outcome};
use canary_release::ModuleDigest;
use serde::Serialize;
use std::fmt;

/// A part of an image.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushedBlob {
    media_type: &'static str,
    digest: String,
    size: usize,
    /// Whether it was sent, or would be; otherwise it was there.
    sent: bool,
}

/// What was pushed, or would be.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushedImage {
    /// With its tag.
    image: String,
    /// What `canary.yaml` names.
    delivery_module: String,
    digest: String,
    module: ModuleDigest,
    blobs: Vec<PushedBlob>,
    /// Whether the tag was set, or would be; otherwise it named this image already.
    tagged: bool,
    dry_run: bool,
}

pub(super) async fn run(arguments: &ModulePush, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let carried = carried()?;
    let image = image(carried)?;
    let reference = tagged(&arguments.target, carried.digest())?;
    let (blobs, tagged) = if arguments.dry_run {
        (image.blobs.iter().map(|blob| (blob, true)).collect(), true)
    } else {
        push(arguments, &reference, &image).await?
    };
    let blobs = blobs.into_iter().map(|(blob, sent)| PushedBlob {
        media_type: blob.media_type,
        digest: blob.digest.clone(),
        size: blob.bytes.len(),
        sent,
    });
    printer.report(&PushedImage {
        image: reference.to_string(),
        delivery_module: reference.with_digest(&image.manifest.digest).to_string(),
        digest: image.manifest.digest.clone(),
        module: carried.digest().clone(),
        blobs: blobs.collect(),
        tagged,
        dry_run: arguments.dry_run,
    })?;
    Ok(Outcome::Done)
}

/// The address with a tag: the given one, or one that never has to move.
fn tagged(target: &str, module: &ModuleDigest) -> Result<ImageReference, Error> {
    let reference: ImageReference = target.parse()?;
    if reference.digest.is_some() {
        let message = "expected a tag or none, found a digest: an image has the one that its bytes give";
        return Err(Error::usage(message, "leave out `@sha256:…`"));
    }
    Ok(with_default_tag(reference, module))
}

type Sent<'i> = Vec<(&'i crate::module::ImageBlob, bool)>;

/// Blobs first: until the tag is set nobody sees any of it, and a push that was interrupted is continued by the next.
async fn push<'i>(
    arguments: &ModulePush,
    reference: &ImageReference,
    image: &'i ModuleImage,
) -> Result<(Sent<'i>, bool), Error> {
    let (credentials, plain) = (credentials(&arguments.registry)?, arguments.registry.plain_http);
    let mut registry = RegistryClient::new(reference.clone(), RegistryAccess::Push, credentials, plain)?;
    let there = registry.manifest(reference.version()).await?.map(|manifest| digest(&manifest));
    let is_same = there.as_ref() == Some(&image.manifest.digest);
    if let Some(other) = there.filter(|_| !is_same && !arguments.force) {
        let message = format!("expected no image or this one at {reference}, found {other}");
        return Err(Error::usage(
            message,
            "give another tag, or `--force` to move this one: proxies may have cached it",
        ));
    }
    let mut sent = Vec::new();
    for blob in &image.blobs {
        sent.push((blob, registry.upload(blob).await?));
    }
    if !is_same {
        registry.tag(&image.manifest, reference.version()).await?;
    }
    Ok((sent, !is_same))
}

impl Report for PushedImage {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let image = escape::line(&self.image);
        for blob in &self.blobs {
            let done = match (blob.sent, self.dry_run) {
                (false, _) => "is there already",
                (true, false) => "sent",
                (true, true) => "would be sent, unless it is there",
            };
            writeln!(out, "{} ({}, {} bytes) {done}", blob.digest, blob.media_type, blob.size)?;
        }
        let done = match (self.tagged, self.dry_run) {
            (false, _) => "is there already",
            (true, false) => "pushed",
            (true, true) => "would be pushed",
        };
        writeln!(out, "{image} {done}: {}", self.digest)?;
        writeln!(out, "delivery.module: {}", escape::line(&self.delivery_module))
    }
}
