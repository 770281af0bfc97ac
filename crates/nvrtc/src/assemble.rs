//! PTX to machine code. NVRTC has no function for that, but it hands an inline `asm` statement on to its assembler as it is: between the
//! end of one kernel and the beginning of another there is room for a whole module.

use std::collections::HashMap;
use std::ffi::CString;

use crate::{Nvrtc, Unit, cubin};

/// What a kernel takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread, with what the functions have that it calls: arrays, and registers that were spilled.
    pub local_bytes: u32,
    /// Bytes that spilling stores and loads, as `ptxas -v` counts them: once for each instruction.
    pub spill_stores: u32,
    pub spill_loads: u32,
}

/// What the kernels of a PTX module take on a device of this compute capability, by name. `None` where NVRTC does not know the device, or
/// its assembler refuses the module.
///
/// The numbers are those of the machine code that a driver of the same release makes of the PTX.
pub fn assemble(nvrtc: &Nvrtc, ptx: &str, (major, minor): (u32, u32)) -> Option<HashMap<String, Usage>> {
    let capability = 10 * major + minor;
    if !nvrtc.architectures.contains(&capability) {
        return None;
    }
    let arguments = [format!("-arch=sm_{capability}{}", suffix(ptx)), "--ptxas-options=-v".to_owned()];
    let wrapped = wrapped(ptx);
    let kept = nvrtc.kept.as_ref().map(|kept| (kept, kept.key(&wrapped, &arguments)));
    if let Some(known) = kept.and_then(|(kept, key)| kept.read(key)) {
        return Some(known);
    }
    let arguments = arguments.map(|argument| CString::new(argument).unwrap_or_default());
    let made = nvrtc.compile(&Unit::new("assemble.cu", &wrapped).ok()?, &[], &arguments);
    let mut usage = cubin::usage(&made.image.ok()?.machine_code?)?;
    usage.retain(|name, _| !name.starts_with(WRAPPER));
    for (name, stores, loads) in spills(&made.log) {
        if let Some(usage) = usage.get_mut(name) {
            (usage.spill_stores, usage.spill_loads) = (stores, loads);
        }
    }
    if let Some((kept, key)) = kept {
        kept.write(key, &usage);
    }
    Some(usage)
}

/// How the names of the kernels around the module begin.
const WRAPPER: &str = "fusion_assemble_";

/// The CUDA C++ whose PTX is this module between two empty kernels.
fn wrapped(ptx: &str) -> String {
    let module: String = lines(ptx).flat_map(|line| [line, "\n"]).collect();
    format!(
        "extern \"C\" __global__ void {WRAPPER}begin() {{ asm volatile(R\"{WRAPPER}(ret;\n}}\n{module}\n\
         .visible .entry {WRAPPER}end()\n{{\n){WRAPPER}\"); }}\n"
    )
}

/// The lines of a module that make code. NVRTC writes the header itself, and debugging information would have to fit its own.
fn lines(ptx: &str) -> impl Iterator<Item = &str> {
    const LEFT_OUT: [&str; 5] = [".version", ".target", ".address_size", ".file", ".loc"];
    let directive = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    // Sections come last in what compilers write.
    let code = ptx.lines().take_while(move |line| directive(line) != ".section");
    code.filter(move |line| !LEFT_OUT.contains(&directive(line).as_str()) && !line.trim_start().starts_with("//"))
}

/// The `a` of `.target sm_90a`: what only that device has.
fn suffix(ptx: &str) -> &str {
    let target = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
    let target =
        target.and_then(|names| names.split([',', ' ', '\t']).find(|name| name.starts_with("sm_"))).unwrap_or_default();
    target.trim_start_matches("sm_").trim_start_matches(|c: char| c.is_ascii_digit()).trim_end()
}

/// What `ptxas -v` says of spilling: of which function, and bytes of stores and loads.
///
/// ```text
/// ptxas info    : Function properties for k
/// ptxas         .     1128 bytes stack frame, 1064 bytes spill stores, 1112 bytes spill loads
/// ```
fn spills(log: &str) -> impl Iterator<Item = (&str, u32, u32)> {
    let mut function = None;
    log.lines().filter_map(move |line| {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            function = Some(name.trim());
        }
        let before = |what| line.split_once(what)?.0.rsplit([',', ' ']).next()?.parse().ok();
        Some((function?, before(" bytes spill stores")?, before(" bytes spill loads")?))
    })
}

#[cfg(test)]
mod tests;
