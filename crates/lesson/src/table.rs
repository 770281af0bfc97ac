//! What a sweep looks like: the chain at the largest size, a picture of its bytes, and one row a size.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use fusion_course::{Exercise, Rung, Shape, Step};

use crate::{Lesson, Point, Subject, Sweep};

pub(crate) fn sweep(lesson: &Lesson, subject: &Subject, sweep: &Sweep) -> String {
    let exercise = subject.exercise;
    let mut text = format!("\n{}: {}\n", exercise.name, exercise.definition);
    if let Some(largest) = sweep.points.last() {
        text += &format!(
            "\nEach launch at {}, times {}. The bytes are those that a launch needs to move:\n",
            size(subject, largest.shape),
            lesson.times()
        );
        text += &chain(subject, largest, sweep.ceiling);
        text += "\nBytes per element:\n";
        text += &bars(subject);
    }
    if let (true, Some(largest)) = (lesson.counters, sweep.points.last()) {
        text += &match lesson.device.is_emulated() {
            true => {
                format!("\nCounters at {}, exact:\n{}", size(subject, largest.shape), counters(largest))
            }
            false => "\nCounters: run this program under ncu; only the emulated device counts by itself.\n".to_owned(),
        };
    }
    text += &format!("\nOver sizes, times {}:\n", lesson.times());
    text += &sizes(subject, sweep);
    text
}

/// One row a launch, the sum, and the fused kernel.
fn chain(subject: &Subject, point: &Point, ceiling: f64) -> String {
    let exercise = subject.exercise;
    let shape = point.shape;
    let mut table = new_table(&["launch", "reads", "writes", "B/element", "MB", "time", "GB/s", "of a copy"]);
    let mut row = |name: &str, reads: String, writes: String, bytes: u64, ns: f64| {
        let rate = bytes as f64 / (ns * 1e-9);
        table.add_row([
            name.to_owned(),
            reads,
            writes,
            format!("{:.0}", bytes as f64 / shape.elements() as f64),
            format!("{:.1}", bytes as f64 / 1e6),
            duration(ns),
            format!("{:.0}", rate / 1e9),
            format!("{:.0}%", 100.0 * rate / ceiling),
        ]);
    };
    for (step, ns) in exercise.unfused.iter().zip(&point.steps) {
        row(step.kernel, step.reads.join(", "), step.writes.join(", "), step.bytes(exercise, shape), *ns);
    }
    let launches = format!("unfused: {} launches", exercise.unfused.len());
    row(&launches, String::new(), String::new(), exercise.unfused_bytes(shape), point.unfused);
    for (Rung { name, step, .. }, ns) in &point.fused {
        row(name, read_by(exercise, step), step.writes.join(", "), exercise.minimum_bytes(shape), *ns);
    }
    format!("{table}\n")
}

/// What a fused kernel reads: with what it updates, which is an argument once and stands among what it writes.
fn read_by(exercise: &Exercise, Step { reads, writes, .. }: &Step) -> String {
    let updated = exercise.outputs.iter().filter(|output| output.updated).map(|output| output.name);
    let updated = updated.filter(|name| writes.contains(name) && !reads.contains(name));
    reads.iter().copied().chain(updated).collect::<Vec<_>>().join(", ")
}

/// Traffic as bars, one character for each byte an element.
fn bars(subject: &Subject) -> String {
    let exercise = subject.exercise;
    // Per element of a large problem, where a buffer with an element a row or a column counts next to nothing.
    let large = match subject.columns.first() {
        None => Shape::flat(1 << 20),
        Some(&columns) => Shape::of(1 << 20, columns.max(1)),
    };
    let each = |bytes: u64| (bytes as f64 / large.elements() as f64).round() as usize;
    let bar = |bytes: u64, mark: &str| mark.repeat(each(bytes));
    let marks = ["#", "="];
    let steps: String =
        exercise.unfused.iter().enumerate().map(|(i, s)| bar(s.bytes(exercise, large), marks[i % 2])).collect();
    let (unfused, minimum) = (exercise.unfused_bytes(large), exercise.minimum_bytes(large));
    let fused = bar(minimum, "#");
    format!("  unfused {:>3} {steps}\n  fused   {:>3} {fused}\n", each(unfused), each(minimum))
}

