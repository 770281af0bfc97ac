//! What happens on the device as it happens: for whoever watches a program that takes no reports, however it ends.

use serde::{Deserialize, Serialize};

use super::{Fault, Work};

/// An event. A journal is a file of them, one a line, as JSON; the last line of a process that was killed may be cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one is alive at a time")]
pub enum Event {
    /// A process has opened the driver: its command line and the device's name.
    Opened { command: Vec<String>, device: String },
    /// Launches of a kernel since it was last told, those included that a fault stopped.
    Launched { kernel: String, times: u64 },
    /// A launch, copy or memset has run, where these are asked for.
    Ran(Work),
    /// A fault, warning or advice at a site where there was none yet.
    Found(Fault),
    /// What the driver has to say beside that, and the function of its API that it is about, where it is one that is not supported.
    Said { text: String, unsupported: Option<String> },
}
