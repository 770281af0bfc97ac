//! Writes one picture of each kind into a folder, to look at: `cargo run -p fusion-chart --example pictures -- FOLDER`. The numbers are made up.

use std::path::Path;

use fusion_chart::{
    Basis, Ceiling, Heading, LineChart, Quantity, Roofline, RooflinePoint, Rule, Series, TrafficBar, TrafficChart,
    TrafficStep,
};

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("roofline.svg"), roofline().render())?;
    std::fs::write(folder.join("lines.svg"), lines().render())?;
    std::fs::write(folder.join("traffic.svg"), traffic().render())
}

fn heading(title: &str, basis: Basis) -> Heading {
    Heading { title: title.to_owned(), basis, source: "no machine: made up to look at".to_owned() }
}

fn roofline() -> Roofline {
    let ceiling = |label: &str, value| Ceiling { label: label.to_owned(), value };
    let point = |label: &str, intensity, rate| RooflinePoint { label: label.to_owned(), intensity, rate };
    Roofline {
        heading: heading("softmax: roofline", Basis::Predicted),
        bandwidths: vec![ceiling("DRAM", 4.8e12), ceiling("L2", 10e12)],
        peaks: vec![ceiling("float32 FMA", 67e12)],
        points: vec![
            point("unfused", 0.4, 0.9e12),
            point("naive", 0.8, 1.1e12),
            point("one pass", 0.8, 2.6e12),
            point("16-byte", 0.8, 3.4e12),
            point("tuned", 0.8, 3.6e12),
        ],
    }
}

fn lines() -> LineChart {
    let series = |name: &str, overhead: f64, bytes: f64| Series {
        name: name.to_owned(),
        points: (12..28).map(|power| f64::from(1u32 << power)).map(|n| (n, overhead + n * bytes / 4.2e12)).collect(),
    };
    LineChart {
        heading: heading("add_gelu: time over size", Basis::Predicted),
        x: Quantity::count("elements"),
        y: Quantity::seconds("time"),
        series: vec![series("unfused", 5e-6, 20.0), series("fused", 2.5e-6, 12.0), series("solution", 2.3e-6, 11.0)],
        rules: vec![Rule { label: "one launch".to_owned(), value: 2.2e-6 }],
    }
}

fn traffic() -> TrafficChart {
    let step = |name: &str, read, written| TrafficStep { name: name.to_owned(), read, written };
    let bar = |name: &str, steps| TrafficBar { name: name.to_owned(), steps };
    TrafficChart {
        heading: heading("quantize_int8: bytes per element", Basis::Counted),
        bars: vec![
            bar(
                "unfused",
                vec![
                    step("scale", 4.0, 4.0),
                    step("add", 4.0, 4.0),
                    step("round", 4.0, 4.0),
                    step("clamp", 4.0, 4.0),
                    step("cast", 4.0, 1.0),
                ],
            ),
            bar("fused", vec![step("quantize_int8", 4.0, 1.0)]),
        ],
    }
}
