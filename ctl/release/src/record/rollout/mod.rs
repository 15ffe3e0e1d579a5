//! A rollout in the record of its release: its start, its transitions, and what was observed for it.

mod alerts;
mod analysis;
mod failures;
mod fuse;
mod hold;
mod hooks;
mod start;
mod train;
mod transition;
mod verbs;
