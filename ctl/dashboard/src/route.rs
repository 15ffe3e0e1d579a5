//! What a request asks for. A path is compared byte by byte and never decoded, and no path is one of the file system.

use crate::assets::{self, Asset};
use canary_release::spec::ReleaseName;
use hyper::Method;

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DashboardRoute {
    /// A file of the page.
    Asset(&'static Asset),
    Releases,
    Release(ReleaseName),
    Change(ReleaseName),
}

/// The reason for which a request has no target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoute {
    /// No such path.
    Path,
    /// The path does not have this method.
    Method,
}

impl DashboardRoute {
    /// The target of a method and a path.
    ///
    /// # Errors
    ///
    /// If there is no such path, or not with this method.
    pub fn of(method: &Method, path: &str) -> Result<Self, NoRoute> {
        let route = Self::at(path).ok_or(NoRoute::Path)?;
        let expected = if route.is_change() { Method::POST } else { Method::GET };
        if *method == expected { Ok(route) } else { Err(NoRoute::Method) }
    }

    fn at(path: &str) -> Option<Self> {
        if let Some(asset) = assets::find(path) {
            return Some(Self::Asset(asset));
        }
        match path.strip_prefix("/api/releases")? {
            "" => Some(Self::Releases),
            rest => {
                let rest = rest.strip_prefix('/')?;
                match rest.strip_suffix("/change") {
                    // A name has one slash, so `shop/change` is a release and no change.
                    Some(name) if name.contains('/') => name.parse().ok().map(Self::Change),
                    _ => rest.parse().ok().map(Self::Release),
                }
            }
        }
    }

    /// Whether it writes.
    pub const fn is_change(&self) -> bool {
        matches!(self, Self::Change(_))
    }

    /// Whether it is data: the files of the page are the same for everybody.
    pub const fn is_data(&self) -> bool {
        !matches!(self, Self::Asset(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file_of_the_page_a_list_or_a_release_and_nothing_else() {
        let get = |path: &str| DashboardRoute::of(&Method::GET, path);
        assert_eq!(get("/api/releases"), Ok(DashboardRoute::Releases));
        assert_eq!(get("/api/releases/shop/web"), Ok(DashboardRoute::Release("shop/web".parse().unwrap())));
        assert!(matches!(get("/"), Ok(DashboardRoute::Asset(_))));
        let post = |path: &str| DashboardRoute::of(&Method::POST, path);
        assert_eq!(
            post("/api/releases/shop/web/change"),
            Ok(DashboardRoute::Change("shop/web".parse().unwrap()))
        );
        assert_eq!(
            get("/api/releases/shop/change"),
            Ok(DashboardRoute::Release("shop/change".parse().unwrap()))
        );
        assert_eq!(get("/api/releases/shop/web/change"), Err(NoRoute::Method), "a read changes nothing");
        assert_eq!(post("/api/releases/shop/web"), Err(NoRoute::Method));
        assert_eq!(post("/"), Err(NoRoute::Method));
        for path in [
            "",
            "/index.html",
            "/../../etc/passwd",
            "/assets/../dashboard.js",
            "/assets/%2e%2e/%2e%2e/etc/passwd",
            "/assets/..%2f..%2fetc%2fpasswd",
            "/assets//etc/passwd",
            "/assets/dashboard.js/",
            "/api/releases/",
            "/api/releases/shop",
            "/api/releases/shop/..",
            "/api/releases/../../api/v1/secrets",
            "/api/releases/shop/web/x",
            "/api/releases/shop%2fweb",
        ] {
            assert_eq!(get(path), Err(NoRoute::Path), "{path}");
        }
        assert_eq!(DashboardRoute::of(&Method::OPTIONS, "/api/releases"), Err(NoRoute::Method));
    }
}
