//! `canary-ctl simulate`.

use super::{Keys, Output, SpecFile};
use crate::simulate::{Field, WeightSchedule};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Say who would be on the canary at each weight of a plan, from session ids or an access log
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    canary-ctl simulate session-ids.txt --weights 0,1,10,50,100\n  \
    canary-ctl simulate access.log --log --key cookie:JSESSIONID --distinct\n  \
    zcat access.log.*.gz | canary-ctl simulate --log --key client --salt shop/shop/v2\n\n\
    A log is in common or combined format, with any quoted fields after it. --key is one of\n  \
    client         the first field\n  \
    user           the third field\n  \
    cookie:NAME    a cookie in a quoted field after the request\n  \
    quoted:N       the N-th quoted field, from 1 (the request)\n  \
    field:N        the N-th field between white space, from 1\n\n\
    Lines are counted, so a user with many lines counts as often; --distinct counts each once, and keeps \
    all identities in memory (about 20 bytes each).")]
pub struct Simulate {
    /// Session ids, one a line, or a log; `-` is stdin
    #[arg(default_value = "-")]
    pub input: PathBuf,
    /// The weights to walk through, in percent
    #[arg(long, value_name = "WEIGHTS", default_value = "1,5,10,25,50,100")]
    pub weights: WeightSchedule,
    /// The input is an access log
    #[arg(long)]
    pub log: bool,
    /// Which part of a log line is the user (default: the release's first cookie)
    #[arg(long, value_name = "FIELD", requires = "log")]
    pub key: Option<Field>,
    /// Count each user once
    #[arg(long)]
    pub distinct: bool,
    /// The release.
    #[command(flatten)]
    pub spec: SpecFile,
    /// Draw with this salt; no release is read then
    #[arg(long)]
    pub salt: Option<String>,
    /// Whether users move with the weight (default: the release's, or user)
    #[arg(long, value_enum)]
    pub stickiness: Option<Stickiness>,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
    /// The form of the result.
    #[command(flatten)]
    pub output: Output,
}

/// Whether users move with the weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stickiness {
    /// They do.
    User,
    /// A session stays where it began.
    Session,
}