/// One row a kernel. The columns are Nsight Compute's `l1tex__t_requests` and `l1tex__t_sectors` of
/// `pipe_lsu_mem_global_op_ld` and `_st`, and `dram__bytes` of a cold cache that writes everything back.
fn counters(point: &Point) -> String {
    let mut table =
        new_table(&["kernel", "ld requests", "ld sectors", "st requests", "st sectors", "DRAM read", "DRAM written"]);
    for launch in &point.counters {
        let counters = &launch.counters;
        let numbers = [
            counters.global_load.requests,
            counters.global_load.sectors,
            counters.global_store.requests,
            counters.global_store.sectors,
            counters.dram_read_bytes,
            counters.dram_write_bytes,
        ];
        table.add_row([launch.kernel.clone()].into_iter().chain(numbers.map(|n| grouped(n as usize))));
    }
    format!("{table}\n")
}

/// One row a size, with a time and a speedup for each fused kernel that can do it.
fn sizes(subject: &Subject, sweep: &Sweep) -> String {
    let exercise = subject.exercise;
    let mut header = vec![if subject.columns.is_empty() { "elements" } else { "rows x length" }, "unfused"];
    let mut names: Vec<&str> = Vec::new();
    for (rung, _) in sweep.points.iter().flat_map(|point| &point.fused) {
        if !names.contains(&rung.name) {
            names.push(rung.name);
        }
    }
    header.extend(names.iter().flat_map(|name| [name, "speedup"]));
    header.extend(["by bytes", "by launches", "the last, of a copy"]);
    let mut table = new_table(&header);
    for point in &sweep.points {
        let mut row = vec![size(subject, point.shape).replace(" elements", ""), duration(point.unfused)];
        for name in &names {
            let found = point.fused.iter().find(|(rung, _)| rung.name == *name);
            row.extend(
                found.map_or_else(Default::default, |(_, ns)| [duration(*ns), format!("{:.2}x", point.unfused / ns)]),
            );
        }
        let fastest = point.fused.last().map_or(f64::NAN, |(_, ns)| *ns);
        let rate = exercise.minimum_bytes(point.shape) as f64 / (fastest * 1e-9);
        row.extend([
            format!("{:.2}x", exercise.ideal_speedup(point.shape)),
            format!("{:.2}x", exercise.unfused.len() as f64),
            format!("{:.0}%", 100.0 * rate / sweep.ceiling),
        ]);
        table.add_row(row);
    }
    format!("{table}\n")
}

/// A table whose first column is text and whose others are numbers.
pub fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// `1048576` as `1,048,576`.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join(",")
}

/// `4,096 elements`, `1,024 x 4,096`.
fn size(subject: &Subject, shape: Shape) -> String {
    match subject.columns {
        [] => format!("{} elements", grouped(shape.elements())),
        _ => format!("{} x {}", grouped(shape.rows), grouped(shape.columns)),
    }
}

/// Nanoseconds with a unit that suits them.
pub fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns => format!("{:.3} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_updated_is_read_too() {
        let exercise = &fusion_course::day24::add_rmsnorm::EXERCISE;
        let fused = Step::by_row("fused", &["x", "weight"], &["residual", "out"]);
        assert_eq!(read_by(exercise, &fused), "x, weight, residual");
        // Nothing is named twice.
        let add = &exercise.unfused[0];
        assert_eq!(read_by(exercise, add), "residual, x");
    }

    #[test]
    fn numbers_read_well() {
        for (n, expected) in [(1, "1"), (999, "999"), (4096, "4,096"), (1 << 26, "67,108,864")] {
            assert_eq!(grouped(n), expected);
        }
        for (ns, expected) in [(12.0, "12 ns"), (2_345.0, "2.35 us"), (1_234_567.0, "1.235 ms")] {
            assert_eq!(duration(ns), expected);
        }
    }
}
