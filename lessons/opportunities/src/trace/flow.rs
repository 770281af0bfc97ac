//! A program's steps on the device, and which needs which.

use std::collections::BTreeSet;

use fusion_machine::report::{Moved, Task, Trace, Work, demangle};

use super::memory::{Memory, Piece};

/// One process's work.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) command: String,
    pub(crate) device: String,
    pub(crate) steps: Vec<Step>,
    pieces: Vec<Piece>,
    /// For each step the pieces that it wrote or read.
    touched: Vec<Vec<usize>>,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) task: Doing,
    /// Bytes of memory that it went over.
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// Steps that it must come behind: it reads what they wrote, or overwrites what they used.
    behind: BTreeSet<usize>,
}

#[derive(Debug)]
pub(crate) enum Doing {
    Launch(Launch),
    Move(Moved),
}

#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: String,
    pub(crate) blocks: u64,
    pub(crate) threads: u64,
    /// Predicted.
    pub(crate) ns: f64,
    /// How often each byte that it reads is asked for.
    pub(crate) reuse: f64,
    /// It uses tensor cores.
    tensor: bool,
}

/// From here on a launch asks for its bytes as a product of matrices does: many blocks need the same ones. A kernel of rows that walks over its row several times stays below.
const HEAVY: f64 = 8.0;

impl Launch {
    /// Whether each byte that it reads serves many results.
    pub(crate) fn is_heavy(&self) -> bool {
        self.tensor || self.reuse >= HEAVY
    }
}

impl Step {
    fn new(work: &Work) -> Self {
        let length = |ranges: &[(u64, u64)]| {
            ranges.iter().fold(0_u64, |sum, (start, end)| sum.saturating_add(end.saturating_sub(*start)))
        };
        let (read, written) = (length(&work.read), length(&work.written));
        let task = match &work.task {
            Task::Move(moved) => Doing::Move(*moved),
            Task::Launch { kernel, grid, block, loaded_bytes, tensor_operations, predicted_ns } => {
                let all = |of: &[u32; 3]| of.iter().fold(1_u64, |all, &n| all.saturating_mul(n.into()));
                Doing::Launch(Launch {
                    kernel: demangle(kernel),
                    blocks: all(grid),
                    threads: all(block),
                    ns: *predicted_ns,
                    reuse: *loaded_bytes as f64 / read.max(1) as f64,
                    tensor: *tensor_operations > 0,
                })
            }
        };
        Self { task, read, written, behind: BTreeSet::new() }
    }

    pub(crate) fn launch(&self) -> Option<&Launch> {
        match &self.task {
            Doing::Launch(launch) => Some(launch),
            Doing::Move(_) => None,
        }
    }

    /// Bytes that it moves.
    pub(crate) fn bytes(&self) -> u64 {
        self.read.saturating_add(self.written)
    }

    pub(crate) fn name(&self) -> &str {
        match &self.task {
            Doing::Launch(launch) => &launch.kernel,
            Doing::Move(Moved::ToDevice) => "a copy from the host",
            Doing::Move(Moved::ToHost) => "a copy to the host",
            Doing::Move(Moved::WithinDevice | Moved::WithinHost) => "a copy",
            Doing::Move(Moved::Memset) => "a memset",
        }
    }
}

impl Flow {
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut memory = Memory::default();
        let mut steps: Vec<Step> = Vec::new();
        for (index, work) in trace.work.iter().enumerate() {
            let mut step = Step::new(work);
            let sound = |range: &&(u64, u64)| range.0 < range.1;
            for &range in work.read.iter().filter(sound) {
                step.behind.extend(memory.read(index, range));
            }
            for &range in work.written.iter().filter(sound) {
                step.behind.extend(memory.write(index, range));
            }
            steps.push(step);
        }
        let program = trace.command.first().map(|path| path.rsplit('/').next().unwrap_or(path));
        let words = program.into_iter().chain(trace.command.iter().skip(1).map(String::as_str));
        let command = words.collect::<Vec<_>>().join(" ");
        let pieces = memory.pieces();
        let mut touched = vec![Vec::new(); steps.len()];
        for (index, piece) in pieces.iter().enumerate() {
            for &step in piece.writer.iter().chain(&piece.readers) {
                touched.get_mut(step).into_iter().for_each(|of: &mut Vec<usize>| of.push(index));
            }
        }
        Self { command, device: trace.device.clone(), steps, pieces, touched }
    }

    /// What these steps wrote or read, each piece once.
    pub(crate) fn pieces_of(&self, steps: &[usize]) -> impl Iterator<Item = &Piece> + use<'_> {
        let touched: BTreeSet<usize> =
            steps.iter().filter_map(|&step| self.touched.get(step)).flatten().copied().collect();
        touched.into_iter().filter_map(|index| self.pieces.get(index))
    }

    pub(crate) fn launches(&self) -> usize {
        self.steps.iter().filter(|step| step.launch().is_some()).count()
    }

    pub(crate) fn launch(&self, step: usize) -> Option<&Launch> {
        self.steps.get(step)?.launch()
    }

    /// A step outside that needs one of these and is needed by another: together they would wait for it, and it for them.
    pub(crate) fn between(&self, members: &[usize]) -> Option<usize> {
        let (first, last) = (*members.iter().min()?, *members.iter().max()?);
        // Steps that need a member by way of one that is none.
        let mut after: Vec<usize> = Vec::new();
        for (index, step) in self.steps.iter().enumerate().take(last + 1).skip(first + 1) {
            let through = after.iter().copied().find(|other| step.behind.contains(other));
            match members.contains(&index) {
                true if through.is_some() => return through,
                true => {}
                false if through.is_some() || members.iter().any(|member| step.behind.contains(member)) => {
                    after.push(index);
                }
                false => {}
            }
        }
        None
    }

    /// Whether the second of two steps must come behind the first, by whatever way.
    pub(crate) fn needs(&self, first: usize, second: usize) -> bool {
        let mut after = vec![first];
        for (index, step) in self.steps.iter().enumerate().take(second + 1).skip(first + 1) {
            if after.iter().any(|other| step.behind.contains(other)) {
                after.push(index);
            }
        }
        after.contains(&second)
    }

    /// Pairs of launches of which the second reads what the first wrote, in the order of the second.
    pub(crate) fn edges(&self) -> Vec<(usize, usize)> {
        let edges = self
            .pieces
            .iter()
            .flat_map(|piece| piece.readers.iter().filter_map(|&reader| Some((piece.writer?, reader))));
        let mut edges: Vec<_> =
            edges.filter(|&(from, to)| from < to && self.launch(from).is_some() && self.launch(to).is_some()).collect();
        edges.sort_unstable_by_key(|&(from, to)| (to, from));
        edges.dedup();
        edges
    }
}
