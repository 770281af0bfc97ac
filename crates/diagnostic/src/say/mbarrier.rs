//! Objects in shared memory that count arrivals.

use fusion_machine::report::Fault;
use fusion_machine::report::kind::{Mbarrier, Phase};

use super::Words;
use super::terms::named;
use crate::counted;

pub(super) fn words(kind: &Mbarrier, fault: &Fault) -> Words {
    let object = fault.buffer.as_ref().map_or_else(|| "the mbarrier".to_owned(), named);
    match kind {
        Mbarrier::NotInitialised { invalidated: false } => {
            Words::new(format!("{object} is used as an mbarrier before it was initialised")).help(
                "let one thread do `mbarrier.init` (`init(&bar, count)`) on it, and put a barrier between that and its first use: \
                 `__syncthreads()`, or `cluster.sync()` where other blocks use it",
            )
        }
        Mbarrier::NotInitialised { invalidated: true } => {
            Words::new(format!("{object} is used as an mbarrier after it was invalidated"))
                .help("initialise it again before the next use, or invalidate it later: behind a barrier that all its users come to")
        }
        Mbarrier::Count { count } => Words::new(format!("an mbarrier for {}", counted(*count, "arrival")))
            .note("a phase has 1 to 1048575 arrivals"),
        Mbarrier::TooMany { arrivals, phase } => {
            Words::new(format!("more threads arrive at {object} than its phase counts"))
                .label(format!("{} here", counted(*arrivals, "arrival")))
                .note(state(phase))
                .help("initialise it with the number of arrivals that a phase really has, and let nobody arrive again before the phase is complete")
        }
        Mbarrier::Waits { lanes, phase } => {
            Words::new("threads wait at an mbarrier for a phase that nobody completes")
                .label(format!("{} of this warp looked here last", counted((*lanes).into(), "thread")))
                .note(state(phase))
                .note("every thread that is left waits, and none of them arrives or stores anything any more")
                .help(match phase.bytes {
                    0 => "let as many threads arrive as it was initialised with; and look whether the parity that is waited for is that of the present phase",
                    _ => "let `expect_tx` name as many bytes as the copies and stores bring that are told to complete on it",
                })
        }
    }
}

/// How far a phase is.
fn state(phase: &Phase) -> String {
    let Phase { odd, pending, expected, bytes } = *phase;
    let parity = u8::from(odd);
    let came = expected.saturating_sub(pending);
    let bytes = match bytes {
        0 => String::new(),
        n if n > 0 => format!(", and lacks {}", counted(n as u64, "byte")),
        n => format!(", and {} that nobody has announced", counted(n.unsigned_abs(), "byte")),
    };
    format!("its present phase, of parity {parity}, has {came} of {}{bytes}", counted(expected, "arrival"))
}
