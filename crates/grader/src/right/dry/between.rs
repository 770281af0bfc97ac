//! Several launches, of which one reads what another has left in lent buffers.
//!
//! Of each launch the same few blocks are executed. Lent buffers repeat themselves as the problem does, so that the blocks of one period's
//! work write all that there is of them. The last blocks have that, in most orders of a grid. Where they have not, what a later launch
//! reads may be what nobody has written, and says nothing about the submission.

use fusion_machine::LaunchReport;

use super::blocks::{Output, count};

/// Blocks at the end of each grid that are executed: those of a period's sequences, also where each has a block for each of its heads.
const LAST: u64 = 128;

/// A lent buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lent {
    pub(super) base: u64,
    pub(super) bytes: u64,
    /// After how many bytes it repeats itself.
    pub(super) period: u64,
}

/// Adds the last blocks of each launch to those that are to be executed, where there are several.
pub(super) fn add_last(blocks: &mut Vec<u64>, launches: &[LaunchReport]) {
    if launches.len() < 2 {
        return;
    }
    blocks.extend(launches.iter().map(count).flat_map(|count| count.saturating_sub(LAST)..count));
    blocks.sort_unstable();
    blocks.dedup();
}

/// Whether the blocks of these launches have written all of what they have used of the lent buffers, and have used some. Where there is no launch, there
/// is nothing to be left.
pub(super) fn is_complete(launches: &[LaunchReport], lent: &[Lent]) -> bool {
    let blocks = || launches.iter().flat_map(|launch| &launch.dry);
    let written: Vec<(u64, u64)> = blocks().flat_map(|block| block.written.iter().copied()).collect();
    let used = |one: &&Lent| written.iter().any(|&(start, end)| start < one.base + one.bytes && end > one.base);
    let used: Vec<&Lent> = lent.iter().filter(used).collect();
    let whole = !used.is_empty() && used.iter().all(|one| is_full(one, &written));
    launches.is_empty() || whole && blocks().all(|block| block.complete)
}

/// Whether a launch reads outputs. What it writes there then depends on how many of its blocks share a place of what repeats itself.
pub(super) fn reads(launch: &LaunchReport, outputs: &[Output]) -> bool {
    let mut read = launch.dry.iter().flat_map(|block| &block.read);
    read.any(|&(start, end)| outputs.iter().any(|one| start < one.base + one.len * one.size && end > one.base))
}

/// Whether these bytes are all of a period of a buffer.
fn is_full(lent: &Lent, written: &[(u64, u64)]) -> bool {
    let Lent { base, bytes, period } = *lent;
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for &(start, end) in written {
        let (start, end) = (start.max(base), end.min(base + bytes));
        if start >= end || period == 0 {
            continue;
        }
        let (from, len) = ((start - base) % period, (end - start).min(period));
        // What goes beyond a period's end is at its beginning.
        parts.extend([(from, (from + len).min(period)), (0, (from + len).saturating_sub(period))]);
    }
    parts.sort_unstable();
    parts.iter().fold(0, |held, &(start, end)| if start <= held { held.max(end) } else { held }) >= period
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::DryBlock;

    use super::*;

    const LENT: Lent = Lent { base: 1000, bytes: 5000, period: 70 };

    fn launch(written: &[(u64, u64)]) -> LaunchReport {
        let block = DryBlock { written: written.to_vec(), complete: true, ..DryBlock::default() };
        LaunchReport { grid: [500, 1, 1], dry: vec![block], ..LaunchReport::default() }
    }

    #[test]
    fn one_period_wherever_it_lies_is_all() {
        assert!(is_complete(&[], &[LENT]));
        assert!(is_complete(&[launch(&[(1000, 1070)])], &[LENT]));
        assert!(is_complete(&[launch(&[(5930, 6000)])], &[LENT]));
        assert!(is_complete(&[launch(&[(5990, 6000), (1000, 1020), (2080, 2130)])], &[LENT]));
        // A buffer that is left alone is one that nobody needs.
        let other = Lent { base: 10_000, ..LENT };
        assert!(is_complete(&[launch(&[(1000, 1070)])], &[LENT, other]));
    }

    #[test]
    fn what_lacks_something_is_not_all() {
        assert!(!is_complete(&[launch(&[])], &[LENT]));
        assert!(!is_complete(&[launch(&[(1000, 1069)])], &[LENT]));
        assert!(!is_complete(&[launch(&[(1001, 1070)])], &[LENT]));
        assert!(!is_complete(&[launch(&[(7000, 7070)])], &[LENT]));
        let mut stopped = launch(&[(1000, 1070)]);
        stopped.dry[0].complete = false;
        assert!(!is_complete(&[stopped], &[LENT]));
    }

    #[test]
    fn a_launch_that_goes_on_with_an_output_is_told() {
        let output = Output { name: "out", base: 1000, size: 2, len: 50 };
        let reading = |span| {
            let block = DryBlock { read: vec![(0, 10), span], ..DryBlock::default() };
            LaunchReport { dry: vec![block], ..LaunchReport::default() }
        };
        assert!(reads(&reading((1098, 1102)), &[output]));
        assert!(!reads(&reading((1100, 1200)), &[output]));
    }

    #[test]
    fn the_last_blocks_of_each_of_several_grids_are_added() {
        let (mut blocks, large) = (vec![0, 499], LaunchReport { grid: [1000, 2, 1], ..LaunchReport::default() });
        add_last(&mut blocks, &[launch(&[])]);
        assert_eq!(blocks, [0, 499]);
        add_last(&mut blocks, &[launch(&[]), large]);
        assert_eq!((blocks.len() as u64, blocks[1], blocks.last()), (1 + 2 * LAST, 500 - LAST, Some(&1999)));
    }
}
