//! Every code that a fault can carry. Codes are stable: tools, tests and essays (`cargo xtask explain`) name them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Blame, Severity};

/// What a mistake is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Accesses that stop a launch, as on hardware.
    Memory,
    /// Values that depend on what was never written.
    Init,
    Race,
    /// Barriers, warp operations, and kernels that do not end.
    Sync,
    /// What a kernel does to itself.
    Stop,
    /// Launches and calls that are refused.
    Call,
    /// The emulator's own limits.
    Emulator,
    /// Lints of arithmetic: asked for, or shown beside a wrong result.
    Arithmetic,
    /// Advice on speed.
    Speed,
}

/// How a mistake ends for the program that made it: what an error code of the host's API is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The work goes on.
    GoesOn,
    InvalidValue,
    OutOfMemory,
    OutOfResources,
    /// A cooperative launch has more blocks than fit at once.
    TooManyBlocks,
    /// A launch's clusters have a shape that they cannot have.
    InvalidCluster,
    /// The device cannot do it.
    NotSupported,
    InvalidModule,
    IllegalAddress,
    MisalignedAddress,
    IllegalInstruction,
    Assertion,
    Timeout,
    StackOverflow,
    /// Whatever else stops a launch.
    LaunchFailed,
}

macro_rules! codes {
    ($($variant:ident $text:literal $class:ident $severity:ident $status:ident;)*) => {
        /// A stable name of a kind of mistake, ordered by its text.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($variant,)*
        }

        impl Code {
            /// All of them, by class.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            pub fn class(self) -> Class {
                match self {
                    $(Self::$variant => Class::$class,)*
                }
            }

            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }

            /// How it ends, unless the kind of fault says otherwise (see [`super::Kind::status`]).
            pub fn status(self) -> Status {
                match self {
                    $(Self::$variant => Status::$status,)*
                }
            }
        }
    };
}

