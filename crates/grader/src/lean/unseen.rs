//! Does each block of causal attention leave alone the keys that none of its queries sees?
//!
//! Of a whole launch no count tells: every key is seen by some query, and what is read again comes from a cache. So the blocks are executed
//! one by one, in a dry launch, and of each is known which queries it wrote and which keys it read. As there, what is held against a
//! submission is what its blocks have done: of a launch that cannot be looked at so, nothing is said.

use fusion_course::{DeviceBuffer, Extent, Param, Shape, Shapes};
use fusion_machine::report::DryBlock;

use crate::judgement::{Code, Failure};
use crate::rig::{Rig, Who};
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Tokens of a head: several times what a block may read ahead.
const LENGTH: usize = 1024;

/// So many keys behind its last query a block may read: those in the same tile, and those in one that is on its way before it is known that
/// nobody needs it, where a tile has up to 128. What is read does not tell a copy that nobody waits for from a tile that is multiplied for
/// nothing, so that a tile or two of the latter is left to *fast*. And a pipeline of more stages is to ask whether the loop comes to a
/// tile before it copies it.
const AHEAD: usize = 2 * 128;

/// Blocks that are executed: all, where each has two queries or more.
const BLOCKS: u64 = 1 << 10;

/// Warp instructions that a block may take.
const BUDGET: u64 = 1 << 21;

/// A block that reads keys behind those of its queries, as a failure.
pub(super) fn judge(trial: &Trial<'_>) -> Result<Option<Failure>, Trouble> {
    let exercise = trial.exercise();
    let Shapes::Attention { elements, grouped, .. } = exercise.shapes else { return Ok(None) };
    if !exercise.causal {
        return Ok(None);
    }
    trial.tell("lean: which keys each block reads");
    for &head in elements {
        // One head of keys: whose they are need not be asked.
        let shape = Shape::attention([if grouped { 2 } else { 1 }, 1], LENGTH, head);
        if let Some(failure) = judge_at(trial, shape)? {
            return Ok(Some(failure.at(trial.name(shape))));
        }
    }
    Ok(None)
}

fn judge_at(trial: &Trial<'_>, shape: Shape) -> Result<Option<Failure>, Trouble> {
    let (exercise, head) = (trial.exercise(), shape.head());
    let mut rig = Rig::new(trial, shape)?;
    let report = rig.blocks((0..BLOCKS).collect(), BUDGET)?;
    let [launch] = &report.launches[..] else { return Ok(None) };
    let stream = &trial.session.device.stream;
    let place = |(param, buffer): (&Param, &DeviceBuffer)| Rows {
        name: param.name,
        base: buffer.address(stream),
        bytes: (param.dtype.bytes() * head) as u64,
        count: param.len(shape) as u64 / head as u64,
    };
    let outputs: Vec<Rows> = exercise.outputs.iter().zip(rig.outputs(Who::Submission)).map(place).collect();
    let keys = exercise.inputs.iter().zip(rig.inputs()).filter(|(param, _)| param.extent == Extent::Keys);
    let keys: Vec<Rows> = keys.map(place).collect();
    Ok(launch.dry.iter().find_map(|block| unseen(block, &outputs, &keys)))
}

/// A buffer with a row for each token of a head, and heads behind each other.
#[derive(Clone, Copy, Debug)]
struct Rows {
    name: &'static str,
    base: u64,
    /// Bytes of a row.
    bytes: u64,
    count: u64,
}

impl Rows {
    /// The last token of any head that is among some bytes.
    fn last(&self, spans: &[(u64, u64)]) -> Option<usize> {
        let end = self.base + self.count * self.bytes;
        let inside = spans.iter().filter(|(from, to)| *from < end && *to > self.base);
        let tokens = inside.flat_map(|&(from, to)| {
            let (from, to) = (from.max(self.base) - self.base, to.min(end) - self.base);
            (from / self.bytes..to.div_ceil(self.bytes)).map(|row| row as usize % LENGTH)
        });
        tokens.max()
    }
}

fn unseen(block: &DryBlock, outputs: &[Rows], keys: &[Rows]) -> Option<Failure> {
    if !block.complete || block.fault.is_some() {
        return None;
    }
    let query = outputs.iter().filter_map(|output| output.last(&block.written)).max()?;
    let (name, key) = keys
        .iter()
        .find_map(|rows| Some((rows.name, rows.last(&block.read)?)).filter(|(_, key)| *key >= query + AHEAD))?;
    let title = format!("block {} reads row {key} of `{name}`, and its last query is {query}", block.index);
    Some(
        Failure::new(Code::Unseen, title)
            .note("query i sees keys 0 to i: the block's queries see no tile of keys behind the one that has the last of them")
            .note("end the loop over the keys there, before they are copied: half of all tiles are then neither read nor multiplied"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: Rows = Rows { name: "out", base: 1 << 20, bytes: 128, count: 2 * LENGTH as u64 };
    const K: Rows = Rows { name: "k", base: 1 << 30, bytes: 128, count: LENGTH as u64 };

    /// What is said about a block that wrote queries and read keys, each from the first to before the last.
    fn said(queries: (u64, u64), keys: (u64, u64)) -> Option<String> {
        let bytes = |rows: Rows, (from, to): (u64, u64)| (rows.base + rows.bytes * from, rows.base + rows.bytes * to);
        let block = DryBlock {
            index: 3,
            written: vec![bytes(OUT, queries)],
            read: vec![bytes(K, keys)],
            complete: true,
            ..DryBlock::default()
        };
        unseen(&block, &[OUT], &[K]).map(|failure| failure.title)
    }

    #[test]
    fn a_block_may_read_the_tile_of_its_last_query_and_one_more() {
        assert_eq!(said((0, 64), (0, 64)), None);
        // Two tiles of 128 keys, of which the second is on its way.
        assert_eq!(said((0, 64), (0, 256)), None);
        assert!(said((0, 64), (0, 384)).is_some());
        assert_eq!(said((0, 64), (0, 1024)).unwrap(), "block 3 reads row 1023 of `k`, and its last query is 63");
        assert_eq!(said((960, 1024), (0, 1024)), None);
        // The second head's queries, and those of two heads.
        assert!(said((1024, 1088), (0, 512)).is_some());
        assert_eq!(said((1000, 1030), (0, 1024)), None);
    }

    #[test]
    fn nothing_is_said_about_what_is_not_known() {
        let read = vec![(K.base, K.base + 128 * 1024)];
        let unwritten = DryBlock { read: read.clone(), complete: true, ..DryBlock::default() };
        assert!(unseen(&unwritten, &[OUT], &[K]).is_none());
        let incomplete = DryBlock { written: vec![(OUT.base, OUT.base + 128)], read, ..DryBlock::default() };
        assert!(unseen(&incomplete, &[OUT], &[K]).is_none());
    }
}
