//! An essay on every code: what it means, what a real GPU does, a wrong kernel and a right one.
//!
//! They are Markdown files, which the book includes. In the terminal they are plain text.

mod markdown;

use fusion_machine::report::Code;

use crate::Look;
use crate::say::{class, meaning};
use crate::wrap::wrap;

/// Columns that text is set in at most. Longer lines are hard to read.
const WIDEST: usize = 80;

/// The essay on a code, in Markdown.
pub fn of(code: Code) -> &'static str {
    match code {
        Code::OobGlobal => include_str!("../essays/E-OOB-GLOBAL.md"),
        Code::OobShared => include_str!("../essays/E-OOB-SHARED.md"),
        Code::ClusterRank => include_str!("../essays/E-CLUSTER-RANK.md"),
        Code::ClusterSpace => include_str!("../essays/E-CLUSTER-SPACE.md"),
        Code::ClusterExited => include_str!("../essays/E-CLUSTER-EXITED.md"),
        Code::OobLocal => include_str!("../essays/E-OOB-LOCAL.md"),
        Code::OobConst => include_str!("../essays/E-OOB-CONST.md"),
        Code::OobParam => include_str!("../essays/E-OOB-PARAM.md"),
        Code::Null => include_str!("../essays/E-NULL.md"),
        Code::HostPointer => include_str!("../essays/E-HOST-POINTER.md"),
        Code::Unmapped => include_str!("../essays/E-UNMAPPED.md"),
        Code::UseAfterFree => include_str!("../essays/E-USE-AFTER-FREE.md"),
        Code::Misaligned => include_str!("../essays/E-MISALIGNED.md"),
        Code::WriteReadonly => include_str!("../essays/E-WRITE-READONLY.md"),
        Code::TensorMap => include_str!("../essays/E-TENSOR-MAP.md"),
        Code::UninitGlobal => include_str!("../essays/E-UNINIT-GLOBAL.md"),
        Code::UninitShared => include_str!("../essays/E-UNINIT-SHARED.md"),
        Code::UninitLocal => include_str!("../essays/E-UNINIT-LOCAL.md"),
        Code::UninitRegister => include_str!("../essays/E-UNINIT-REGISTER.md"),
        Code::CopyUninit => include_str!("../essays/W-COPY-UNINIT.md"),
        Code::RaceShared => include_str!("../essays/E-RACE-SHARED.md"),
        Code::RaceCluster => include_str!("../essays/E-RACE-CLUSTER.md"),
        Code::RaceGlobal => include_str!("../essays/E-RACE-GLOBAL.md"),
        Code::RaceBlocks => include_str!("../essays/E-RACE-BLOCKS.md"),
        Code::RaceScope => include_str!("../essays/E-RACE-SCOPE.md"),
        Code::RaceAsync => include_str!("../essays/E-RACE-ASYNC.md"),
        Code::ProxyFence => include_str!("../essays/E-PROXY-FENCE.md"),
        Code::NcWritten => include_str!("../essays/E-NC-WRITTEN.md"),
        Code::RaceStreams => include_str!("../essays/E-RACE-STREAMS.md"),
        Code::RaceHost => include_str!("../essays/E-RACE-HOST.md"),
        Code::RaceBenign => include_str!("../essays/W-RACE-BENIGN.md"),
        Code::RaceIdiom => include_str!("../essays/W-RACE-IDIOM.md"),
        Code::WarpSynchronous => include_str!("../essays/W-WARP-SYNCHRONOUS.md"),
        Code::BarrierDivergent => include_str!("../essays/E-BARRIER-DIVERGENT.md"),
        Code::BarrierMismatch => include_str!("../essays/E-BARRIER-MISMATCH.md"),
        Code::BarrierRounds => include_str!("../essays/E-BARRIER-ROUNDS.md"),
        Code::BarrierId => include_str!("../essays/E-BARRIER-ID.md"),
        Code::ClusterBarrier => include_str!("../essays/E-CLUSTER-BARRIER.md"),
        Code::Mbarrier => include_str!("../essays/E-MBARRIER.md"),
        Code::WarpgroupPartial => include_str!("../essays/E-WARPGROUP-PARTIAL.md"),
        Code::WarpgroupDescriptor => include_str!("../essays/E-WARPGROUP-DESCRIPTOR.md"),
        Code::WarpgroupRegister => include_str!("../essays/E-WARPGROUP-REGISTER.md"),
        Code::WarpgroupFence => include_str!("../essays/E-WARPGROUP-FENCE.md"),
        Code::WarpgroupOverwrite => include_str!("../essays/E-WARPGROUP-OVERWRITE.md"),
        Code::BarrierCount => include_str!("../essays/E-BARRIER-COUNT.md"),
        Code::SyncMask => include_str!("../essays/E-SYNC-MASK.md"),
        Code::Deadlock => include_str!("../essays/E-DEADLOCK.md"),
        Code::Cooperative => include_str!("../essays/E-COOPERATIVE.md"),
        Code::Budget => include_str!("../essays/E-BUDGET.md"),
        Code::Trap => include_str!("../essays/E-TRAP.md"),
        Code::Assert => include_str!("../essays/E-ASSERT.md"),
        Code::Stack => include_str!("../essays/E-STACK.md"),
        Code::Call => include_str!("../essays/E-CALL.md"),
        Code::LaunchGrid => include_str!("../essays/E-LAUNCH-GRID.md"),
        Code::LaunchBlock => include_str!("../essays/E-LAUNCH-BLOCK.md"),
        Code::LaunchCluster => include_str!("../essays/E-LAUNCH-CLUSTER.md"),
        Code::LaunchShared => include_str!("../essays/E-LAUNCH-SHARED.md"),
        Code::LaunchLocal => include_str!("../essays/E-LAUNCH-LOCAL.md"),
        Code::LaunchParams => include_str!("../essays/E-LAUNCH-PARAMS.md"),
        Code::LaunchKernel => include_str!("../essays/E-LAUNCH-KERNEL.md"),
        Code::LaunchMemory => include_str!("../essays/E-LAUNCH-MEMORY.md"),
        Code::Copy => include_str!("../essays/E-COPY.md"),
        Code::Free => include_str!("../essays/E-FREE.md"),
        Code::Module => include_str!("../essays/E-MODULE.md"),
        Code::OutOfMemory => include_str!("../essays/E-OUT-OF-MEMORY.md"),
        Code::UnsupportedInstruction => include_str!("../essays/E-UNSUPPORTED-INSTRUCTION.md"),
        Code::IndexOverflow => include_str!("../essays/L-INDEX-OVERFLOW.md"),
        Code::Shift => include_str!("../essays/L-SHIFT.md"),
        Code::FloatToInt => include_str!("../essays/L-FLOAT-TO-INT.md"),
        Code::DivideByZero => include_str!("../essays/L-DIVIDE-BY-ZERO.md"),
        Code::Uncoalesced => include_str!("../essays/P-UNCOALESCED.md"),
        Code::BankConflict => include_str!("../essays/P-BANK-CONFLICT.md"),
        Code::ScalarAccess => include_str!("../essays/P-SCALAR-ACCESS.md"),
        Code::LocalMemory => include_str!("../essays/P-LOCAL-MEMORY.md"),
        Code::Divergent => include_str!("../essays/P-DIVERGENT.md"),
        Code::UnusedShared => include_str!("../essays/P-SHARED-UNUSED.md"),
        Code::RoundTrip => include_str!("../essays/P-ROUND-TRIP.md"),
    }
}