codes! {
    OobGlobal "E-OOB-GLOBAL" Memory Error IllegalAddress;
    OobShared "E-OOB-SHARED" Memory Error IllegalAddress;
    ClusterRank "E-CLUSTER-RANK" Memory Error IllegalAddress;
    ClusterSpace "E-CLUSTER-SPACE" Memory Error IllegalInstruction;
    ClusterExited "E-CLUSTER-EXITED" Memory Error IllegalAddress;
    OobLocal "E-OOB-LOCAL" Memory Error IllegalAddress;
    OobConst "E-OOB-CONST" Memory Error IllegalAddress;
    OobParam "E-OOB-PARAM" Memory Error IllegalAddress;
    Null "E-NULL" Memory Error IllegalAddress;
    HostPointer "E-HOST-POINTER" Memory Error IllegalAddress;
    Unmapped "E-UNMAPPED" Memory Error IllegalAddress;
    UseAfterFree "E-USE-AFTER-FREE" Memory Error IllegalAddress;
    Misaligned "E-MISALIGNED" Memory Error MisalignedAddress;
    WriteReadonly "E-WRITE-READONLY" Memory Error IllegalAddress;
    TensorMap "E-TENSOR-MAP" Memory Error IllegalInstruction;

    UninitGlobal "E-UNINIT-GLOBAL" Init Error GoesOn;
    UninitShared "E-UNINIT-SHARED" Init Error GoesOn;
    UninitLocal "E-UNINIT-LOCAL" Init Error GoesOn;
    UninitRegister "E-UNINIT-REGISTER" Init Error GoesOn;
    CopyUninit "W-COPY-UNINIT" Init Warning GoesOn;

    RaceShared "E-RACE-SHARED" Race Error GoesOn;
    RaceCluster "E-RACE-CLUSTER" Race Error GoesOn;
    RaceGlobal "E-RACE-GLOBAL" Race Error GoesOn;
    RaceBlocks "E-RACE-BLOCKS" Race Error GoesOn;
    RaceScope "E-RACE-SCOPE" Race Error GoesOn;
    RaceAsync "E-RACE-ASYNC" Race Error GoesOn;
    ProxyFence "E-PROXY-FENCE" Race Error GoesOn;
    NcWritten "E-NC-WRITTEN" Race Error GoesOn;
    RaceStreams "E-RACE-STREAMS" Race Error GoesOn;
    RaceHost "E-RACE-HOST" Race Error GoesOn;
    RaceBenign "W-RACE-BENIGN" Race Warning GoesOn;
    RaceIdiom "W-RACE-IDIOM" Race Warning GoesOn;
    WarpSynchronous "W-WARP-SYNCHRONOUS" Race Warning GoesOn;

    BarrierDivergent "E-BARRIER-DIVERGENT" Sync Error LaunchFailed;
    BarrierMismatch "E-BARRIER-MISMATCH" Sync Error GoesOn;
    BarrierRounds "E-BARRIER-ROUNDS" Sync Error GoesOn;
    BarrierId "E-BARRIER-ID" Sync Error LaunchFailed;
    ClusterBarrier "E-CLUSTER-BARRIER" Sync Error LaunchFailed;
    Mbarrier "E-MBARRIER" Sync Error LaunchFailed;
    WarpgroupPartial "E-WARPGROUP-PARTIAL" Sync Error GoesOn;
    WarpgroupDescriptor "E-WARPGROUP-DESCRIPTOR" Sync Error GoesOn;
    WarpgroupRegister "E-WARPGROUP-REGISTER" Sync Error GoesOn;
    WarpgroupFence "E-WARPGROUP-FENCE" Sync Error GoesOn;
    WarpgroupOverwrite "E-WARPGROUP-OVERWRITE" Sync Error GoesOn;
    BarrierCount "E-BARRIER-COUNT" Sync Error LaunchFailed;
    SyncMask "E-SYNC-MASK" Sync Error LaunchFailed;
    Deadlock "E-DEADLOCK" Sync Error Timeout;
    Cooperative "E-COOPERATIVE" Sync Error LaunchFailed;
    Budget "E-BUDGET" Sync Error Timeout;

    Trap "E-TRAP" Stop Error LaunchFailed;
    Assert "E-ASSERT" Stop Error Assertion;
    Stack "E-STACK" Stop Error StackOverflow;
    Call "E-CALL" Stop Error LaunchFailed;

    LaunchGrid "E-LAUNCH-GRID" Call Error InvalidValue;
    LaunchBlock "E-LAUNCH-BLOCK" Call Error InvalidValue;
    LaunchCluster "E-LAUNCH-CLUSTER" Call Error InvalidValue;
    LaunchShared "E-LAUNCH-SHARED" Call Error InvalidValue;
    LaunchLocal "E-LAUNCH-LOCAL" Call Error OutOfResources;
    LaunchParams "E-LAUNCH-PARAMS" Call Error InvalidValue;
    LaunchKernel "E-LAUNCH-KERNEL" Call Error InvalidValue;
    LaunchMemory "E-LAUNCH-MEMORY" Call Error OutOfMemory;
    Copy "E-COPY" Call Error InvalidValue;
    Free "E-FREE" Call Error InvalidValue;
    Module "E-MODULE" Call Error InvalidModule;
    OutOfMemory "E-OUT-OF-MEMORY" Call Error OutOfMemory;

    UnsupportedInstruction "E-UNSUPPORTED-INSTRUCTION" Emulator Error IllegalInstruction;

    IndexOverflow "L-INDEX-OVERFLOW" Arithmetic Warning GoesOn;
    Shift "L-SHIFT" Arithmetic Warning GoesOn;
    FloatToInt "L-FLOAT-TO-INT" Arithmetic Warning GoesOn;
    DivideByZero "L-DIVIDE-BY-ZERO" Arithmetic Warning GoesOn;

    Uncoalesced "P-UNCOALESCED" Speed Advice GoesOn;
    BankConflict "P-BANK-CONFLICT" Speed Advice GoesOn;
    ScalarAccess "P-SCALAR-ACCESS" Speed Advice GoesOn;
    LocalMemory "P-LOCAL-MEMORY" Speed Advice GoesOn;
    Divergent "P-DIVERGENT" Speed Advice GoesOn;
    UnusedShared "P-SHARED-UNUSED" Speed Advice GoesOn;
    RoundTrip "P-ROUND-TRIP" Speed Advice GoesOn;
}

impl Code {
    /// Whose mistake it is.
    pub fn blame(self) -> Blame {
        match self {
            Self::UnsupportedInstruction => Blame::Unsupported,
            Self::Module | Self::OutOfMemory | Self::LaunchMemory => Blame::Environment,
            _ => Blame::Kernel,
        }
    }

    /// The kernel ran out of some allocation's bounds, or past its life: where the allocation was made may be the mistake.
    pub fn concerns_allocation(self) -> bool {
        matches!(self, Self::OobGlobal | Self::UninitGlobal | Self::UseAfterFree)
    }
}

/// No code has this text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for UnknownCode {}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(UnknownCode)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_tells_its_severity_by_its_letter() {
        for &code in Code::ALL {
            let letter = match (code.severity(), code.class()) {
                (Severity::Error, _) => "E-",
                (Severity::Warning, Class::Arithmetic) => "L-",
                (Severity::Warning, _) => "W-",
                (Severity::Advice, _) => "P-",
            };
            assert!(code.as_str().starts_with(letter), "{code}");
            assert_eq!(code.as_str().parse(), Ok(code));
        }
        assert_eq!("E-NOTHING".parse::<Code>(), Err(UnknownCode));
    }
}
