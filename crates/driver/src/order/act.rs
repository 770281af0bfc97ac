//! What an operation does to memory, as far as it matters to others.

use std::sync::Arc;

use fusion_machine::report::kind;
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
    /// What a report says of it.
    pub(super) fn kind(&self) -> kind::Act {
        match self {
            Self::Launch(launch) => kind::Act::Launch { kernel: launch.kernel_name() },
            Self::ToDevice => kind::Act::ToDevice,
            Self::ToHost => kind::Act::ToHost,
            Self::WithinDevice => kind::Act::WithinDevice,
            Self::Memset => kind::Act::Memset,
            Self::Free => kind::Act::Free,
        }
    }
}

/// Rows that are read and written, each by address and length, to the byte.
pub(crate) fn footprint(
    read: impl IntoIterator<Item = (u64, u64)>,
    written: impl IntoIterator<Item = (u64, u64)>,
) -> Footprint {
    Footprint { exact: true, complete: true, communicates: false, read: spans(read), written: spans(written) }
}

fn spans(rows: impl IntoIterator<Item = (u64, u64)>) -> Vec<Span> {
    /// A copy of more rows is taken for its first ones.
    const ROWS: usize = 4096;
    rows.into_iter().take(ROWS).map(|(start, len)| Span { start, end: start + len, pc: None }).collect()
}
