//! What crosses between memory and kernels, of a chain and of the fused kernel.

use super::{Colour, LINE, Panel, SIDE, Sketch, WIDTH};
use crate::svg::{Anchor, Area};

/// A kernel, with what it reads and what it writes: f32, 4 bytes per element each.
struct Kernel {
    name: &'static str,
    reads: &'static [&'static str],
    writes: &'static str,
}

const CHAIN: &[Kernel] = &[
    Kernel { name: "add", reads: &["a", "b"], writes: "sum" },
    Kernel { name: "sigmoid", reads: &["sum"], writes: "out" },
];
const FUSED: &[Kernel] = &[Kernel { name: "add_sigmoid", reads: &["a", "b"], writes: "out" }];
const BYTES: usize = 4;
/// What one kernel writes for the next.
const INTERMEDIATE: &str = "sum";

pub(super) fn panels() -> Vec<Panel> {
    vec![panel("traffic-unfused", "Unfused: two kernels", CHAIN), panel("traffic-fused", "Fused: one kernel", FUSED)]
}

fn panel(name: &str, title: &str, kernels: &[Kernel]) -> Panel {
    let mut sketch = Sketch::new(title);
    let (memory, kernel, width) = (SIDE, WIDTH - SIDE - 118.0, 118.0);
    let memory_width = 62.0;
    let top = sketch.y + 4.0;
    let mut y = top;
    let (mut bytes, mut words) = (0, String::new());
    for each in kernels {
        let accesses: Vec<(&str, bool)> =
            each.reads.iter().map(|&read| (read, true)).chain([(each.writes, false)]).collect();
        let height = 34.0 * accesses.len() as f64;
        sketch.cell(Area { x: kernel, y, width, height }, Colour::Kept, "");
        sketch.bold(kernel + width / 2.0, y + height / 2.0 - 3.0, Anchor::Middle, each.name);
        let inside = if kernels.len() == 1 { "sum: a register" } else { "a launch" };
        sketch.text(kernel + width / 2.0, y + height / 2.0 - 3.0 + LINE, Anchor::Middle, inside);
        for (at, (data, read)) in accesses.into_iter().enumerate() {
            let y = y + 34.0 * at as f64;
            let colour = if data == INTERMEDIATE { Colour::Cost } else { Colour::Used };
            let (left, right) = ((memory + memory_width + 4.0, y + 24.0), (kernel - 4.0, y + 24.0));
            let (from, to) = if read { (left, right) } else { (right, left) };
            sketch.arrow(from, to, 5.0, colour);
            let label = format!("{data}, {BYTES} B");
            sketch.text((left.0 + right.0) / 2.0, y + 14.0, Anchor::Middle, &label);
            bytes += BYTES;
        }
        words += &format!("{} reads {} and writes {}. ", each.name, each.reads.join(" and "), each.writes);
        y += height + 12.0;
    }
    let area = Area { x: memory, y: top, width: memory_width, height: y - 12.0 - top };
    sketch.cell(area, Colour::Plain, "");
    sketch.bold(memory + memory_width / 2.0, (top + y) / 2.0 - 6.0, Anchor::Middle, "DRAM");
    sketch.y = y - 6.0;
    let launches = if kernels.len() == 1 { "1 launch".to_owned() } else { format!("{} launches", kernels.len()) };
    let says = format!("{bytes} bytes per element, {launches}");
    sketch.bold(SIDE, sketch.y + 16.0, Anchor::Start, &says);
    sketch.y += 20.0;
    sketch.finish(name, &format!("{words}{says}."))
}
