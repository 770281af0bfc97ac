//! A launch that does not suit the kernel: with another grid or other blocks, and all else the same, the results are right.
//!
//! Here stands what is worth trying, and what to say of it; `right/otherwise.rs` tries it.

use fusion_course::{Entry, Exercise, Shapes};
use fusion_diagnostic::Diagnostic;
use fusion_machine::LaunchReport;

use crate::judgement::{CAUSE, Failure, Side};
use crate::site::{self, About};

/// Lanes of a warp.
const WARP: u32 = 32;

/// Blocks that a kernel with tiles may count on.
const BLOCKS: [[u32; 3]; 6] = [[32, 8, 1], [16, 16, 1], [32, 16, 1], [32, 4, 1], [8, 8, 1], [32, 32, 1]];

/// What is changed of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// Blocks of whole warps, where they end within one.
    WholeWarps,
    /// Blocks of these threads.
    Block([u32; 3]),
    /// A grid whose first two axes have changed places.
    Turned,
}

/// What is worth trying with an exercise's kernels, in this order.
///
/// No smaller blocks where a block has a row: with one warp, a sum over the warp is one over the block, and the launch would be blamed for
/// what the kernel lacks. With tiles, launch and kernel have to suit each other, and what is said names both.
pub(crate) fn worth_trying(exercise: &Exercise) -> Vec<Other> {
    match exercise.shapes {
        Shapes::Rows { .. } | Shapes::Heads { .. } => vec![Other::WholeWarps],
        Shapes::Matrix { .. } | Shapes::Product { .. } => {
            [Other::Turned].into_iter().chain(BLOCKS.map(Other::Block)).collect()
        }
        Shapes::Elementwise
        | Shapes::Tensors { .. }
        | Shapes::Attention { .. }
        | Shapes::Routing { .. }
        | Shapes::Paged { .. } => Vec::new(),
    }
}

impl Other {
    /// Grid and block of the launch with this change; none where it would be the same launch.
    pub(crate) fn of(self, launch: &LaunchReport) -> Option<([u32; 3], [u32; 3])> {
        let (grid, block) = (launch.grid, launch.block);
        let [x, y, z] = block;
        let changed = match self {
            Other::WholeWarps if [y, z] == [1, 1] => (grid, [x.next_multiple_of(WARP), 1, 1]),
            Other::WholeWarps => return None,
            Other::Block(block) => (grid, block),
            Other::Turned => ([grid[1], grid[0], grid[2]], block),
        };
        (changed != (grid, block)).then_some(changed)
    }

    /// The failure with this as its cause. `launch` is the one that failed, and `tried` the problems with which it was right otherwise.
    pub(crate) fn explain(
        self,
        mut failure: Failure,
        launch: &LaunchReport,
        entry: &Entry,
        tried: &[String],
    ) -> Failure {
        let Some((grid, block)) = self.of(launch) else { return failure };
        // With tiles both axes count, also where there is one along the second.
        let of = |[x, y, z]: [u32; 3]| match (self, z) {
            (Other::WholeWarps, _) => x.to_string(),
            (_, 1) => format!("{x} x {y}"),
            _ => format!("{x} x {y} x {z}"),
        };
        let (what, was) = match self {
            Other::Turned => (format!("a grid of {} blocks", of(grid)), format!("a grid of {}", of(launch.grid))),
            _ => (format!("blocks of {} threads", of(block)), format!("blocks of {}", of(launch.block))),
        };
        let mut told = Diagnostic::new(CAUSE, format!("with {what} this kernel is right, and the launch has {was}"));
        told.notes.push(format!("that was tried with {}, and all else as the launch has it", tried.join(" and ")));
        let kernel = &entry.source.path;
        let rust = std::path::Path::new(kernel).with_extension("rs").display().to_string();
        told.help.push(match self {
            Other::WholeWarps => format!("in {rust}: launch blocks of a multiple of {WARP} threads"),
            Other::Block([x, y, z]) => {
                format!("in {rust}: `block_dim: ({x}, {y}, {z})`; or let the kernel in {kernel} count on blocks of {}", of(launch.block))
            }
            Other::Turned => format!(
                "in {rust}: swap the first two numbers of `grid_dim`; or in {kernel}: swap `blockIdx.x` and `blockIdx.y`"
            ),
        });
        let about = if self == Other::Turned { About::Grid } else { About::Block };
        failure.launched = entry.rust.as_ref().and_then(|rust| site::of_launch(rust, &launch.kernel, about));
        failure.side = Some(Side::Launch);
        failure.cause = Some(Box::new(told));
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_a_launch_is_tried() {
        let launch = |grid, block| LaunchReport { grid, block, ..LaunchReport::default() };
        assert_eq!(Other::WholeWarps.of(&launch([7, 1, 1], [48, 1, 1])), Some(([7, 1, 1], [64, 1, 1])));
        assert_eq!(Other::WholeWarps.of(&launch([7, 1, 1], [64, 1, 1])), None);
        assert_eq!(Other::WholeWarps.of(&launch([7, 1, 1], [16, 3, 1])), None);
        assert_eq!(Other::Turned.of(&launch([2, 3, 1], [32, 8, 1])), Some(([3, 2, 1], [32, 8, 1])));
        assert_eq!(Other::Turned.of(&launch([2, 2, 1], [32, 8, 1])), None);
        assert_eq!(Other::Block([32, 8, 1]).of(&launch([2, 2, 1], [32, 8, 1])), None);
    }
}
