//! What a few blocks of a launch have written, and what follows from it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cudarc::driver::CudaStream;
use fusion_course::{DeviceBuffer, Param};
use fusion_diagnostic::counted;
use fusion_machine::LaunchReport;
use fusion_machine::report::DryBlock;

use crate::judgement::{Code, Failure};

/// Where an output is, and its elements.
#[derive(Clone, Copy, Debug)]
pub(in crate::right) struct Output {
    pub(in crate::right) name: &'static str,
    pub(in crate::right) base: u64,
    /// Bytes of an element.
    pub(in crate::right) size: u64,
    pub(in crate::right) len: u64,
}

impl Output {
    pub(in crate::right) fn new(param: &Param, buffer: &DeviceBuffer, stream: &Arc<CudaStream>) -> Self {
        let (base, size) = (buffer.address(stream), param.dtype.bytes() as u64);
        Self { name: param.name, base, size, len: buffer.len() as u64 }
    }
}

/// The blocks at the beginning that no index is too small for, not even a `float`: one in so many.
const FEW: u64 = 1 << 10;

/// Elements from the first to before the last.
type Range = (u64, u64);

/// The blocks of a launch that were executed.
#[derive(Debug)]
pub(in crate::right) struct Blocks {
    /// Blocks of the grid.
    count: u64,
    /// Whether nothing of what they wrote is unknown.
    complete: bool,
    outputs: Vec<Output>,
    /// By block: what it wrote of each output.
    written: Vec<(u64, Vec<Vec<Range>>)>,
}

impl Blocks {
    pub(in crate::right) fn new(launch: &LaunchReport, outputs: &[Output]) -> Self {
        let of = |block: &DryBlock| {
            (block.index, outputs.iter().map(|output| elements(&block.written, output)).collect::<Vec<_>>())
        };
        Self {
            count: count(launch),
            complete: launch.dry.iter().all(|block| block.complete),
            outputs: outputs.to_vec(),
            written: launch.dry.iter().map(of).collect(),
        }
    }

    /// Which blocks tell most, once it is known what the first one does.
    pub(super) fn telling(first: &LaunchReport, outputs: &[Output]) -> Vec<u64> {
        let blocks = Self::new(first, outputs);
        let count = blocks.count;
        let mut telling = vec![0, 1, 2, 5, count / FEW, count / 32, count / 2, count.saturating_sub(1)];
        for (at, output) in outputs.iter().enumerate() {
            let each = blocks.run(0, at, 0);
            telling.extend(ends(output.len, each).map(|(start, _)| start / each.max(1)));
        }
        telling.retain(|block| *block < count);
        telling.sort_unstable();
        telling.dedup();
        telling
    }

    /// The elements of an output that one block wrote and no other, with their places in a period.
    pub(super) fn written_once(&self, output: usize, period: usize) -> impl Iterator<Item = (u64, usize)> {
        let mut writers: HashMap<usize, (u64, u32)> = HashMap::new();
        for (_, written) in &self.written {
            for &(start, end) in &written[output] {
                for element in start..end {
                    writers.entry((element % period as u64) as usize).or_insert((element, 0)).1 += 1;
                }
            }
        }
        let mut once: Vec<_> = writers.into_iter().filter(|(_, (_, times))| *times == 1).collect();
        once.sort_unstable();
        once.into_iter().map(|(place, (element, _))| (element, place))
    }

    /// All elements of an output that blocks wrote, each with its place in a period. Of several that share a place the last one is there: what the
    /// place should hold is the same for all of them, if their blocks read the same.
    pub(super) fn written_last(&self, output: usize, period: usize) -> impl Iterator<Item = (u64, usize)> {
        let ranges = self.written.iter().flat_map(|(_, written)| &written[output]);
        let elements = ranges.flat_map(|&(start, end)| start..end);
        let last: BTreeMap<usize, u64> =
            elements.map(|element| ((element % period as u64) as usize, element)).collect();
        last.into_iter().map(|(place, element)| (element, place))
    }

    /// How many elements of an output each block has, where the blocks share them out in order: each wrote its own, all
    /// of them and no others. None where that is not so, or not known.
    pub(in crate::right) fn shared_out(&self, output: usize) -> Option<u64> {
        let (_, first) = self.written.iter().find(|(block, _)| *block == 0)?;
        let (_, each) = merged(&first[output]).first().copied()?;
        let len = self.outputs[output].len;
        let is_own = |(block, written): &(u64, Vec<Vec<Range>>)| {
            let start = block.saturating_mul(each);
            let own = (start, start.saturating_add(each).min(len));
            merged(&written[output]) == [own]
        };
        let all = each > 0 && len.div_ceil(each) == self.count && self.complete && self.written.iter().all(is_own);
        all.then_some(each)
    }

