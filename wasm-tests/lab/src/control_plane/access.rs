//! Accounts of the API server, and their files: tokens, kubeconfig, the key that signs service accounts.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde_json::json;

/// A user of the API server, authenticated by a token and authorized by RBAC objects.
#[derive(Clone, Debug)]
pub struct Account {
    /// The name in bindings.
    pub name: String,
    /// The groups, e.g. `system:masters`.
    pub groups: Vec<String>,
}

impl Account {
    /// The account with all rights.
    pub(crate) fn admin() -> Self {
        Self { name: "admin".to_owned(), groups: vec!["system:masters".to_owned()] }
    }

    /// Tokens need not be secret: the API server is not reachable from outside the lab.
    fn token(&self) -> String {
        format!("token-of-{}", self.name)
    }
}

/// The files, in a folder of the lab.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    folder: PathBuf,
}

impl Access {
    /// Writes those that have to be there before the API server starts.
    pub(crate) fn write(folder: PathBuf, accounts: &[Account]) -> io::Result<Self> {
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

    /// The file of the accounts' tokens.
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

    /// Writes a kubeconfig of this account for an API server at this address, and returns its path.
    pub(crate) fn kubeconfig(&self, account: &Account, address: Ipv4Addr, port: u16) -> io::Result<PathBuf> {
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
        // Replaced atomically: another process may be reading the previous file. JSON is YAML.
        let new = tempfile::NamedTempFile::new_in(&self.folder)?;
        std::fs::write(new.path(), text.to_string())?;
        new.persist(&path)?;
        Ok(path)
    }
}