/// The code that somebody means by `e-null`, `E_NULL` or `null`.
///
/// # Errors
/// The codes that are most like it.
pub fn find(asked: &str) -> Result<Code, Vec<Code>> {
    let asked = asked.trim().to_uppercase().replace(['_', ' '], "-");
    let codes = || Code::ALL.iter().copied();
    let bare = |code: Code| code.as_str().split_once('-').map_or(code.as_str(), |(_, bare)| bare);
    let exact = codes().find(|code| code.as_str() == asked);
    if let Some(code) = exact.or_else(|| codes().find(|&code| bare(code) == asked)) {
        return Ok(code);
    }
    // `race` is the beginning, or the middle, of several.
    let mut like: Vec<Code> = codes().filter(|code| !asked.is_empty() && code.as_str().contains(&asked)).collect();
    if like.is_empty() {
        // No code is as long, and to compare takes time.
        let asked: String = asked.chars().take(64).collect();
        let distance = |code: &Code| {
            let whole = strsim::damerau_levenshtein(&asked, code.as_str());
            whole.min(strsim::damerau_levenshtein(&asked, bare(*code)))
        };
        like = codes().collect();
        like.sort_by_cached_key(distance);
        like.truncate(3);
    }
    Err(like)
}

/// The essay on a code as plain text for a terminal, within 80 columns.
pub fn text(code: Code, look: Look) -> String {
    markdown::plain(of(code), look.columns().min(WIDEST), look.color)
}

/// All codes with what they mean, by class.
pub fn index(look: Look) -> String {
    let columns = look.columns().min(WIDEST);
    let longest = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut last = None;
    for &code in Code::ALL {
        if last.replace(code.class()) != Some(code.class()) {
            text += if text.is_empty() { "" } else { "\n" };
            text += &format!("{}\n", class(code.class()));
        }
        let meaning = meaning(code);
        let indent = longest + 4;
        let meaning = match columns.saturating_sub(indent) {
            room if room >= 24 => wrap(meaning, room).replace('\n', &format!("\n{}", " ".repeat(indent))),
            // Too narrow for two columns.
            _ => format!("\n    {}", wrap(meaning, columns - 4).replace('\n', "\n    ")),
        };
        text += &format!("  {code:longest$}  {meaning}\n");
    }
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for asked in ["E-RACE-SHARED", "e-race-shared", "race-shared", "RACE_SHARED", " race shared "] {
            assert_eq!(find(asked), Ok(Code::RaceShared), "{asked}");
        }
        assert_eq!(find("divergent"), Ok(Code::Divergent));
    }

    #[test]
    fn an_unknown_code_is_answered_with_those_like_it() {
        assert_eq!(find("E-MISALINGED").unwrap_err()[0], Code::Misaligned);
        assert!(find("race").unwrap_err().contains(&Code::RaceShared));
        assert!(!find("").unwrap_err().is_empty());
    }

    #[test]
    fn the_index_is_by_class() {
        let index = index(Look::default());
        assert!(index.lines().all(|line| line.len() <= WIDEST), "{index}");
        assert!(index.starts_with("Memory\n  E-OOB-GLOBAL"), "{index}");
    }
}
