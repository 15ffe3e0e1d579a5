//! The files of the page. They are part of the binary: nothing is read from the disk, and nothing from another server.

/// A file of the page.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    path: &'static str,
    pub media_type: &'static str,
    pub content: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: [Asset; 11] = [
    Asset { path: "/", media_type: HTML, content: include_str!("assets/index.html") },
    Asset { path: "/assets/dashboard.css", media_type: CSS, content: include_str!("assets/dashboard.css") },
    Asset { path: "/assets/icon.svg", media_type: "image/svg+xml", content: include_str!("assets/icon.svg") },
    Asset { path: "/assets/dashboard.js", media_type: SCRIPT, content: include_str!("assets/dashboard.js") },
    Asset { path: "/assets/client.js", media_type: SCRIPT, content: include_str!("assets/client.js") },
    Asset { path: "/assets/dom.js", media_type: SCRIPT, content: include_str!("assets/dom.js") },
    Asset { path: "/assets/change.js", media_type: SCRIPT, content: include_str!("assets/change.js") },
    Asset { path: "/assets/crowd.js", media_type: SCRIPT, content: include_str!("assets/crowd.js") },
    Asset { path: "/assets/timeline.js", media_type: SCRIPT, content: include_str!("assets/timeline.js") },
    Asset { path: "/assets/failures.js", media_type: SCRIPT, content: include_str!("assets/failures.js") },
    Asset { path: "/assets/release.js", media_type: SCRIPT, content: include_str!("assets/release.js") },
];

/// The file at a path.
pub(crate) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the whole page; a test in a browser measures what is loaded.
    const MAX_BYTES: usize = 200_000;

    #[test]
    fn the_page_is_small_and_names_no_other_server() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.content.len()).sum();
        assert!(bytes < MAX_BYTES, "{bytes} bytes");
        for Asset { path, content, .. } in &ASSETS {
            let urls = content.split("://").count() - 1;
            let name_spaces = content.matches("http://www.w3.org/2000/svg").count();
            assert_eq!(urls, name_spaces, "{path} names a URL");
        }
    }

    #[test]
    fn no_file_of_the_page_parses_text_as_markup_or_code() {
        for Asset { path, content, .. } in &ASSETS {
            for sink in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "style=",
                "onclick=",
            ] {
                assert!(!content.contains(sink), "{path} uses {sink}");
            }
        }
    }
}
