//! Promotion, rollback and the end of a drain.

mod live;
mod messages;
mod scaled_down;
mod trains;
mod under_load;
