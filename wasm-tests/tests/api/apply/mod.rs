//! `apply` and `uninstall`: checks, rights, field owners, calls.

mod adoption;
mod api_calls;
mod checks;
mod field_owners;
mod interrupted;
mod rights;
mod writes;