    /// The elements of an output that the executed blocks wrote, block by block.
    pub(in crate::right) fn written(&self, output: usize) -> impl Iterator<Item = u64> {
        self.written.iter().flat_map(move |(_, written)| &written[output]).flat_map(|&(start, end)| start..end)
    }

    /// All blocks together would not write all elements, were each to write as many as the one that writes most; and how many
    /// each writes, where all that were executed write as many.
    pub(super) fn too_few(&self) -> Option<(Failure, Option<u64>)> {
        (0..self.outputs.len()).filter(|_| self.complete).find_map(|at| self.too_few_of(at))
    }

    /// An element that is not written, where the blocks take the elements in their order.
    pub(super) fn left_out(&self) -> Option<Failure> {
        (0..self.outputs.len()).filter(|_| self.complete).find_map(|at| self.left_out_of(at))
    }

    fn too_few_of(&self, at: usize) -> Option<(Failure, Option<u64>)> {
        let Output { name, len, .. } = self.outputs[at];
        let sum = |written: &[Vec<Range>]| written[at].iter().map(|(start, end)| end - start).sum::<u64>();
        let most = self.written.iter().map(|(_, written)| sum(written)).max()?;
        let each = Some(most).filter(|&most| most > 0 && self.written.iter().all(|(_, written)| sum(written) == most));
        let count = self.count;
        (most.checked_mul(count)? < len).then(|| {
            let title =
                format!("{} for the {len} elements of `{name}`, which they do not all write", counted(count, "block"));
            let failure = Failure::new(Code::Large, title).note(match most {
                0 => "none of the blocks that were executed writes one".to_owned(),
                most => format!("of the blocks that were executed, none writes more than {most}"),
            });
            (failure, each)
        })
    }

    /// The blocks take the elements in their order, and the one that should take the last ones does not.
    fn left_out_of(&self, at: usize) -> Option<Failure> {
        let Output { name, len, .. } = self.outputs[at];
        let each = self.run(0, at, 0);
        let few = self.count / FEW;
        let mut known = self.written.iter().map(|(block, _)| *block).filter(|&block| block <= few);
        let in_order =
            each > 0 && few > 5 && known.all(|block| self.run(block, at, block.saturating_mul(each)) >= each);
        // Blocks that write others, too, may write those of the last: a loop for a tail that begins too early does. What is left over may
        // be the first one's alone.
        let others = |&(block, ref written): &(u64, Vec<Vec<Range>>)| {
            (1..=few).contains(&block) && written[at].iter().map(|(start, end)| end - start).sum::<u64>() > each
        };
        if !in_order || self.written.iter().any(others) {
            return None;
        }
        let executed = |block: u64| self.written.iter().any(|(other, _)| *other == block);
        // Where what the blocks have written from an element on without a gap ends.
        let held = |from: u64| {
            let ranges: Vec<Range> = self.written.iter().flat_map(|(_, written)| written[at].clone()).collect();
            merged(&ranges).into_iter().find(|&(start, end)| (start..=end).contains(&from)).map_or(from, |(_, end)| end)
        };
        let mut left = ends(len, each).filter(|(start, _)| executed(start / each));
        let left = left.find_map(|(start, end)| Some(held(start)).filter(|&held| held < end))?;
        let (block, from) = (left / each, left - left % each);
        let title = format!("`{name}[{left}]` is not written");
        let failure = Failure::new(Code::Large, title).note(format!(
            "each block writes {}, so that block {block} should write those from {from} on",
            counted(each, "element")
        ));
        let wrote = self.written.iter().find(|(other, _)| *other == block)?.1[at].first();
        Some(match wrote {
            Some((start, end)) => failure.note(format!("it writes those from {start} to {}", end - 1)),
            None => failure.note("it writes none"),
        })
    }

    /// How many elements a block wrote from one on, without a gap.
    fn run(&self, block: u64, output: usize, from: u64) -> u64 {
        let written = self.written.iter().find(|(other, _)| *other == block).map(|(_, written)| &written[output]);
        let range = written.and_then(|ranges| ranges.iter().find(|(start, end)| (*start..*end).contains(&from)));
        range.map_or(0, |(_, end)| end - from)
    }
}

