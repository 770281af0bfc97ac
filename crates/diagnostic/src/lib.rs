//! Faults as text: what went wrong, at which line, and how to fix it, as rustc shows its errors.
//!
//! A [`Fault`](fusion_machine::Fault) is data. [`say`] puts one into words, a [`Diagnostic`]; [`render`] makes text of one
//! and [`all`] of many, with the source lines that [`Sources`] has at hand, and [`short`] a few lines where there are none.
//! [`essay`] explains a fault's code at length, with a wrong and a right kernel.
//!
//! Nothing here prints or reads files: the caller does, and says in [`Look`] what its terminal can show.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bound;
mod count;
mod diagnostic;
mod excerpt;
mod guard;
mod header;
mod places;
mod say;
mod short;
mod sources;
mod title;
mod wrap;

pub mod essay;
mod render;

pub use bound::{Bounded, bound, bound_of_several, short_of_bound, state, unit};
pub use count::{counted, noun};
pub use diagnostic::{Buffer, Diagnostic, Related};
pub use header::short as short_name;
pub use places::place;
pub use render::{all, more, render, sites};
pub use say::{class, longer_rows, meaning, say, say_all, unknown_check, with_text};
pub use short::short;
pub use sources::{Files, Sources, Text};

/// What the reader's terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// ANSI colours; plain ASCII otherwise.
    pub color: bool,
    /// Columns to keep within, where known.
    pub width: Option<u16>,
}

impl Look {
    /// Columns to keep within: 100 where nobody says, and never fewer than what a line number and a word need.
    fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(100)).max(30)
    }
}
