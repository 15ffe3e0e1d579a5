//! Who may talk to the API server, and the files that say so: tokens, kubeconfig, the key that signs service accounts.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde_json::json;

/// A user of the API server, known by a token. Rights come from RBAC objects, as for anybody.
#[derive(Clone, Debug)]
pub struct Account {
    /// The name that bindings say.
    pub name: String,
    /// The groups, e.g. `system:masters`.
    pub groups: Vec<String>,
}

impl Account {
    /// Who may do everything.
    pub(in super::super) fn admin() -> Self {
        Self { name: "admin".to_owned(), groups: vec!["system:masters".to_owned()] }
    }

    /// Tokens need not be secret: nobody outside the lab reaches its API server.
    fn token(&self) -> String {
        format!("token-of-{}", self.name)
    }
}

/// The files, in a folder of the lab.
#[derive(Clone, Debug)]
pub(in super::super) struct Access {
    folder: PathBuf,
}

impl Access {
    /// Writes those that have to be there before the API server starts.
    pub(in super::super) fn write(folder: PathBuf, accounts: &[Account]) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let key = rcgen::KeyPair::generate().map_err(io::Error::other)?;
        std::fs::write(folder.join("accounts.key"), key.serialize_pem())?;
        std::fs::write(folder.join("accounts.pub"), key.public_key_pem())?;
        let lines = accounts.iter().map(|account| {
            format!(
                "{},{},{},\"{}\"\n",
                account.token(),
                account.name,
                account.name,
                account.groups.join(",")
            )
        });
        std::fs::write(folder.join("tokens.csv"), lines.collect::<String>())?;
        Ok(Self { folder })
    }

    /// The key that signs the tokens of service accounts.
    pub(super) fn accounts_key(&self) -> PathBuf {
        self.folder.join("accounts.key")
    }

    /// The key that checks them.
    pub(super) fn accounts_public_key(&self) -> PathBuf {
        self.folder.join("accounts.pub")
    }

    /// Who has which token.
    pub(super) fn tokens(&self) -> PathBuf {
        self.folder.join("tokens.csv")
    }

    /// Where the API server keeps the certificate that it makes for itself.
    pub(super) fn certificates(&self) -> &Path {
        &self.folder
    }

    /// That certificate, with the authority that signed it.
    pub(super) fn authority(&self) -> PathBuf {
        self.folder.join("apiserver.crt")
    }

    /// Writes a kubeconfig of this account for an API server at this address, and says where it is.
    pub(in super::super) fn kubeconfig(
        &self,
        account: &Account,
        address: Ipv4Addr,
        port: u16,
    ) -> io::Result<PathBuf> {
        let path = self.folder.join(format!("{}@{address}-{port}.kubeconfig", account.name));
        let text = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "lab",
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": account.name}}],
            "clusters": [{"name": "lab", "cluster": {
                "server": format!("https://{address}:{port}"),
                "certificate-authority": self.authority(),
                // A name that the certificate has, whatever address it is reached at.
                "tls-server-name": "kubernetes.default.svc",
            }}],
            "users": [{"name": account.name, "user": {"token": account.token()}}],
        });
        // Whole or not at all: somebody may be reading the one before. JSON is YAML.
        let new = tempfile::NamedTempFile::new_in(&self.folder)?;
        std::fs::write(new.path(), text.to_string())?;
        new.persist(&path)?;
        Ok(path)
    }
}