/// Blocks of a launch's grid.
pub(in crate::right) fn count(launch: &LaunchReport) -> u64 {
    launch.grid.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// Ranges without those that only go on where others end, in order.
fn merged(ranges: &[Range]) -> Vec<Range> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut merged: Vec<Range> = Vec::new();
    for (start, end) in sorted {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The elements that tell most, from the first to before the last: the last one, and the last whole block before it.
fn ends(len: u64, each: u64) -> impl Iterator<Item = Range> {
    let whole = len.checked_div(each).and_then(|blocks| Some(blocks.checked_sub(1)? * each));
    let last = len.checked_sub(1);
    [last.map(|start| (start, len)), whole.map(|start| (start, start + each))].into_iter().flatten()
}

/// The whole elements of an output among written bytes.
fn elements(written: &[Range], output: &Output) -> Vec<Range> {
    let Output { base, size, len, .. } = *output;
    let inside = written.iter().filter(|(start, end)| *start < base + size * len && *end > base);
    let whole = inside.map(|&(start, end)| {
        let (start, end) = (start.max(base) - base, end.min(base + size * len) - base);
        (start.div_ceil(size), end / size)
    });
    whole.filter(|(start, end)| start < end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = (1 << 32) + 5;

    /// A launch of blocks, each of which writes elements of f32 as `of` says.
    fn launch(grid: u32, blocks: &[u64], of: impl Fn(u64) -> Vec<Range>) -> LaunchReport {
        let block = |&index: &u64| {
            let written = of(index).into_iter().map(|(start, end)| (4 * start, 4 * end)).collect();
            DryBlock { index, written, complete: true, ..DryBlock::default() }
        };
        let dry = blocks.iter().map(block).collect();
        LaunchReport { kernel: "k".to_owned(), grid: [grid, 1, 1], block: [256, 1, 1], dry, ..LaunchReport::default() }
    }

    /// What is said about blocks that write as `of` says.
    fn judged(grid: u32, of: impl Fn(u64) -> Vec<Range>) -> Option<String> {
        let out = [Output { name: "out", base: 0, size: 4, len: LEN }];
        let telling = Blocks::telling(&launch(grid, &[0], &of), &out);
        let blocks = Blocks::new(&launch(grid, &telling, &of), &out);
        blocks.too_few().map(|(failure, _)| failure).or_else(|| blocks.left_out()).map(|failure| failure.title)
    }

    const GRID: u32 = (LEN / 1024 + 1) as u32;

    #[test]
    fn blocks_that_write_all_are_right_in_whatever_order() {
        let cut = |(start, end): Range| if start < LEN { vec![(start, end.min(LEN))] } else { vec![] };
        let forward = |block: u64| cut((1024 * block, 1024 * block + 1024));
        let last = u64::from(GRID) - 1;
        assert_eq!(judged(GRID, forward), None);
        assert_eq!(judged(2 * GRID, forward), None);
        assert_eq!(judged(GRID, |block| forward(last - block)), None);
        // The tail is the first block's.
        let tail = |block: u64| match block {
            0 => vec![(0, 1024), (LEN - 5, LEN)],
            block if 1024 * block + 1024 <= LEN => vec![(1024 * block, 1024 * block + 1024)],
            _ => vec![],
        };
        assert_eq!(judged(GRID, tail), None);
        // Neighbours take turns, and every block has two pieces.
        let strides = |block: u64| {
            [
                cut((512 * block, 512 * block + 512)),
                cut((512 * (u64::from(GRID) + block), 512 * (u64::from(GRID) + block) + 512)),
            ]
            .concat()
        };
        assert_eq!(judged(GRID, strides), None);
    }

    #[test]
    fn what_a_block_leaves_out_is_named() {
        let wraps = |block: u64| {
            let start = 1024 * block % (1 << 32);
            vec![(start, start + 1024)]
        };
        assert_eq!(judged(GRID, wraps).as_deref(), Some("`out[4294967300]` is not written"));
        let stops = |block: u64| if block < 1 << 21 { vec![(1024 * block, 1024 * block + 1024)] } else { vec![] };
        assert_eq!(judged(GRID, stops).as_deref(), Some("`out[4294967300]` is not written"));
        let few = |block: u64| if block == 0 { vec![(0, 5)] } else { vec![] };
        assert_eq!(
            judged(GRID, few).as_deref(),
            Some("4194305 blocks for the 4294967301 elements of `out`, which they do not all write")
        );
        let forward = |block: u64| vec![(1024 * block, 1024 * block + 1024)];
        assert!(judged(65_535, forward).is_some());
    }

    #[test]
    fn nothing_is_said_about_what_is_not_known() {
        let out = [Output { name: "out", base: 0, size: 4, len: LEN }];
        let mut one = launch(GRID, &[0, 1, 2], |_| vec![]);
        assert!(Blocks::new(&one, &out).too_few().is_some());
        one.dry[1].complete = false;
        assert!(Blocks::new(&one, &out).too_few().is_none());
    }

    #[test]
    fn blocks_that_write_others_too_may_write_those_of_the_last() {
        let both = |block: u64| {
            let (own, again) = (1024 * block, LEN / 2 + 256 * block);
            [(own, own + 1024), (again, again + 256)].into_iter().filter(|(_, end)| *end <= LEN).collect()
        };
        assert_eq!(judged(GRID, both), None);
    }

    #[test]
    fn only_blocks_with_elements_of_their_own_share_them_out() {
        const LEN: u64 = 65_539;
        let out = [Output { name: "out", base: 0, size: 4, len: LEN }];
        let shared_out = |grid: u32, of: &dyn Fn(u64) -> Vec<Range>| {
            let executed: Vec<u64> = (0..5).chain(u64::from(grid) - 5..u64::from(grid)).collect();
            Blocks::new(&launch(grid, &executed, of), &out).shared_out(0)
        };
        assert_eq!(shared_out(65_539, &|block| vec![(block, block + 1)]), Some(1));
        assert_eq!(shared_out(8_193, &|block| vec![(8 * block, (8 * block + 8).min(LEN))]), Some(8));
        // In two pieces.
        let pieces =
            |block: u64| vec![(8 * block + 4, (8 * block + 8).min(LEN)), (8 * block, (8 * block + 4).min(LEN))];
        assert_eq!(
            shared_out(8_193, &|block| pieces(block).into_iter().filter(|(from, to)| from < to).collect()),
            Some(8)
        );
        // They go on with others: some rows are two blocks', or no block's.
        for step in [65_534, 65_535, 65_536] {
            let goes_on =
                |block: u64| [block, block + step].into_iter().filter(|row| *row < LEN).map(|row| (row, row + 1));
            assert_eq!(shared_out(65_535, &|block| goes_on(block).collect()), None, "{step}");
        }
        // One writes nothing, or something else; there are too few, or too many.
        assert_eq!(shared_out(65_539, &|block| if block == 2 { vec![] } else { vec![(block, block + 1)] }), None);
        assert_eq!(shared_out(65_539, &|block| vec![(LEN - 1 - block, LEN - block)]), None);
        assert_eq!(shared_out(65_535, &|block| vec![(block, block + 1)]), None);
        assert_eq!(shared_out(65_540, &|block| vec![(block.min(LEN - 1), block.min(LEN - 1) + 1)]), None);
    }

    #[test]
    fn elements_that_two_blocks_wrote_are_not_compared() {
        let out = [Output { name: "out", base: 0, size: 4, len: LEN }];
        let launch = launch(GRID, &[0, 1], |block| vec![(10 * block, 10 * block + 4)]);
        let once: Vec<_> = Blocks::new(&launch, &out).written_once(0, 8).collect();
        assert_eq!(once, [(0, 0), (1, 1), (12, 4), (13, 5)]);
    }

    #[test]
    fn where_a_period_is_written_again_the_last_element_counts() {
        let out = [Output { name: "out", base: 0, size: 4, len: LEN }];
        let launch = launch(GRID, &[0, 1], |block| vec![(10 * block, 10 * block + 4)]);
        let last: Vec<_> = Blocks::new(&launch, &out).written_last(0, 8).collect();
        assert_eq!(last, [(0, 0), (1, 1), (10, 2), (11, 3), (12, 4), (13, 5)]);
    }

    #[test]
    fn only_whole_elements_count() {
        let out = Output { name: "out", base: 100, size: 4, len: 10 };
        assert_eq!(elements(&[(90, 106), (109, 120), (130, 150)], &out), [(0, 1), (3, 5), (8, 10)]);
    }
}
