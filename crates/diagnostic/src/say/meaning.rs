//! What every code and class means, in a line.

use fusion_machine::report::{Class, Code};

/// What a class of codes is called.
pub fn class(class: Class) -> &'static str {
    match class {
        Class::Memory => "Memory",
        Class::Init => "Initialisation",
        Class::Race => "Races",
        Class::Sync => "Synchronisation",
        Class::Stop => "Kernels that stop themselves",
        Class::Call => "Launches and calls",
        Class::Emulator => "Not your mistake",
        Class::Arithmetic => "Arithmetic",
        Class::Speed => "Speed",
    }
}

/// What a code means: the first line of its essay.
pub fn meaning(code: Code) -> &'static str {
    match code {
        Code::OobGlobal => "access before or past an allocation in global memory",
        Code::OobShared => "access outside of the block's shared memory",
        Code::ClusterRank => "access to the shared memory of a block that the cluster does not have",
        Code::ClusterSpace => "access by `.shared::cta` to the shared memory of another block of the cluster",
        Code::ClusterExited => "access to the shared memory of a block of the cluster that may have exited",
        Code::OobLocal => "access outside of a thread's local memory",
        Code::OobConst => "access outside of a constant variable",
        Code::OobParam => "access outside of the kernel's parameters",
        Code::Null => "access through a null pointer",
        Code::HostPointer => "a pointer to host memory was passed where device memory is expected",
        Code::Unmapped => "access to an address where nothing is allocated",
        Code::UseAfterFree => "access to memory that has been freed",
        Code::Misaligned => "access to an address that is not a multiple of the access's size",
        Code::WriteReadonly => "write to memory that kernels may only read",
        Code::TensorMap => "a copy of a box of a tensor that has no tensor map, or one that does not suit it",
        Code::UninitGlobal => "a value depends on global memory that was never written",
        Code::UninitShared => "a value depends on shared memory that was never written",
        Code::UninitLocal => "a value depends on local memory that was never written",
        Code::UninitRegister => "a value depends on a variable that was never set",
        Code::CopyUninit => "a copy to the host reads device memory that was never written",
        Code::RaceShared => "two threads of a block access the same shared memory, one writes, and nothing orders them",
        Code::RaceCluster => {
            "two blocks of a cluster access the shared memory of one of them, one writes, and nothing orders them"
        }
        Code::RaceGlobal => "two threads of a block access the same global memory, one writes, and nothing orders them",
        Code::RaceBlocks => "two blocks access the same global memory, one writes, and nothing orders them",
        Code::RaceScope => "two atomics race because the scope of one leaves the other out",
        Code::RaceAsync => {
            "shared memory is used, or its block ends, before the asynchronous copy into it or out of it has been waited for"
        }
        Code::ProxyFence => {
            "a bulk copy or a `wgmma` reads shared memory that threads wrote, without a proxy fence between"
        }
        Code::NcWritten => "memory is read through the read-only path after the same launch has written it",
        Code::RaceStreams => {
            "two kernels on different streams access the same memory, one writes, and nothing orders them"
        }
        Code::RaceHost => "a kernel and a copy access the same memory, one writes, and nothing orders them",
        Code::RaceBenign => "threads write the same value to the same place, and nothing orders them",
        Code::RaceIdiom => "a race by the rules of the memory model, but in a harmless form that much good code has",
        Code::WarpSynchronous => "threads of a warp rely on running in step",
        Code::BarrierDivergent => "a barrier that only part of the block reaches",
        Code::BarrierMismatch => {
            "warps of a block wait at different barriers in the code that are the same to the hardware"
        }
        Code::BarrierRounds => {
            "more warps arrive at a counted barrier than it counts, so the schedule decides which of them meet"
        }
        Code::BarrierId => "a barrier number above 15",
        Code::ClusterBarrier => "arrivals and waits at a cluster's barrier that do not alternate",
        Code::Mbarrier => "an mbarrier that is not initialised, or at which too many threads arrive",
        Code::WarpgroupPartial => "a `wgmma` that not all four warps of a warp group execute",
        Code::WarpgroupDescriptor => "warps of one warp group give different descriptors to one `wgmma`",
        Code::WarpgroupRegister => "a register of a `wgmma` is used before the product is complete",
        Code::WarpgroupFence => "a `wgmma` on registers that no `wgmma.fence` orders",
        Code::WarpgroupOverwrite => "a write to shared memory that a `wgmma` may still read",
        Code::BarrierCount => "a barrier whose number of threads is not a multiple of 32",
        Code::SyncMask => "a warp operation whose mask does not match the threads that execute it",
        Code::Deadlock => "every thread waits for another",
        Code::Cooperative => "a grid barrier in a launch that is not cooperative, or that does not fit on the device",
        Code::Budget => "the kernel did not end within its budget",
        Code::Trap => "the kernel stopped itself",
        Code::Assert => "an assertion in the kernel failed",
        Code::Stack => "calls inside of calls, or their frames, use up the stack",
        Code::Call => "a call to an address that is not a function",
        Code::LaunchGrid => "a grid that no device launches",
        Code::LaunchBlock => "a block size that this kernel or device does not allow",
        Code::LaunchCluster => "clusters that this kernel or device does not run",
        Code::LaunchShared => "more shared memory than a block may have",
        Code::LaunchLocal => "more local memory than a thread may have",
        Code::LaunchParams => "parameters that do not match the kernel's",
        Code::LaunchKernel => "a kernel that the module does not have",
        Code::LaunchMemory => "no memory for what the launch needs",
        Code::Copy => "a copy or memset outside of what is allocated",
        Code::Free => "a free of memory that is not allocated",
        Code::Module => "a module that cannot be loaded",
        Code::OutOfMemory => "the device's memory is used up",
        Code::UnsupportedInstruction => "the emulator does not execute this instruction",
        Code::IndexOverflow => "an index overflows 32 bits before it is widened to an address",
        Code::Shift => "a shift by the width of the type or more",
        Code::FloatToInt => "a float that does not fit the integer it is converted to",
        Code::DivideByZero => "an integer division by zero",
        Code::Uncoalesced => "a warp's accesses are scattered over more sectors than they need",
        Code::BankConflict => "lanes of a warp access different words of the same shared-memory bank",
        Code::ScalarAccess => "neighbouring elements are accessed one by one where 16 bytes at once were possible",
        Code::LocalMemory => "spilled registers or an array that is indexed at run time go through memory",
        Code::Divergent => "lanes of a warp take different sides of a branch, one after the other",
        Code::UnusedShared => "a launch asks for shared memory that no block touches, and fewer blocks run at once",
        Code::RoundTrip => "an intermediate is written by one launch only to be read again by the next",
    }
}
