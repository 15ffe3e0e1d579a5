//! Promotion, rollback and the end of a drain.

mod interrupted;
mod live;
mod messages;
mod scaled_down;
mod trains;
mod under_load;
mod writes;
