//! API errors, slow API servers, operators that vanish.

mod api_errors;
mod leases;
