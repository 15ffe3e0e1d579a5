//! A stand-in for an API server that answers each request with the same fault, or has no objects.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How an API server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    /// There is no kubeconfig.
    Unnamed,
    /// It knows the user, and has no objects.
    Empty,
    /// It accepts connections and does not answer.
    Silent,
    /// The same after so many responses.
    SilentAfter(usize),
    /// It begins a response with this text, and is silent then.
    Stalls(&'static str),
    /// The same with one more byte each half a second.
    Trickles(&'static str),
    /// Nothing listens on its port.
    Closed,
    /// Its name is not known.
    Nowhere,
    /// It speaks HTTP, and the kubeconfig says HTTPS.
    Plain,
    /// It answers each request with this status and this body.
    Answers(u16, &'static str),
    /// It knows the user, and denies each other request.
    Denies,
    /// The kubeconfig is this text.
    Kubeconfig(&'static str),
}

/// The head of a response, without its body.
pub(super) const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n";
/// The same of an error.
pub(super) const ERROR_HEAD: &str = "HTTP/1.1 403 Forbidden\r\ncontent-length: 500\r\n\r\n";
pub(super) const UNAUTHORIZED: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}"#;
pub(super) const ETCD: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: request timed out","code":500}"#;
const DENIED: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"configmaps is forbidden: User \"bob\" cannot list resource \"configmaps\""}"#;
const NOT_FOUND: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"not found","code":404}"#;
const USER: &str = r#"{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":"bob"}}}"#;
const LIST: &str = r#"{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}"#;

impl Server {
    /// The kubeconfig that leads to it, with the contexts `staging` and `dev`; `staging` is the current one.
    pub(super) fn kubeconfig(self) -> Option<String> {
        let address = match self {
            Self::Unnamed => return None,
            Self::Kubeconfig(text) => return Some(text.to_owned()),
            Self::Closed => "http://127.0.0.1:9".to_owned(),
            Self::Nowhere => "http://nowhere.invalid:6443".to_owned(),
            Self::Plain => format!("https://{}", self.listen()),
            _ => format!("http://{}", self.listen()),
        };
        Some(format!(
            "clusters: [{{name: c, cluster: {{server: '{address}', insecure-skip-tls-verify: true}}}}]\nusers: []\n\
             contexts: [{{name: staging, context: {{cluster: c, user: ''}}}}, {{name: dev, context: {{cluster: c, user: '', namespace: dev}}}}]\n\
             current-context: staging\n"
        ))
    }

    /// Answers requests until the test program ends.
    fn listen(self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let responses = Arc::new(AtomicUsize::new(0));
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // A client that goes in the middle of a request is no fault of it.
                let responses = Arc::clone(&responses);
                std::thread::spawn(move || self.serve(&connection, &responses).ok());
            }
        });
        address
    }

    fn serve(self, connection: &TcpStream, responses: &AtomicUsize) -> std::io::Result<()> {
        if self == Self::Plain {
            return write!(&mut &*connection, "HTTP/1.1 400 Bad Request\r\n\r\n");
        }
        let mut reader = BufReader::new(connection);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let mut length = 0;
            loop {
                let mut header = String::new();
                if reader.read_line(&mut header)? <= 2 {
                    break;
                }
                if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            reader.read_exact(&mut vec![0; length])?;
            let is_silent = match self {
                Self::Silent => true,
                Self::SilentAfter(limit) => responses.fetch_add(1, Ordering::Relaxed) >= limit,
                _ => false,
            };
            if is_silent {
                loop {
                    std::thread::park();
                }
            }
            if let Self::Stalls(begun) | Self::Trickles(begun) = self {
                write!(&mut &*connection, "{begun}")?;
                loop {
                    std::thread::sleep(Duration::from_millis(500));
                    if matches!(self, Self::Trickles(_)) {
                        write!(&mut &*connection, " ")?;
                    }
                }
            }
            let (status, body) = self.answer(&line);
            write!(&mut &*connection, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
        }
    }

    fn answer(self, line: &str) -> (u16, &'static str) {
        let is_review = line.contains("/selfsubjectreviews");
        let is_list = line.starts_with("GET") && line.contains('?');
        match self {
            Self::Answers(status, body) => (status, body),
            _ if is_review => (201, USER),
            Self::Denies => (403, DENIED),
            _ if is_list => (200, LIST),
            _ => (404, NOT_FOUND),
        }
    }
}
