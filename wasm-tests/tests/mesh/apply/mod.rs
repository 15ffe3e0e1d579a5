//! `apply` and `uninstall` where pods and proxies are.

mod bypasses;
mod forgery;
mod init;
mod istiod_away;
mod lifecycle;
mod under_load;
