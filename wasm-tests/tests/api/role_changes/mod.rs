//! Promotion, rollback and the end of a drain.

mod interrupted;
mod writes;
