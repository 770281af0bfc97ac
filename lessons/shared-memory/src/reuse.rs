//! Where an element waits that is needed nine times.

use fusion_course::Shape;
use fusion_lesson::{LessonError, duration, grouped, new_table};

use crate::bench::{Arg, Bench, Cache, Launch, compare, values};

const RADIUS: usize = 4;
const THREADS: usize = 256;

/// Name, kernel, results per thread, and what the row's length must be a multiple of.
const VARIANTS: [(&str, &str, usize, usize); 3] = [
    ("nine global loads", "mean_global", 1, 1),
    ("a tile in shared memory", "mean_shared", 1, 1),
    ("four results per thread", "mean_registers", 4, 4),
];

pub(crate) fn show(bench: &mut Bench, shape: Shape) -> Result<String, LessonError> {
    let Shape { rows, columns, .. } = shape;
    let input = values(shape.elements());
    let x = bench.upload(&input)?;
    let mut header = vec!["variant"];
    if bench.lesson.device.is_emulated() {
        header.extend(["requests", "sectors", "shared wavefronts", "DRAM read"]);
    }
    header.extend(["time", "of a copy"]);
    let mut table = new_table(&header);
    for (name, kernel, each, multiple) in VARIANTS {
        if !columns.is_multiple_of(multiple) {
            continue;
        }
        let out = bench.zeros::<f32>(shape.elements())?;
        let blocks = columns.div_ceil(each * THREADS);
        let launch = Launch {
            kernel,
            blocks: (rows * blocks) as u32,
            threads: THREADS as u32,
            arguments: vec![bench.address(&x), bench.address(&out), Arg::Size(columns as u64), Arg::Int(blocks as i32)],
        };
        let run = bench.run(&launch, Cache::Cold)?;
        let expected = input.chunks(columns).flat_map(|row| (0..columns).map(|c| mean(row, c)));
        // Nine values of at most 1, added one after the other, and a product.
        compare(&bench.download(&out)?, expected, 10.0 * f64::from(f32::EPSILON), &launch)?;

        let mut row = vec![name.to_owned()];
        row.extend(run.report.into_iter().flat_map(|report| {
            let counters = report.counters;
            let per_32 = |count: u64| format!("{:.2}", 32.0 * count as f64 / shape.elements() as f64);
            let shared = counters.shared_load.sectors + counters.shared_store.sectors;
            let loads = counters.global_load;
            [per_32(loads.requests), per_32(loads.sectors), per_32(shared)]
                .into_iter()
                .chain([format!("{:.1} MB", counters.dram_read_bytes as f64 / 1e6)])
        }));
        let rate = (2 * size_of::<f32>() * shape.elements()) as f64 / (run.ns * 1e-9);
        row.extend([duration(run.ns), format!("{:.0}%", 100.0 * rate / bench.ceiling)]);
        table.add_row(row);
    }
    let counted = match bench.lesson.device.is_emulated() {
        true => "\nRequests, sectors and wavefronts are those of loads and of shared memory, per 32 results.",
        false => "",
    };
    Ok(format!(
        "\n3. Reuse: the mean of nine neighbours, {} x {} floats, times {}\n\n\
         Each element is needed nine times, and 8 bytes per element must move.{counted}\n\n{table}\n",
        grouped(rows),
        grouped(columns),
        bench.lesson.times()
    ))
}

/// The mean of an element and its neighbours.
fn mean(row: &[f32], c: usize) -> f64 {
    let near = c.saturating_sub(RADIUS)..row.len().min(c + RADIUS + 1);
    row.get(near).unwrap_or_default().iter().map(|v| f64::from(*v)).sum::<f64>() / (2 * RADIUS + 1) as f64
}
