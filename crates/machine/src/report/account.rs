//! Where the time of a launch goes, by the clock's simulation of one SM: predicted, never measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{PtxPosition, SourcePosition};

/// What a warp does while it is on an SM, named as Nsight Compute's warp states are (`smsp__average_warps_issue_stalled_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its instruction is issued.
    Selected,
    /// It could go on; another warp was taken.
    NotSelected,
    /// Waits for what comes from global or local memory.
    LongScoreboard,
    /// Waits for shared memory, shuffles, special functions.
    ShortScoreboard,
    Barrier,
    /// Waits at a fence.
    Membar,
    /// The unit for loads and stores takes no more accesses to global or local memory.
    LgThrottle,
    /// The same for shared memory, shuffles, special functions.
    MioThrottle,
    /// A unit that computes is busy.
    MathPipeThrottle,
    /// Waits for what takes a fixed time, such as an addition.
    Wait,
    /// Goes elsewhere.
    BranchResolving,
    /// Its block has a place, and its first instruction is not issued yet. No state of the profiler's, which counts none of it.
    Launch,
}

impl State {
    pub const ALL: [Self; 12] = [
        Self::Selected,
        Self::NotSelected,
        Self::LongScoreboard,
        Self::ShortScoreboard,
        Self::Barrier,
        Self::Membar,
        Self::LgThrottle,
        Self::MioThrottle,
        Self::MathPipeThrottle,
        Self::Wait,
        Self::BranchResolving,
        Self::Launch,
    ];

    /// As the profiler's metrics have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::NotSelected => "not_selected",
            Self::LongScoreboard => "long_scoreboard",
            Self::ShortScoreboard => "short_scoreboard",
            Self::Barrier => "barrier",
            Self::Membar => "membar",
            Self::LgThrottle => "lg_throttle",
            Self::MioThrottle => "mio_throttle",
            Self::MathPipeThrottle => "math_pipe_throttle",
            Self::Wait => "wait",
            Self::BranchResolving => "branch_resolving",
            Self::Launch => "launch",
        }
    }

    /// What it comes down to.
    pub fn cause(self) -> Cause {
        match self {
            Self::LongScoreboard | Self::LgThrottle => Cause::Memory,
            Self::ShortScoreboard | Self::MioThrottle => Cause::Shared,
            Self::Barrier => Cause::Barriers,
            Self::Membar => Cause::Fences,
            Self::Launch => Cause::Starting,
            Self::Selected | Self::NotSelected | Self::MathPipeThrottle | Self::Wait | Self::BranchResolving => {
                Cause::Instructions
            }
        }
    }
}

/// States by what they come down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Memory,
    /// Shared memory, shuffles and special functions.
    Shared,
    Barriers,
    Fences,
    /// Issuing instructions, and waiting for what they compute.
    Instructions,
    /// Blocks that begin.
    Starting,
}

/// What may be at work all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Busy {
    /// The schedulers of an SM.
    Issue,
    /// Multiply-adds in f32, and products of integers.
    Fma,
    /// Logic, shifts, comparisons.
    Alu,
    /// Special functions and conversions.
    Special,
    Double,
    /// Products of matrices.
    Tensor,
    /// An SM's unit for loads and stores.
    Lsu,
    /// What an SM can take from L2, however little others ask for.
    Port,
    L2,
    Atomics,
    Dram,
}

impl Busy {
    /// Whether all SMs have it in common.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::L2 | Self::Atomics | Self::Dram)
    }
}

/// One launch. Shares are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Of the launch's time: what it costs whatever its blocks do.
    pub overhead: f64,
    /// Of the time of the blocks' places on an SM: empty until a block is handed out, and empty because there are no more.
    pub dispatch: f64,
    pub tail: f64,
    /// Of the time of the warps that are on an SM.
    pub states: BTreeMap<State, f64>,
    /// Of the time in which blocks run, that of each unit with work.
    pub busy: BTreeMap<Busy, f64>,
    /// Of the GPU while blocks run: of its room for blocks, or of the unit that has most to do. What is left is for launches of other
    /// streams.
    #[serde(default)]
    pub occupies: f64,
    pub flight: Flight,
    pub warps: Warps,
    /// By the share of the warps' time, the largest first.
    pub lines: Vec<Line>,
    /// What the warps of the first blocks do, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// One SM from the launch of its first blocks on. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// In the order in which they end.
    pub spans: Vec<Span>,
    /// What the first warp of a block reaches, at each of its accesses' first time.
    pub accesses: Vec<Access>,
}

