//! The memories of a GPU: where they are, how large they are, how long a load waits.

use super::{Colour, LINE, Panel, SIDE, Sketch, WIDTH};
use crate::svg::{Anchor, Area};

/// What a GPU has.
#[derive(Clone, Debug)]
pub struct Device {
    pub name: String,
    pub sms: u64,
    /// Bytes of registers of a multiprocessor.
    pub registers: u64,
    /// Bytes of shared memory that a multiprocessor has at most.
    pub shared: u64,
    /// Bytes of L1 and shared memory together.
    pub l1: u64,
    pub l2: u64,
    pub memory: u64,
}

/// How long one step takes of a chain of loads, each of which needs the result of the one before, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Waits {
    pub shared: f64,
    pub l1: f64,
    pub l2: f64,
    pub dram: f64,
    /// On which machine they were measured, and where they are stored.
    pub source: String,
}

pub(super) fn panels(device: &Device, waits: &Waits) -> Vec<Panel> {
    vec![places(device), times(device, waits)]
}

fn places(device: &Device) -> Panel {
    let mut sketch = Sketch::new(&format!("Where data can be, on an {}", device.name));
    let (left, inner) = (SIDE, WIDTH - 2.0 * SIDE);
    let top = sketch.y;
    sketch.bold(left + inner / 2.0, top + 18.0, Anchor::Middle, &format!("multiprocessor, 1 of {}", device.sms));
    let on_chip = [
        ("registers".to_owned(), format!("{}; each belongs to one thread", size(device.registers))),
        ("shared memory and L1".to_owned(), format!("{} together,", size(device.l1))),
    ];
    let mut y = top + 28.0;
    for (row, (name, room)) in on_chip.iter().enumerate() {
        let height = if row == 0 { 44.0 } else { 44.0 + LINE };
        let area = Area { x: left + 12.0, y, width: inner - 24.0, height };
        sketch.cell(area, Colour::Kept, "");
        sketch.bold(WIDTH / 2.0, y + 18.0, Anchor::Middle, name);
        sketch.text(WIDTH / 2.0, y + 18.0 + LINE, Anchor::Middle, room);
        if row == 1 {
            let most = format!("up to {} of it shared memory", size(device.shared));
            sketch.text(WIDTH / 2.0, y + 18.0 + 2.0 * LINE, Anchor::Middle, &most);
        }
        y += height + 10.0;
    }
    sketch.cell(Area { x: left, y: top, width: inner, height: y - top }, Colour::Plain, "");
    for (name, room, colour) in [
        ("L2", format!("{}, for all multiprocessors", size(device.l2)), Colour::Used),
        ("DRAM, the global memory", format!("{}, for all", size(device.memory)), Colour::Cost),
    ] {
        sketch.arrow((WIDTH / 2.0 - 40.0, y + 22.0), (WIDTH / 2.0 - 40.0, y + 2.0), 2.0, Colour::Plain);
        sketch.arrow((WIDTH / 2.0 + 40.0, y + 2.0), (WIDTH / 2.0 + 40.0, y + 22.0), 2.0, Colour::Plain);
        y += 24.0;
        sketch.cell(Area { x: left, y, width: inner, height: 44.0 }, colour, "");
        sketch.bold(WIDTH / 2.0, y + 18.0, Anchor::Middle, name);
        sketch.text(WIDTH / 2.0, y + 18.0 + LINE, Anchor::Middle, &room);
        y += 44.0;
    }
    sketch.y = y;
    let words = format!(
        "Each of the {} multiprocessors has {} of registers. Its L1 and its shared memory have {} together. Below them is the L2 \
         with {}, and below that the DRAM with {}.",
        device.sms,
        size(device.registers),
        size(device.l1),
        size(device.l2),
        size(device.memory)
    );
    sketch.finish("hierarchy-places", &words)
}

fn times(device: &Device, waits: &Waits) -> Panel {
    let mut sketch = Sketch::new("How long one load waits");
    let rows = [
        ("registers", None, Colour::Kept),
        ("shared memory", Some(waits.shared), Colour::Kept),
        ("L1", Some(waits.l1), Colour::Kept),
        ("L2", Some(waits.l2), Colour::Used),
        ("DRAM, idle", Some(waits.dram), Colour::Cost),
    ];
    let longest = rows.iter().filter_map(|row| row.1).fold(1.0, f64::max);
    let room = WIDTH - 2.0 * SIDE;
    let mut words = String::new();
    for (name, wait, colour) in rows {
        let says = wait.map_or("no load at all".to_owned(), |ns| format!("{ns:.0} ns"));
        sketch.bold(SIDE, sketch.y + 14.0, Anchor::Start, name);
        sketch.text(WIDTH - SIDE, sketch.y + 14.0, Anchor::End, &says);
        if let Some(ns) = wait {
            let area = Area { x: SIDE, y: sketch.y + 20.0, width: room * ns / longest, height: 16.0 };
            sketch.cell(area, colour, "");
        }
        sketch.y += if wait.is_some() { 46.0 } else { 26.0 };
        words += &format!("{name}: {says}. ");
    }
    sketch.y += 2.0;
    sketch.say(&format!(
        "Measured on an {}: many loads in a row. Each load needs the result of the load before.",
        device.name
    ));
    sketch.finish("hierarchy-times", &format!("{words}From {}.", waits.source))
}

/// Bytes in the unit in which people know them.
fn size(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes {
        0..MIB => format!("{} KiB", bytes / KIB),
        MIB..0x4000_0000 => format!("{} MiB", bytes / MIB),
        _ => format!("{} GB", (bytes as f64 / 1e9).round()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_in_their_units() {
        assert_eq!(super::size(262_144), "256 KiB");
        assert_eq!(super::size(62_914_560), "60 MiB");
        assert_eq!(super::size(150_754_820_096), "151 GB");
    }
}
