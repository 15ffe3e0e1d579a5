//! The controller: it carries out the `Release` objects of a cluster by the operations that the command line has.
//!
//! The record of a release stays the truth, and the controller is one more client that changes it: whatever the command line does
//! beside it is valid. Nothing is kept in the process that another replica would miss.
//!
//! ```text
//! object     a Release object as the file that it is      JSON            -> Release
//! grants     what owners of other namespaces allow        Release, grants -> MissingGrant
//! roles      the object's versions, as they are by now    Release, Record -> Release
//! request    what people ask for in the object's status   JSON            -> Request
//! secrets    Secrets that owners have given to releases Release     -> refusal
//! status     the status of the object                     Record, report  -> Status
//! reconcile  one object: apply, roll out, finish, report   JSON            -> Status
//! definition the definition in the cluster, where it is another one   JSON   -> DefinitionDifference
//! removal    releases whose object was deleted
//! probes     liveness, readiness, metrics                 Gauges          -> HTTP
//! run        watches, the Lease of the replica that works, and the queue
//! manifests  the objects by which the controller is installed
//! ```

#![warn(missing_docs, clippy::missing_errors_doc)]

mod definition;
mod grants;
mod manifests;
mod object;
mod probes;
mod reconcile;
mod removal;
mod request;
mod roles;
mod run;
mod secrets;
mod status;

pub use definition::DefinitionDifference;
pub use grants::{Grant, MissingGrant};
pub use manifests::{Installation, NAME, grant_definition};
pub use object::{ObjectError, release_of};
pub use probes::{Gauges, serve};
pub use reconcile::{Host, Preview, PreviewAction, Reconciled, Reconciler};
pub use removal::{Removal, carried_out, remove, remove_all};
pub use request::{Action, Answer, Request};
pub use roles::as_roles_are;
pub use run::{ListError, Options, is_defined, preview, run};
pub use status::{Condition, Phase, Status};

/// The API group of the objects.
pub const GROUP: &str = "canary-ctl.io";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// The field manager of an object's status.
const STATUS_MANAGER: &str = "canary-controller";