/// A warp's place is in a state. There are many of them, so that they go without names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(u32, State, f64, f64, usize)", into = "(u32, State, f64, f64, usize)")]
pub struct Span {
    pub warp: u32,
    pub state: State,
    pub from: f64,
    pub to: f64,
    /// An index of the account's lines.
    pub line: usize,
}

impl From<(u32, State, f64, f64, usize)> for Span {
    fn from((warp, state, from, to, line): (u32, State, f64, f64, usize)) -> Self {
        Self { warp, state, from, to, line }
    }
}

impl From<Span> for (u32, State, f64, f64, usize) {
    fn from(Span { warp, state, from, to, line }: Span) -> Self {
        (warp, state, from, to, line)
    }
}

/// One access of a warp.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// An index of the account's lines.
    pub line: usize,
    pub write: bool,
    /// Of one lane.
    pub width: u32,
    /// Pieces of 128 bytes of global memory by their distance from the first, and a bit for each of their four sectors.
    pub sectors: Vec<(u64, u8)>,
    /// Of shared memory: how many times the banks are gone through.
    pub passes: u8,
}

/// Bytes that are on their way from L2 or memory to one SM, on average while blocks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    pub bytes: f64,
    /// With so many memory is busy all the time: its bandwidth times the latency that it has then, over the SMs (Little's law).
    pub needed: f64,
}

/// Warps of one SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warps {
    /// On average while blocks run.
    pub resident: f64,
    /// Of the blocks that fit on it at once.
    pub fit: u32,
    /// That it can hold.
    pub most: u32,
}

/// What the warps do at one line of the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// None where the module has no line table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePosition>,
    /// The first instruction of it that was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<PtxPosition>,
    /// Of the time of all warps.
    pub states: BTreeMap<State, f64>,
    /// Where that was asked for which it waits for most: an index of the lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<usize>,
    #[serde(default, skip_serializing_if = "Accesses::is_none")]
    pub loads: Accesses,
    #[serde(default, skip_serializing_if = "Accesses::is_none")]
    pub stores: Accesses,
    #[serde(default, skip_serializing_if = "Banks::is_none")]
    pub shared: Banks,
}

/// Accesses of the whole launch to global and local memory, atomics among the stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accesses {
    /// By warps.
    pub requests: f64,
    /// Of 32 bytes.
    pub sectors: f64,
    /// That lanes ask for.
    pub bytes: f64,
    /// Of one lane at once, at most.
    pub width: u32,
}

/// Accesses of the whole launch to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Banks {
    pub requests: f64,
    /// Times that the banks were gone through.
    pub passes: f64,
}

impl Accesses {
    pub fn is_none(&self) -> bool {
        self.requests == 0.0
    }

    /// Sectors of a request.
    pub fn each(&self) -> f64 {
        self.sectors / self.requests.max(1.0)
    }

    /// Bytes that are moved for each that is asked for.
    pub fn surplus(&self) -> f64 {
        if self.bytes > 0.0 { 32.0 * self.sectors / self.bytes } else { 1.0 }
    }
}

impl std::ops::AddAssign for Accesses {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.bytes += other.bytes;
        self.width = self.width.max(other.width);
    }
}

impl Banks {
    pub fn is_none(&self) -> bool {
        self.requests == 0.0
    }
}

impl std::ops::AddAssign for Banks {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.passes += other.passes;
    }
}

/// What a launch's time is bound by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Something is at work for most of the time.
    Busy(Busy, f64),
    /// What a launch costs whatever it does.
    Overhead(f64),
    /// Blocks come too slowly.
    Dispatch(f64),
    /// There are too few blocks at the end.
    Tail(f64),
    /// Warps are busy with it, or wait for it, for this share of their time.
    Warps(Cause, f64),
}

