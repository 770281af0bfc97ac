//! Which of the recorded blocks stands for which block of a launch.

use super::grid::Shape;
use crate::exec::{Path, Recording};

/// Of recordings whose work differs by less than this share of a block's, each is used in turn.
const ALIKE: f64 = 0.1;
/// Blocks that say how often each recording occurs, at least.
const LEAST: u64 = 64;

/// Blocks of an SM, by the recordings that they are like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Representatives {
    /// Of each simulated block.
    order: Vec<usize>,
    /// Of each recording, the share of the grid's blocks that it stands for.
    pub(super) shares: Vec<f64>,
}

/// Instructions that a block's warps execute.
pub(crate) fn work(recording: &Recording) -> u64 {
    recording.warps.iter().map(Path::executed).sum()
}

impl Representatives {
    /// The last recording is of the grid's last block. `mean` is what a block's warps execute on average, where blocks differ.
    ///
    /// Where warps `leave` early, a block that ends lets others begin: then it counts that some blocks are short and some
    /// are long.
    pub(super) fn new(recordings: &[Recording], mean: Option<f64>, leave: bool, shape: Shape) -> Self {
        let works: Vec<f64> = recordings.iter().map(|recording| work(recording) as f64).collect();
        match mean {
            Some(mean) => Self::uneven(&works, mean, leave, shape),
            None => Self::even(&works, shape),
        }
    }

    /// Blocks are alike, but the last one may be cut off: then the others are what an SM has most of. It may have more to do than they:
    /// then the launch ends with it.
    fn even(works: &[f64], Shape { simulated, .. }: Shape) -> Self {
        let last = works.len().saturating_sub(1);
        let whole = last.max(1);
        let mut order: Vec<usize> = (0..simulated).map(|block| block as usize % whole).collect();
        if works.split_last().is_some_and(|(last, others)| others.iter().all(|other| last > other))
            && let Some(end) = order.last_mut()
        {
            *end = last;
        }
        // What a recorded block reaches, so many reach.
        Self { order, shares: vec![1.0 / works.len().max(1) as f64; works.len()] }
    }

    /// Blocks differ: they come so that after each of them as much was done as that many do on average. So two kinds of blocks, with
    /// work and without, come as often as they do in the grid.
    fn uneven(works: &[f64], mean: f64, varied: bool, Shape { blocks, resident, simulated, .. }: Shape) -> Self {
        let (mut uses, mut done) = (vec![0u64; works.len()], 0.0);
        let mut order = Vec::new();
        for block in 1..=simulated.max(LEAST) {
            let off = |at: usize| (done + works[at] - mean * block as f64).abs();
            let least = (0..works.len()).map(off).fold(f64::INFINITY, f64::min);
            // What was done is never further from the mean than one block's work.
            let most = if varied { least.max(mean) } else { least + ALIKE * mean };
            let near = (0..works.len()).filter(|&at| off(at) <= most);
            let Some(next) = near.min_by_key(|&at| uses[at]) else { break };
            uses[next] += 1;
            done += works[next];
            order.push(next);
        }
        let of = order.len().max(1) as f64;
        let shares = uses.iter().map(|&times| times as f64 / of).collect();
        order.truncate(simulated as usize);
        // A launch lasts at least as long as its longest block, beside which others run.
        let longest = (0..works.len()).max_by(|&a, &b| works[a].total_cmp(&works[b]));
        if let (Some(longest), Some(end)) = (longest, order.last_mut())
            && works[longest] * resident as f64 > mean * blocks as f64
        {
            *end = longest;
        }
        Self { order, shares }
    }

    /// The recording that a simulated block is like.
    pub(super) fn of(&self, block: u64) -> usize {
        self.order.get(block as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: Shape = Shape { active: 132, blocks: 1000, resident: 8, simulated: 96, last: 132 };

    #[test]
    fn the_last_block_stands_for_itself() {
        let order = |works: &[f64], simulated| Representatives::even(works, Shape { simulated, ..MANY }).order;
        assert_eq!(order(&[9.0, 9.0, 3.0], 1), [0]);
        assert_eq!(order(&[9.0, 9.0, 3.0], 3), [0, 1, 0]);
        assert_eq!(order(&[9.0, 9.0, 20.0], 3), [0, 1, 2]);
        assert_eq!(order(&[5.0], 2), [0, 0]);
    }

    #[test]
    fn two_kinds_of_blocks_come_as_often_as_in_the_grid() {
        for share in [0.05, 0.3, 0.7, 0.95] {
            let (light, heavy) = (60.0, 20_000.0);
            let mean = share * heavy + (1.0 - share) * light;
            let both = Representatives::uneven(&[light, heavy, light], mean, false, MANY);
            let done: f64 = (0..MANY.simulated).map(|block| [light, heavy, light][both.of(block)]).sum();
            assert!((done / (mean * MANY.simulated as f64) - 1.0).abs() < 0.12, "{share}: {done}");
            assert!((both.shares[1] - share).abs() < 0.02, "{share}: {:?}", both.shares);
        }
    }

    #[test]
    fn blocks_of_mean_work_stand_for_all_where_there_are_some() {
        let works = [1.0, 49.0, 50.0, 51.0, 100.0];
        let middle = Representatives::uneven(&works, 50.0, false, MANY);
        assert!(middle.order.iter().all(|at| (1..=3).contains(at)), "{:?}", middle.order);
        assert!((1..=3).all(|at| middle.shares[at] > 0.25), "{:?}", middle.shares);
        // Where it counts that they end at different times, all stand for some, and together they do as much.
        for (works, mean) in [(&works[..], 50.0), (&[10.0, 50.0], 40.0), (&[100.0, 100.0, 10.0], 99.0)] {
            let varied = Representatives::uneven(works, mean, true, MANY);
            let done: f64 = varied.order.iter().map(|&at| works[at]).sum();
            assert!((done / (mean * MANY.simulated as f64) - 1.0).abs() < 0.02, "{works:?}: {done}");
            assert!(varied.shares.iter().all(|&share| share > 0.005), "{works:?}: {:?}", varied.shares);
        }
        // One wave ends with its longest block.
        let one = Representatives::uneven(&works, 50.0, false, Shape { blocks: 4, resident: 4, simulated: 4, ..MANY });
        assert_eq!(one.of(3), 4);
        let none = Representatives::uneven(&[0.0], 0.0, false, MANY);
        assert_eq!(none.of(7), 0);
    }
}
