//! `canary-ctl`'s verbs against a real API server. Most of these tests need no pod, and so no time.

mod arrival;
mod desk;
mod guarded;
mod killed;
mod killed_turns;
mod owners;
mod roles;
mod spoken;
mod turns;
mod writes;