/// From this share of the time on, a unit is what a launch is bound by.
const SATURATED: f64 = 0.8;

impl Account {
    /// What bounds the launch: a unit that is always at work, or else what takes the largest share of its time.
    pub fn bound(&self) -> Bound {
        let blocks = 1.0 - self.overhead;
        let busiest = self.busy.iter().max_by(|one, other| one.1.total_cmp(other.1));
        if let Some((&unit, &share)) = busiest.filter(|(_, share)| **share >= SATURATED && self.overhead < 0.5) {
            return Bound::Busy(unit, share);
        }
        let present = blocks * (1.0 - self.dispatch - self.tail).max(0.0);
        let causes = self.causes();
        let warps = causes.into_iter().map(|(cause, share)| (present * share, Bound::Warps(cause, share)));
        let others = [
            (self.overhead, Bound::Overhead(self.overhead)),
            (blocks * self.dispatch, Bound::Dispatch(self.dispatch)),
            (blocks * self.tail, Bound::Tail(self.tail)),
        ];
        let all = others.into_iter().chain(warps);
        all.max_by(|one, other| one.0.total_cmp(&other.0)).map_or(Bound::Overhead(1.0), |(_, bound)| bound)
    }

    /// The warps' time by what it comes down to.
    pub fn causes(&self) -> BTreeMap<Cause, f64> {
        let mut causes = BTreeMap::new();
        for (state, share) in &self.states {
            *causes.entry(state.cause()).or_default() += share;
        }
        causes
    }

    pub fn share(&self, state: State) -> f64 {
        self.states.get(&state).copied().unwrap_or_default()
    }

    /// All loads from global and local memory, and all stores.
    pub fn accesses(&self) -> [Accesses; 2] {
        let mut all = [Accesses::default(); 2];
        for line in &self.lines {
            all[0] += line.loads;
            all[1] += line.stores;
        }
        all
    }

    /// The line at which warps spend the largest share of their time with a cause, and that share of all of their time.
    pub fn worst(&self, cause: Cause) -> Option<(&Line, f64)> {
        let is_of = |state: &State| state.cause() == cause;
        let of =
            |line: &Line| line.states.iter().filter(|(state, _)| is_of(state)).map(|(_, share)| share).sum::<f64>();
        let lines = self.lines.iter().map(|line| (line, of(line)));
        lines.filter(|(_, share)| *share > 0.0).max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

impl Line {
    /// The share of the time of all warps that they spend here.
    pub fn share(&self) -> f64 {
        self.states.values().sum()
    }

    /// What they mostly do here.
    pub fn state(&self) -> Option<State> {
        self.states.iter().max_by(|one, other| one.1.total_cmp(other.1)).map(|(state, _)| *state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(busy: f64, overhead: f64, waits: f64) -> Account {
        Account {
            overhead,
            busy: [(Busy::Dram, busy)].into(),
            states: [(State::LongScoreboard, waits), (State::Barrier, 1.0 - waits)].into(),
            ..Account::default()
        }
    }

    #[test]
    fn what_takes_most_of_the_time_bounds_it() {
        assert_eq!(account(0.9, 0.1, 0.9).bound(), Bound::Busy(Busy::Dram, 0.9));
        assert_eq!(account(0.5, 0.1, 0.9).bound(), Bound::Warps(Cause::Memory, 0.9));
        assert_eq!(account(0.5, 0.1, 0.2).bound(), Bound::Warps(Cause::Barriers, 0.8));
        assert_eq!(account(0.9, 0.7, 0.2).bound(), Bound::Overhead(0.7));
        assert_eq!(Account { tail: 0.7, ..account(0.5, 0.1, 0.5) }.bound(), Bound::Tail(0.7));
        assert_eq!(Account { dispatch: 0.7, ..account(0.5, 0.1, 0.5) }.bound(), Bound::Dispatch(0.7));
    }

    #[test]
    fn states_have_their_names() {
        for state in State::ALL {
            let words = state.name().split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
            assert_eq!(words.collect::<String>(), format!("{state:?}"));
        }
    }
}
