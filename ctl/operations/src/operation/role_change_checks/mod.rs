//! The checks of a promotion, a rollback and the end of a drain. Each results in a value that the operation needs, so that
//! no caller can leave them out.

mod finish;
mod promotion;
mod rollback;

pub use finish::CheckedFinish;
pub use promotion::{CheckedPromotion, PromoteOptions};
pub use rollback::{CheckedRollback, RollbackOptions};
