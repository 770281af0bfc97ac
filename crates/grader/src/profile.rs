//! Where the time of launches goes, by the emulated device's clock: predicted, never measured.

mod compiled;

use fusion_diagnostic::Bounded;
use fusion_machine::report::{Account, Move, When};
use fusion_machine::timing::EVENT_NS;
use fusion_machine::{LaunchReport, Report};
use serde::{Deserialize, Serialize};

use crate::takes::Takes;

/// What the clock says of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// From an event before it to one behind it.
    pub ns: f64,
    pub launches: Vec<Launch>,
    /// Copies and memsets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
}

/// One of its launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Between two events of its own.
    pub ns: f64,
    #[serde(default)]
    pub when: When,
    /// Shared memory of a block, static and dynamic, in bytes.
    #[serde(default)]
    pub shared_bytes: u32,
    /// What the compiler made of the kernel, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<Compiled>,
    /// None of what is not simulated: a library's product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Box<Account>>,
}

/// What the compiler made of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    pub takes: Takes,
    /// Bytes that spilling registers stores and loads, once for each instruction; none where the assembler does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spills: Option<(u32, u32)>,
    /// The PTX of the loop in which the line is where warps spend most of their time, or of that line where it is in no loop.
    pub hot: Vec<Ptx>,
    /// Whether it is a loop.
    pub is_loop: bool,
}

/// An instruction or a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ptx {
    /// The line of the kernel's file that it is from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub text: String,
}

/// A variant of an exercise at one size: what `cargo xtask profile` is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    pub variant: String,
    pub shape: String,
    pub rows: usize,
    pub columns: usize,
    pub predicted: Predicted,
}

impl Predicted {
    /// None where the time of a launch is not known.
    pub(crate) fn of(report: &mut Report) -> Option<Self> {
        let ns = report.predicted_ns()?;
        let launch = |launch: &mut LaunchReport| Launch {
            kernel: launch.kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            ns: launch.predicted_ns,
            when: launch.when,
            shared_bytes: launch.shared_bytes,
            compiled: None,
            account: launch.account.take(),
        };
        let launches = report.launches.iter_mut().map(launch).collect();
        Some(Self { ns, launches, moves: std::mem::take(&mut report.moves) })
    }

    /// What bounds it on a device: its longest launch, which is named where there are others.
    pub fn bound(&self, device: &str) -> Option<Bounded> {
        let longest = self.launches.iter().max_by(|one, other| one.ns.total_cmp(&other.ns))?;
        let account = longest.account.as_ref()?;
        Some(match self.launches.len() {
            1 => fusion_diagnostic::bound(account, device),
            _ => {
                let share = (longest.ns - EVENT_NS) / (self.ns - EVENT_NS).max(1.0);
                fusion_diagnostic::bound_of_several(account, device, &longest.kernel, share)
            }
        })
    }
}
