//! How many registers a kernel has, by NVIDIA's own assembler: that of the NVRTC which the process has open, because it compiles CUDA C++.
//! A process that has none does without.

use std::sync::OnceLock;

use fusion_machine::{Assembled, Resources};
use fusion_nvrtc::Nvrtc;

/// What the kernels of a module take, by name; `None` where there is no assembler, or it refuses the module.
pub(crate) fn assemble(ptx: &str, compute: (u32, u32)) -> Option<Assembled> {
    let usage = fusion_nvrtc::assemble(nvrtc()?, ptx, compute)?;
    let resources = usage.into_iter().map(|(name, usage)| {
        let fusion_nvrtc::Usage { registers, local_bytes, spill_stores, spill_loads } = usage;
        (name, Resources { registers, local_bytes, spill_stores, spill_loads, exact: true })
    });
    Some(resources.collect())
}

/// The process may open it at any time.
fn nvrtc() -> Option<&'static Nvrtc> {
    static FOUND: OnceLock<Nvrtc> = OnceLock::new();
    if FOUND.get().is_none() {
        let found = Nvrtc::already_open()?;
        return Some(FOUND.get_or_init(|| found));
    }
    FOUND.get()
}
