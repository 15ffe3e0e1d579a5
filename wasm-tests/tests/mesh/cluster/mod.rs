//! `canary-ctl`'s verbs against a real API server. Most of these tests need no pod, and so no time.

mod arrival;
mod break_glass;
mod calls;
mod charts;
mod day;
mod desk;
mod failures;
mod faulty;
mod first_file;
mod guarded;
mod guards;
mod istiod;
mod killed;
mod killed_turns;
mod leases;
mod live;
mod operator;
mod owners;
mod pauses;
mod rights;
mod roles;
mod rotated;
mod seen;
mod spoken;
mod turns;
mod writes;
