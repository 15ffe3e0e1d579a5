//! Our routes within objects of others.

mod injection;
mod interrupted;
