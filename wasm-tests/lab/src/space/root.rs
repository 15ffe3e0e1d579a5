//! What a container sees of the file system: the machine's programs and libraries, and otherwise its own.
//!
//! No image is unpacked. A mount namespace of its own hides the machine's `/etc`, `/var`, `/run` and `/usr/local/bin` behind
//! empty folders, and the image's files and the pod's volumes are mounted there.

use std::fs::{File, create_dir_all};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

/// Folders that are empty at first and the container's own.
const OWN: [&str; 4] = ["/etc", "/var", "/run", "/usr/local/bin"];

/// What of them stays: Debian's `iptables` is a link to a link there.
const KEPT: [&str; 1] = ["/etc/alternatives"];

/// The users that programs look up; 1337 is Istio's.
const FILES: [(&str, &str); 4] = [
    (
        "/etc/passwd",
        "root:x:0:0::/:/bin/sh\nistio-proxy:x:1337:1337::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n",
    ),
    ("/etc/group", "root:x:0:\nistio-proxy:x:1337:\nnogroup:x:65534:\n"),
    ("/etc/nsswitch.conf", "hosts: files\n"),
    // No DNS server listens there; `/etc/hosts` has the services' names. istiod does not start without the file.
    ("/etc/resolv.conf", "nameserver 127.0.0.1\n"),
];

/// A file or folder of the machine, and where the container finds it.
#[derive(Clone, Debug)]
pub(crate) struct Mount {
    /// On the machine.
    pub(crate) source: PathBuf,
    /// In the container, below one of its own folders or anywhere else where it exists.
    pub(crate) target: PathBuf,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Root {
    /// In this order.
    pub(crate) mounts: Vec<Mount>,
}

impl Root {
    /// Moves the calling thread there, for good.
    pub(super) fn enter(&self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)?;
        let nothing = None::<&str>;
        mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
        // Opened before they are hidden, and mounted by what was opened: a source may itself be below `/var`.
        let mounts: Vec<(File, &Path)> = self.sources().collect::<Result<_, _>>()?;
        for folder in OWN {
            mount(Some("tmpfs"), folder, Some("tmpfs"), MsFlags::empty(), Some("mode=0755"))
                .map_err(naming(folder))?;
        }
        create_dir_all("/var/tmp")?;
        std::os::unix::fs::symlink("/run", "/var/run")?;
        for (path, text) in FILES {
            std::fs::write(path, text).map_err(naming(path))?;
        }
        mounts.iter().try_for_each(|(source, target)| bind(source, target))
    }

    fn sources(&self) -> impl Iterator<Item = io::Result<(File, &Path)>> {
        let kept = KEPT.map(Path::new).into_iter().filter(|path| path.exists()).map(|path| (path, path));
        let mounts = self.mounts.iter().map(|mount| (mount.source.as_path(), mount.target.as_path()));
        kept.chain(mounts).map(|(source, target)| Ok((File::open(source).map_err(naming(source))?, target)))
    }
}

/// Shows an open file or folder at this place, too.
fn bind(source: &File, target: &Path) -> io::Result<()> {
    if source.metadata()?.is_dir() {
        create_dir_all(target).map_err(naming(target))?;
    } else if !target.exists() {
        create_dir_all(target.parent().unwrap_or(target)).map_err(naming(target))?;
        File::create(target).map_err(naming(target))?;
    }
    let path = format!("/proc/self/fd/{}", source.as_raw_fd());
    mount(Some(path.as_str()), target, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
        .map_err(naming(target))
}

/// Adds the path to an error.
fn naming<E: Into<io::Error>>(path: impl AsRef<Path>) -> impl FnOnce(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{}: {error}", path.as_ref().display()))
    }
}
