//! One attempt at an exercise: what was graded, and what came of it.

use std::collections::BTreeMap;

use fusion_grader::judgement::{Basis, Beside, Judgement, Timing, Verdict};
use serde::{Deserialize, Serialize};

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// When the run began, in UTC. What one run graded has the same.
    pub(crate) when: String,
    pub(crate) exercise: String,
    pub(crate) verdict: Verdict,
    /// By the part's name.
    pub(crate) parts: BTreeMap<String, Verdict>,
    /// The code of the first error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<Bytes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) speed: Option<Speed>,
    /// Fingerprints of the kernel's file and of the launch's; none where what was graded is not what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<[String; 2]>,
}

/// Bytes that reach DRAM, in a problem of this shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bytes {
    pub(crate) shape: String,
    #[serde(flatten)]
    pub(crate) count: Beside,
}

/// A time, where it was taken, and of a problem of which shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speed {
    pub(crate) device: String,
    pub(crate) shape: String,
    pub(crate) timing: Timing,
}

impl Attempt {
    pub(crate) fn new(when: &str, judgement: &Judgement, files: Option<[String; 2]>) -> Self {
        let parts = judgement.parts.views().map(|part| (part.name.to_owned(), part.verdict)).collect();
        let failure = judgement.failure();
        let lean = judgement.parts.lean.evidence.as_ref();
        let fast = judgement.parts.fast.evidence.as_ref();
        Self {
            when: when.to_owned(),
            exercise: judgement.name.clone(),
            verdict: judgement.verdict,
            parts,
            error: failure.map(|failure| failure.fault.clone().unwrap_or_else(|| failure.code.to_string())),
            bytes: lean.map(|lean| Bytes { shape: lean.shape.clone(), count: lean.dram_bytes }),
            speed: fast.and_then(|fast| {
                let timing = fast.timing.clone()?;
                Some(Speed { device: fast.device.clone(), shape: fast.shape.clone(), timing })
            }),
            // What was judged is what was compiled.
            files: files.filter(|_| judgement.changed.is_empty()),
        }
    }

    /// Whether there is nothing more to do about it on this machine: it passes, or is right and lean and only a GPU can say more.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Inconclusive)
    }
}

impl Speed {
    /// What its time may be compared with: others that are known in the same way, on the same device, of the same problem.
    pub(super) fn contest(&self) -> (&str, &str, bool) {
        (&self.device, &self.shape, self.timing.basis() == Basis::Measured)
    }
}
