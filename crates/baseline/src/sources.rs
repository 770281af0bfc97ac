//! The course's CUDA C++, which lies in `kernels/`: what the unfused chain, the ladders and timing are made of.

use std::sync::Arc;

use cudarc::driver::CudaModule;
use fusion_course::Source;
use fusion_device::{CompileError, Device, Options, Source as Text};

/// Compiles and loads a source of the course's, which may include its headers.
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

// `INCLUDE`, `UNFUSED`, `RIVALS` and `LADDERS`, written by the build script: one entry a file, by its name.
include!(concat!(env!("OUT_DIR"), "/collected.rs"));

/// Device headers by the name that `#include "..."` gives them.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    INCLUDE
}

/// The sources of the unfused kernels. Kernel names are unique over all of them.
pub fn unfused() -> Vec<Source> {
    sources("unfused", UNFUSED)
}

/// The sources of the fused kernels that exercises name as ones to beat. Kernel names are unique over all of them.
pub fn rivals() -> Vec<Source> {
    sources("rivals", RIVALS)
}

/// One operation as a ladder of kernels, from naive to fast: `ladders/<name>.cu`. Of another name, an empty source.
pub fn ladder(name: &str) -> Source {
    let found = LADDERS.iter().find(|(file, _)| file.strip_suffix(".cu") == Some(name));
    Source { path: format!("kernels/ladders/{name}.cu"), text: found.map_or("", |(_, text)| text).to_owned() }
}

fn sources(folder: &str, files: &[(&str, &str)]) -> Vec<Source> {
    let source =
        |&(name, text): &(&str, &str)| Source { path: format!("kernels/{folder}/{name}"), text: text.to_owned() };
    files.iter().map(source).collect()
}

/// The source of the kernels that timing needs, for [`crate::Clock`].
pub fn timing() -> Source {
    Source { path: "kernels/timing.cu".to_owned(), text: include_str!("../../../kernels/timing.cu").to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fusion_course::{DType, Work};
    use fusion_device::Compiler;

    use super::{Options, Text, includes};

    /// Each process that judges needs them.
    #[test]
    fn the_courses_kernels_are_not_compiled_again() {
        let ladders = fusion_course::days().iter().flat_map(|day| day.exercises).map(|it| super::ladder(it.name));
        let compiler = Compiler::open(&fusion_toolchain::find().unwrap()).unwrap();
        for source in super::unfused().into_iter().chain(super::rivals()).chain([super::timing()]).chain(ladders) {
            let text = Text { name: &source.path, text: &source.text };
            assert!(Compiler::would_keep(&text, &includes(), &Options::default()), "{}", source.path);
            // What is warned of is said each time.
            let compiled = compiler.ptx(&text, &includes(), 90, &Options::default()).unwrap();
            assert_eq!(compiled.log, "", "{}", source.path);
        }
    }

    /// Every step of every exercise names one kernel, with the arguments in a step's order.
    #[test]
    fn every_step_has_its_kernel() {
        let kernels = [super::unfused(), super::rivals()].concat();
        for exercise in fusion_course::days().iter().flat_map(|day| day.exercises) {
            let sources: Vec<_> = kernels.iter().chain([&super::ladder(exercise.name)]).cloned().collect();
            let steps = exercise.unfused.iter().chain(exercise.plan);
            let kernels = steps.filter(|step| !matches!(step.work, Work::Gemm | Work::Own));
            for step in kernels.chain(exercise.rival.iter().map(|rival| &rival.step)) {
                let head = format!(" void {}(", step.kernel);
                let found: Vec<_> = sources.iter().filter_map(|source| source.text.split_once(&head)).collect();
                assert_eq!(found.len(), 1, "{}: kernel {}", exercise.name, step.kernel);
                let parameters: Vec<&str> =
                    found[0].1.split(')').next().into_iter().flat_map(|p| p.split(',').map(str::trim)).collect();
                let pointers = step.reads.len() + step.writes.len();
                let sizes = match step.work {
                    Work::Elements { .. } => 1,
                    Work::Product { .. } => 3,
                    Work::Heads { .. } => 4,
                    Work::Cache(_) => 5,
                    Work::Chunks { .. } => 0,
                    _ => 2,
                };
                assert_eq!(parameters.len(), pointers + step.scalars.len() + sizes, "{}: {parameters:?}", step.kernel);
                for (index, name) in step.reads.iter().chain(step.writes).enumerate() {
                    let dtype = exercise.param(name).map(|param| match param.dtype {
                        // The chain takes the bits, and does without a header that is long to compile.
                        DType::E4m3 => "unsigned char",
                        other => other.cuda_name(),
                    });
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
