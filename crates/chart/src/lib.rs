//! Pictures of measurements as SVG text: a [`Roofline`], a [`LineChart`] over sizes, a [`TrafficChart`] of bytes, a [`ScatterChart`], a [`WarpChart`];
//! and of [`ideas`].
//!
//! The text stands inline in a page of the book, inside a `<figure class="chart">`, and takes its colours from CSS variables
//! (`--chart-1` to `--chart-6`, `--chart-text`, `--chart-grid`, `--chart-background`), which the book sets for its light and its dark
//! themes. As a file of its own the fallback values hold: dark ink on white. Series differ in marker and dash, too, so that
//! colour is never the only sign. There are no ids, scripts, style sheets or blank lines: any number of pictures fit in one page.
//!
//! Whatever the data, the text is well-formed and free of NaN: values that a logarithmic axis cannot show are left out.
//! The same data always give the same text.
//!
//! ```
//! use fusion_chart::{Basis, Heading, LineChart, Quantity, Series};
//!
//! let chart = LineChart {
//!     heading: Heading {
//!         title: "add_gelu: time over size".into(),
//!         basis: Basis::Predicted,
//!         source: "Emulated H200, `cargo xtask bench add_gelu --device emulated`".into(),
//!     },
//!     x: Quantity::count("elements"),
//!     y: Quantity::seconds("time"),
//!     series: vec![Series { name: "fused".into(), points: vec![(4096.0, 2.0e-6), (1048576.0, 5.0e-6)] }],
//!     rules: vec![],
//! };
//! assert!(chart.render().starts_with("<svg"));
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod axis;
mod frame;
mod heading;
pub mod ideas;
mod labels;
mod lines;
mod quantity;
mod roofline;
mod scatter;
mod style;
mod svg;
mod traffic;
mod warps;

pub use heading::{Basis, Heading};
pub use lines::{LineChart, Rule, Series};
pub use quantity::Quantity;
pub use roofline::{Ceiling, Roofline, RooflinePoint};
pub use scatter::ScatterChart;
/// For the tests of whole pictures.
#[doc(hidden)]
pub use svg::text_width;
pub use traffic::{TrafficBar, TrafficChart, TrafficStep};
pub use warps::{AccessRow, WarpChart, WarpSpan};
