//! `apply` and what goes with it: checks, rights, field owners, `uninstall`.

mod adoption;
mod api_calls;
mod bypasses;
mod checks;
mod field_owners;
mod forgery;
mod init;
mod interrupted;
mod istiod_away;
mod lifecycle;
mod rights;
mod under_load;
mod writes;
