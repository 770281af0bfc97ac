//! The unfused baselines and the device headers that kernels share.
//!
//! [`Baseline`] runs the unfused chain of any exercise from its specification's steps: one kernel
//! of `unfused/*.cu` for each step, each of which writes its whole result to global memory.

mod baseline;
mod flush;

pub use baseline::Baseline;
pub use flush::Flush;

use std::sync::Arc;

use cudarc::driver::CudaModule;
use fusion_course::Source;
use fusion_device::{CompileError, Device, Options, Source as Text};

/// Compiles and loads a source that may include the course's headers.
///
/// # Errors
/// As [`Device::compile`]'s.
pub fn load(device: &Device, source: &Source) -> Result<Arc<CudaModule>, CompileError> {
    let text = Text { name: &source.path, text: &source.text };
    Ok(device.compile(&text, &includes(), &Options::default())?.module)
}

/// [`headers`] as the compiler takes them.
pub fn includes() -> Vec<Text<'static>> {
    headers().iter().map(|&(name, text)| Text { name, text }).collect()
}

/// Device headers by the name that `#include "..."` gives them.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    &[("activation.cuh", include_str!("../include/activation.cuh"))]
}

/// The sources of the unfused kernels. Kernel names are unique over all of them.
pub fn unfused() -> Vec<Source> {
    [("elementwise", include_str!("../unfused/elementwise.cu"))]
        .into_iter()
        .map(|(name, text)| Source { path: format!("kernels/unfused/{name}.cu"), text: text.to_owned() })
        .collect()
}

/// The source of the kernels that timing needs, for [`Flush`].
pub fn timing() -> Source {
    Source { path: "kernels/timing/flush.cu".to_owned(), text: include_str!("../timing/flush.cu").to_owned() }
}

#[cfg(test)]
mod tests {
    /// Every step of every exercise names one kernel, with the arguments in a step's order.
    #[test]
    fn every_step_has_its_kernel() {
        let sources = super::unfused();
        for exercise in fusion_course::days().iter().flat_map(|day| day.exercises) {
            for step in exercise.unfused {
                let head = format!(" void {}(", step.kernel);
                let found: Vec<_> = sources.iter().filter_map(|source| source.text.split_once(&head)).collect();
                assert_eq!(found.len(), 1, "{}: kernel {}", exercise.name, step.kernel);
                let parameters: Vec<&str> =
                    found[0].1.split(')').next().into_iter().flat_map(|p| p.split(", ")).collect();
                let pointers = step.reads.len() + step.writes.len();
                let sizes = if step.by_row { 2 } else { 1 };
                assert_eq!(parameters.len(), pointers + step.scalars.len() + sizes, "{}: {parameters:?}", step.kernel);
                for (index, name) in step.reads.iter().chain(step.writes).enumerate() {
                    let dtype = exercise.param(name).map(|param| param.dtype.cuda_name());
                    let constant = if index < step.reads.len() { "const " } else { "" };
                    let start = format!("{constant}{}* ", dtype.unwrap_or_default());
                    assert!(parameters[index].starts_with(&start), "{}: {} {start}", step.kernel, parameters[index]);
                }
            }
        }
    }

    #[test]
    fn includes_are_embedded() {
        for source in super::unfused() {
            for line in source.text.lines().filter_map(|line| line.strip_prefix("#include \"")) {
                let name = line.trim_end_matches('"');
                assert!(super::headers().iter().any(|(header, _)| *header == name), "{}: {name}", source.path);
            }
        }
    }
}
