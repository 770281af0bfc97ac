//! What stands above a picture.

/// Where a picture's numbers come from. It is part of every title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Timed on hardware.
    Measured,
    /// The time model of the emulated device.
    Predicted,
    /// Counted, not timed: bytes of a byte model or of the emulator's counters.
    Counted,
}

impl Basis {
    /// The word in the title.
    pub fn word(self) -> &'static str {
        match self {
            Basis::Measured => "measured",
            Basis::Predicted => "predicted",
            Basis::Counted => "counted",
        }
    }
}

/// A picture's title, with where its numbers come from.
#[derive(Clone, Debug)]
pub struct Heading {
    /// What is shown, without the basis: `add_gelu: time over size`.
    pub title: String,
    pub basis: Basis,
    /// Machine, date and command, in small print under the title and in the text's first line. May be empty.
    pub source: String,
}

impl Heading {
    /// The title as it is shown: `add_gelu: time over size (measured)`.
    pub(crate) fn full_title(&self) -> String {
        format!("{} ({})", self.title.trim(), self.basis.word())
    }
}
