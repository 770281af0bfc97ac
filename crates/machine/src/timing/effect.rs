//! What the clock takes into account. Each effect can be left out, to see how much it matters.

use super::rates::Rates;

/// Something that makes kernels faster or slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Order,
    Unrolling,
    Predication,
    L1,
    L2,
    LoadedLatency,
    Dispatch,
    FirstAccess,
    Barriers,
    PartialStores,
    MergedStores,
    Scatter,
    Serial,
    Routine,
    Spills,
    Turns,
}

/// What the clock goes by.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) rates: Rates,
    pub(crate) assembler: Assembler,
}

/// What is known of the assembler, `ptxas`, from the code that it makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembler {
    /// The most instructions that it puts in order together.
    pub(crate) window: usize,
    /// The most instructions of a loop's iterations that it makes one piece of code.
    pub(crate) unrolled: usize,
    pub(crate) predicated: Predicated,
    /// Whether it leaves divisions of unusual operands to a routine, and spills registers to local memory.
    pub(crate) routine: bool,
    pub(crate) spills: bool,
}

/// The most machine instructions that are executed under a predicate rather than jumped over (*CUDA C Programming Guide* up to version
/// 9.2, "Control Flow Instructions"). Read in machine code of compute capability 9.0 that NVRTC 13.0 makes of growing numbers of
/// additions, products, loads and stores, one at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predicated {
    /// In a loop, where none of them is a load.
    pub(crate) in_loop: f64,
    pub(crate) otherwise: f64,
}

impl Model {
    pub(crate) fn new(rates: &Rates, without: Option<Effect>) -> Self {
        let predicated = Predicated { in_loop: 8.0, otherwise: 20.0 };
        let assembler = Assembler { window: 400, unrolled: 300, predicated, routine: true, spills: true };
        let mut model = Self { rates: rates.clone(), assembler };
        if let Some(effect) = without {
            effect.leave_out(&mut model);
        }
        model
    }
}

impl Effect {
    pub const ALL: [Self; 16] = [
        Self::Order,
        Self::Unrolling,
        Self::Predication,
        Self::L1,
        Self::L2,
        Self::LoadedLatency,
        Self::Dispatch,
        Self::FirstAccess,
        Self::Barriers,
        Self::PartialStores,
        Self::MergedStores,
        Self::Scatter,
        Self::Serial,
        Self::Routine,
        Self::Spills,
        Self::Turns,
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Unrolling => "unrolling",
            Self::Predication => "predication",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::LoadedLatency => "loaded-latency",
            Self::Dispatch => "dispatch",
            Self::FirstAccess => "first-access",
            Self::Barriers => "barriers",
            Self::PartialStores => "partial-stores",
            Self::MergedStores => "merged-stores",
            Self::Scatter => "scatter",
            Self::Serial => "serial",
            Self::Routine => "routine",
            Self::Spills => "spills",
            Self::Turns => "turns",
        }
    }

    fn leave_out(self, Model { rates, assembler }: &mut Model) {
        match self {
            Self::Order => (assembler.window, assembler.unrolled) = (1, 0),
            Self::Unrolling => assembler.unrolled = 0,
            Self::Predication => assembler.predicated = Predicated { in_loop: 0.0, otherwise: 0.0 },
            Self::L1 => rates.l1_bytes = 0,
            Self::L2 => rates.l2_bytes = 1.0,
            Self::LoadedLatency => rates.loaded_latency = 0.0,
            Self::Dispatch => (rates.dispatch, rates.block_start, rates.warp_start) = (0.0, 0.0, 0.0),
            Self::FirstAccess => rates.first_access = 0.0,
            Self::Barriers => (rates.barrier, rates.barrier_warp) = (0.0, 0.0),
            Self::PartialStores => {
                (rates.partial_line, rates.partial_store, rates.partial_store_alone) = (0.0, 1.0, 1.0);
            }
            Self::MergedStores => rates.merging_passes = -1.0,
            Self::Scatter => (rates.scattered, rates.scattered_store) = (1.0, 1.0),
            Self::Serial => rates.serial = 0.0,
            Self::Routine => assembler.routine = false,
            Self::Spills => assembler.spills = false,
            Self::Turns => rates.dram_turns = 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_that_is_left_out_changes_the_model() {
        let rates = Rates::h200();
        let all = format!("{:?}", Model::new(&rates, None));
        for effect in Effect::ALL {
            assert_eq!(Effect::named(effect.name()), Some(effect));
            assert_ne!(format!("{:?}", Model::new(&rates, Some(effect))), all, "{effect:?}");
        }
    }
}
