//! The answers as tables.

use fusion_grader::render::{self, Look};
use fusion_machine::report::demangle;

use super::{Answer, Kernel, Taken};

/// What the columns are, under each table.
const LEGEND: &str = "\
Registers and bytes of local memory are a thread's, shared and constant bytes a block's and a module's; threads: the most of a block.
";

/// One device's table; with `gpu`, `32 / 30` is a number of which the GPU's driver says 30.
pub(super) fn text(emulated: &Answer, gpu: Option<&Answer>, look: Look) -> String {
    let (major, minor) = emulated.compute_capability;
    let mut text =
        format!("{} (sm_{major}{minor}), NVRTC {}.{}", emulated.device, emulated.compiler.0, emulated.compiler.1);
    if let Some(gpu) = gpu {
        text += &format!(", beside {}", gpu.device);
    }
    let mut table = render::blank(["file", "kernel", "registers", "local", "shared", "constant", "threads"], look);
    let mut different = 0;
    for kernel in &emulated.kernels {
        let theirs = gpu.map(|gpu| found(gpu, kernel));
        different += usize::from(theirs.is_some_and(|theirs| theirs != Some(kernel.taken)));
        let ours = numbers(kernel.taken);
        let cells: Vec<String> = match theirs {
            None => ours.map(|number| number.to_string()).into(),
            Some(None) => ours.map(|number| format!("{number} / ?")).into(),
            Some(Some(theirs)) => {
                ours.into_iter().zip(numbers(theirs)).map(|(ours, theirs)| both(ours, theirs)).collect()
            }
        };
        let name = demangle(&kernel.name);
        // Without its parameters: the names are unique without them.
        let name = name.split('(').next().unwrap_or_default().to_owned();
        table.add_row([kernel.file.clone(), name].into_iter().chain(cells));
    }
    text += &format!("\n\n{}\n\n{LEGEND}", table.trim_fmt());
    if gpu.is_some() {
        let count = emulated.kernels.len();
        text += &match different {
            0 => format!("All {count} kernels: the GPU's driver says the same.\n"),
            _ => format!("{different} of {count} kernels differ: `emulated / GPU`.\n"),
        };
    }
    text
}

/// Whether the GPU's driver says anything else of a kernel, or has other kernels.
pub(super) fn differs(emulated: &Answer, gpu: &Answer) -> bool {
    emulated.kernels.len() != gpu.kernels.len()
        || emulated.kernels.iter().any(|kernel| found(gpu, kernel) != Some(kernel.taken))
}

fn found(answer: &Answer, wanted: &Kernel) -> Option<Taken> {
    let same = |kernel: &&Kernel| kernel.file == wanted.file && kernel.name == wanted.name;
    answer.kernels.iter().find(same).map(|kernel| kernel.taken)
}

fn numbers(taken: Taken) -> [i32; 5] {
    let Taken { registers, local, shared, constant, threads } = taken;
    [registers, local, shared, constant, threads]
}

fn both(ours: i32, theirs: i32) -> String {
    if ours == theirs { ours.to_string() } else { format!("{ours} / {theirs}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kernels: &[(&str, i32)]) -> Answer {
        let taken = |registers| Taken { registers, local: 0, shared: 1024, constant: 0, threads: 1024 };
        let kernel = |&(name, registers): &(&str, i32)| Kernel {
            file: "a.cu".to_owned(),
            name: name.to_owned(),
            taken: taken(registers),
        };
        Answer { device: "D".to_owned(), kernels: kernels.iter().map(kernel).collect(), ..Answer::default() }
    }

    #[test]
    fn a_difference_is_marked_and_counted() {
        let emulated = answer(&[("k", 32), ("l", 16)]);
        assert!(!differs(&emulated, &emulated));
        let same = text(&emulated, Some(&emulated), Look::default());
        assert!(same.contains("All 2 kernels"), "{same}");
        let gpu = answer(&[("k", 30), ("l", 16)]);
        assert!(differs(&emulated, &gpu));
        let other = text(&emulated, Some(&gpu), Look::default());
        assert!(other.contains("| 32 / 30") && other.contains("1 of 2 kernels differ"), "{other}");
        let fewer = answer(&[("k", 32)]);
        assert!(differs(&emulated, &fewer));
        assert!(text(&emulated, Some(&fewer), Look::default()).contains("16 / ?"));
    }
}
