//! From when on advice on speed (`P-*`) is worth saying. Advice costs its reader's time: below these, nothing is said.

/// `P-UNCOALESCED`: sectors moved over sectors needed. Rows that begin in the middle of a sector move 5 for 4,
/// which is not worth a word; every second element moves 2 for 1, which is.
pub const SECTORS: f64 = 1.5;
/// `P-UNCOALESCED`: an instruction's wasted sectors in those of the launch. Less than a twentieth is lost in the
/// noise of a measurement.
pub const SECTOR_SHARE: f64 = 0.05;
/// `P-BANK-CONFLICT`: passes over the banks over passes needed.
pub const PASSES: f64 = 1.5;
/// `P-BANK-CONFLICT`: clocks of the wasted passes in the launch's longest time of the model.
/// A reduction's last steps stay below it, a column read of a tile does not.
pub const PASS_SHARE: f64 = 0.05;

/// `P-SCALAR-ACCESS`: how much of what a launch asks for goes by the small accesses.
pub const SCALAR_SHARE: f64 = 0.5;

/// `P-SCALAR-ACCESS`: of the requests, how many begin at a multiple of 16 bytes and are whole. The last warp need not be.
pub const ALIGNED_SHARE: f64 = 0.9;

/// `P-LOCAL-MEMORY`: bytes of local memory read and written. What a `printf` passes on is less.
pub const LOCAL_BYTES: u64 = 4096;

/// `P-LOCAL-MEMORY`: its share of all sectors.
pub const LOCAL_SHARE: f64 = 0.05;

/// `P-DIVERGENT`: lanes that wait, of all lanes and instructions. The one lane that writes a warp's result stays below it,
/// a branch for every second thread around most of the work does not.
pub const IDLE_SHARE: f64 = 0.2;

/// `P-DIVERGENT`: the time to issue instructions, of the model's longest. Where memory takes four times as long,
/// lanes that wait cost nothing.
pub const ISSUE_SHARE: f64 = 0.25;

/// `P-SHARED-UNUSED`: bytes of dynamic shared memory that are asked for over those that are touched. A kernel that has room for
/// somewhat longer rows than it was given stays below it.
pub const SHARED_TIMES: u32 = 2;

/// `P-ROUND-TRIP`: what the intermediate's way out and back moves, of what both launches move. A block's partial
/// result stays below it.
pub const ROUND_TRIP_SHARE: f64 = 0.1;

/// `P-ROUND-TRIP`: how much of what the one launch wrote the next one reads.
pub const READ_AGAIN: f64 = 0.9;
