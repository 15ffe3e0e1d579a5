//! Volumes: a folder on this machine for each, filled once, when the pod starts.

use std::collections::BTreeMap;
use std::fs::{Permissions, create_dir_all, set_permissions};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{
    ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, ServiceAccount, ServiceAccountTokenProjection,
    Volume, VolumeProjection,
};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};

use super::super::error::LabError;
use super::field;

/// Relative paths and contents.
type Files = BTreeMap<String, Vec<u8>>;

/// A pod that wants its volumes.
pub(super) struct Volumes<'a> {
    pub(super) client: &'a Client,
    pub(super) pod: &'a Pod,
    pub(super) address: Ipv4Addr,
    /// Where the folders are made.
    pub(super) folder: &'a Path,
}

impl Volumes<'_> {
    /// Makes all of them, by name. Fails while an object that one of them needs is not there.
    pub(super) async fn make(&self) -> Result<BTreeMap<String, PathBuf>, LabError> {
        let mut made = BTreeMap::new();
        let Some(spec) = &self.pod.spec else { return Ok(made) };
        for volume in spec.volumes.iter().flatten() {
            made.insert(volume.name.clone(), self.volume(volume).await?);
        }
        Ok(made)
    }

    async fn volume(&self, volume: &Volume) -> Result<PathBuf, LabError> {
        if let Some(host) = &volume.host_path {
            return Ok(PathBuf::from(&host.path));
        }
        let folder = self.folder.join(&volume.name);
        let files = self.content(volume).await?;
        fill(&folder, &files).map_err(LabError::system(format!("fill the volume {}", volume.name)))?;
        Ok(folder)
    }

    async fn content(&self, volume: &Volume) -> Result<Files, LabError> {
        let mut files = Files::new();
        if let Some(map) = &volume.config_map {
            files.extend(self.config_map(&map.name, map.optional, map.items.as_deref()).await?);
        }
        if let Some(secret) = &volume.secret {
            let name = secret.secret_name.as_deref().unwrap_or_default();
            files.extend(self.secret(name, secret.optional, secret.items.as_deref()).await?);
        }
        if let Some(downward) = &volume.downward_api {
            files.extend(self.downward(downward.items.iter().flatten()));
        }
        if let Some(projected) = &volume.projected {
            for source in projected.sources.iter().flatten() {
                files.extend(self.projection(source).await?);
            }
        }
        Ok(files)
    }

    async fn projection(&self, source: &VolumeProjection) -> Result<Files, LabError> {
        let mut files = Files::new();
        if let Some(map) = &source.config_map {
            files.extend(self.config_map(&map.name, map.optional, map.items.as_deref()).await?);
        }
        if let Some(secret) = &source.secret {
            files.extend(self.secret(&secret.name, secret.optional, secret.items.as_deref()).await?);
        }
        if let Some(downward) = &source.downward_api {
            files.extend(self.downward(downward.items.iter().flatten()));
        }
        if let Some(token) = &source.service_account_token {
            files.insert(token.path.clone(), self.token(token).await?);
        }
        Ok(files)
    }

    async fn config_map(
        &self,
        name: &str,
        optional: Option<bool>,
        items: Option<&[KeyToPath]>,
    ) -> Result<Files, LabError> {
        let api: Api<ConfigMap> = self.api();
        let map = if optional == Some(true) { api.get_opt(name).await? } else { Some(api.get(name).await?) };
        let Some(map) = map else { return Ok(Files::new()) };
        let texts = map.data.into_iter().flatten().map(|(key, text)| (key, text.into_bytes()));
        let bytes = map.binary_data.into_iter().flatten().map(|(key, bytes)| (key, bytes.0));
        Ok(chosen(texts.chain(bytes).collect(), items))
    }

    async fn secret(
        &self,
        name: &str,
        optional: Option<bool>,
        items: Option<&[KeyToPath]>,
    ) -> Result<Files, LabError> {
        let api: Api<Secret> = self.api();
        let secret =
            if optional == Some(true) { api.get_opt(name).await? } else { Some(api.get(name).await?) };
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        Ok(chosen(data.into_iter().map(|(key, bytes)| (key, bytes.0)).collect(), items))
    }

    fn downward<'f>(&self, items: impl Iterator<Item = &'f DownwardAPIVolumeFile>) -> Files {
        let file = |item: &DownwardAPIVolumeFile| {
            let text = field::value(self.pod, self.address, &item.field_ref.as_ref()?.field_path)?;
            Some((item.path.clone(), text.into_bytes()))
        };
        items.filter_map(file).collect()
    }

    /// A token of the pod's service account, signed by the API server.
    async fn token(&self, wanted: &ServiceAccountTokenProjection) -> Result<Vec<u8>, LabError> {
        let account = self.pod.spec.as_ref().and_then(|spec| spec.service_account_name.as_deref());
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                audiences: wanted.audience.clone().map(|audience| vec![audience]),
                expiration_seconds: wanted.expiration_seconds,
                bound_object_ref: None,
            }),
            ..TokenRequest::default()
        };
        let api: Api<ServiceAccount> = self.api();
        let account = account.unwrap_or("default");
        let response = api.create_token_request(account, &PostParams::default(), &request).await?;
        Ok(response.status.and_then(|status| status.token).unwrap_or_default().into_bytes())
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.pod.namespace().unwrap_or_default())
    }
}

/// All files under their keys, or the named ones at their paths.
fn chosen(mut files: Files, items: Option<&[KeyToPath]>) -> Files {
    match items {
        None => files,
        Some(items) => {
            let named = |item: &KeyToPath| Some((item.path.clone(), files.remove(&item.key)?));
            items.iter().filter_map(named).collect()
        }
    }
}

/// World-writable: the containers of the pod run as different users.
fn fill(folder: &Path, files: &Files) -> std::io::Result<()> {
    create_dir_all(folder)?;
    set_permissions(folder, Permissions::from_mode(0o777))?;
    files.iter().try_for_each(|(name, content)| {
        let path = folder.join(name);
        create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, content)
    })
}
