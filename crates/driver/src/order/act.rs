//! What an operation does to memory, as far as it matters to others.

use std::sync::Arc;

use fusion_machine::{Footprint, Span};

use crate::launch::Launch;

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Launch(Arc<Launch>),
    ToDevice,
    ToHost,
    WithinDevice,
    Memset,
    Free,
}

impl Act {
    /// Whether the host's memory is the other end.
    pub(super) fn with_host(&self) -> bool {
        matches!(self, Self::ToDevice | Self::ToHost)
    }

    /// As the subject of a sentence.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Launch(launch) => format!("`{}`", launch.kernel_name()),
            Self::ToDevice => "a copy to the device".into(),
            Self::ToHost => "a copy to the host".into(),
            Self::WithinDevice => "a copy within the device".into(),
            Self::Memset => "a memset".into(),
            Self::Free => "a free".into(),
        }
    }
}

/// Rows that are read and written, each by address and length, to the byte.
pub(crate) fn footprint(
    read: impl IntoIterator<Item = (u64, u64)>,
    written: impl IntoIterator<Item = (u64, u64)>,
) -> Footprint {
    Footprint { exact: true, communicates: false, read: spans(read), written: spans(written) }
}

fn spans(rows: impl IntoIterator<Item = (u64, u64)>) -> Vec<Span> {
    /// A copy of more rows is taken for its first ones.
    const ROWS: usize = 4096;
    rows.into_iter().take(ROWS).map(|(start, len)| Span { start, end: start + len, pc: None }).collect()
}
