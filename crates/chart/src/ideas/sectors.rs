//! Which sectors of memory one access of a warp touches.

use std::collections::BTreeSet;

use super::{Colour, Panel, SIDE, Sketch, WIDTH, rectangle};
use crate::style::AXIS;

const LANES: u64 = 32;
const SECTOR: u64 = 32;
/// What a row of the drawing holds.
const ROW: u64 = 128;

/// One access: lane `l` reads `width` bytes at `first + l * stride`.
struct Access {
    name: &'static str,
    title: &'static str,
    width: u64,
    first: u64,
    stride: u64,
}

const ACCESSES: [Access; 4] = [
    Access { name: "coalesced", title: "Coalesced: x[i], 4 bytes", width: 4, first: 0, stride: 4 },
    Access { name: "misaligned", title: "Misaligned: x[i + 1], 4 bytes", width: 4, first: 4, stride: 4 },
    Access { name: "narrow", title: "Narrow: h[i], 2 bytes", width: 2, first: 0, stride: 2 },
    Access { name: "strided", title: "Strided: x[8 * i], 4 bytes", width: 4, first: 0, stride: 32 },
];

impl Access {
    fn addresses(&self) -> impl Iterator<Item = u64> {
        (0..LANES).map(|lane| self.first + lane * self.stride)
    }

    /// The sectors that it touches, by their number from the first address on.
    fn sectors(&self) -> BTreeSet<u64> {
        self.addresses().flat_map(|at| [at / SECTOR, (at + self.width - 1) / SECTOR]).collect()
    }
}

pub(super) fn panels() -> Vec<Panel> {
    ACCESSES.iter().map(panel).collect()
}

fn panel(access: &Access) -> Panel {
    let mut sketch = Sketch::new(access.title);
    let sectors = access.sectors();
    let unit = (WIDTH - 2.0 * SIDE) / ROW as f64;
    let rows = (sectors.last().copied().unwrap_or(0) * SECTOR / ROW + 1).max(2);
    let (top, height, step) = (sketch.y + 6.0, 16.0, 21.0);
    let place = |at: u64| (SIDE + unit * (at % ROW) as f64, top + step * (at / ROW) as f64);
    let (mut outline, mut touched, mut used) = (String::new(), String::new(), String::new());
    for sector in 0..rows * ROW / SECTOR {
        let (x, y) = place(sector * SECTOR);
        let path = rectangle(x, y, unit * SECTOR as f64, height);
        outline += &path;
        if sectors.contains(&sector) {
            touched += &path;
        }
    }
    for at in access.addresses() {
        let (x, y) = place(at);
        used += &rectangle(x + 0.6, y + 3.0, unit * access.width as f64 - 1.2, height - 6.0);
    }
    sketch.svg.fill(&touched, Colour::Cost.ink(), 0.35);
    sketch.svg.fill(&used, Colour::Used.ink(), 1.0);
    sketch.svg.stroke(&outline, AXIS, 1.2, "");
    sketch.y = top + step * rows as f64 + 2.0;
    let (fetched, wanted) = (sectors.len() as u64 * SECTOR, LANES * access.width);
    let says =
        format!("{} sectors, {fetched} bytes: {}% are used.", sectors.len(), 100.0 * wanted as f64 / fetched as f64);
    sketch.say(&says);
    let words = format!("32 lanes read {} bytes each. {says}", access.width);
    sketch.finish(&format!("sectors-{}", access.name), &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_those_that_a_gpu_fetches() {
        let counts: Vec<usize> = ACCESSES.iter().map(|access| access.sectors().len()).collect();
        assert_eq!(counts, [4, 5, 2, 32]);
    }
}
