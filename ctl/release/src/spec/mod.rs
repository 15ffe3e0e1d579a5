//! `canary.yaml`: the specification of a release.
//!
//! `release` has the types, which cannot hold an invalid value; `read` makes them from the tree that [`crate::file`] has parsed, a file for
//! each part; `schema` describes the file for editors.

mod alert;
mod analysis;
mod dependency;
mod duration;
mod hook;
mod names;
mod object_metadata;
mod percentage;
mod query_template;
mod read;
mod release;
mod rollout;
mod rollout_time;
mod schema;
mod secret_source;
mod service_host;
mod slower_than;
mod window;

pub use alert::{
    AlertFormat, AlertReceiver, AlertSeverity, AlertSpec, ReceiverEndpoint, SecretUrl, UrlError,
};
pub use analysis::{
    AddressError, AnalysisSpec, FiniteNumber, MetricBounds, MetricQuery, NumberError, PrometheusServer,
    RolloutMetric, ServerAddress,
};
pub use dependency::ReleaseDependency;
pub use duration::{Milliseconds, MillisecondsError, Seconds, SecondsError};
pub use hook::{HookEndpoint, HookSpec, HookType, RolloutHook};
pub use names::{Label, LabelError, ReleaseName, version_subset};
pub(crate) use object_metadata::{MANAGED_BY, REVISION, is_label_name, is_label_value};
pub use object_metadata::{MetadataError, ObjectMetadata};
pub use percentage::{Percentage, PercentageError};
pub(crate) use query_template::{ISTIO_VERSION_LABELS, QueryVariables};
pub use query_template::{IstioMetric, QueryTemplate, Reporter, TemplateError};
pub(crate) use read::{API_VERSION, KIND, MAX_QUERY, release as read_release};
pub use release::{
    Cookies, Delivery, Endpoint, Gateway, Local, Mode, Module, Overrides, Release, Routes, Selector, Service,
    Session, Versions,
};
pub use rollout::{
    DEFAULT_PLAN, FailureAction, Gate, OptionalKinds, RolloutPolicy, RolloutSpec, RolloutStep, SuccessAction,
};
pub(crate) use schema::LABEL as LABEL_PATTERN;
pub use schema::json_schema;
pub use secret_source::SecretSource;
pub use service_host::{ServiceHost, resolve};
pub use slower_than::{LatencyPercentile, SlowerThan, SlowerThanError};
pub use window::{Day, RolloutWindow, TimeError, TimeOfDay, TimeZoneError, TimeZoneName};
