//! Every code that a fault can carry, with what it means in a line. Codes are stable: tools, tests and
//! essays (`cargo xtask explain`) name them.

/// Codes with their meanings, grouped as the book's reference groups them.
pub const CODES: &[(&str, &str)] = &[
    // Memory. These stop the launch, as on hardware.
    ("E-OOB-GLOBAL", "access before or past an allocation in global memory"),
    ("E-OOB-SHARED", "access outside of the block's shared memory"),
    ("E-OOB-LOCAL", "access outside of a thread's local memory"),
    ("E-OOB-CONST", "access outside of a constant variable"),
    ("E-OOB-PARAM", "access outside of the kernel's parameters"),
    ("E-NULL", "access through a null pointer"),
    ("E-HOST-POINTER", "a pointer to host memory was passed where device memory is expected"),
    ("E-UNMAPPED", "access to an address where nothing is allocated"),
    ("E-USE-AFTER-FREE", "access to memory that has been freed"),
    ("E-MISALIGNED", "access to an address that is not a multiple of the access's size"),
    ("E-WRITE-READONLY", "write to memory that kernels may only read"),
    // Initialisation.
    ("E-UNINIT-GLOBAL", "a value depends on global memory that was never written"),
    ("E-UNINIT-SHARED", "a value depends on shared memory that was never written"),
    ("E-UNINIT-LOCAL", "a value depends on local memory that was never written"),
    ("E-UNINIT-REGISTER", "a value depends on a variable that was never set"),
    ("W-COPY-UNINIT", "a copy to the host reads device memory that was never written"),
    // Races.
    ("E-RACE-SHARED", "two threads of a block access the same shared memory, one writes, and nothing orders them"),
    ("E-RACE-GLOBAL", "two threads of a block access the same global memory, one writes, and nothing orders them"),
    ("E-RACE-BLOCKS", "two blocks access the same global memory, one writes, and nothing orders them"),
    ("E-RACE-SCOPE", "two atomics race because the scope of one leaves the other out"),
    ("E-RACE-ASYNC", "shared memory is used before the asynchronous copy into it has been waited for"),
    ("E-RACE-STREAMS", "two kernels on different streams access the same memory, one writes, and nothing orders them"),
    ("E-RACE-HOST", "a kernel and a copy access the same memory, one writes, and nothing orders them"),
    ("W-RACE-BENIGN", "threads write the same value to the same place, and nothing orders them"),
    // Synchronisation.
    ("E-BARRIER-DIVERGENT", "a barrier that only part of the block reaches"),
    ("E-BARRIER-MISMATCH", "warps of a block wait at different barriers in the code that are the same to the hardware"),
    ("E-BARRIER-ID", "a barrier number past 15"),
    ("E-BARRIER-COUNT", "a barrier of a number of threads that is no multiple of 32"),
    ("E-SYNC-MASK", "a warp operation whose mask does not match the threads that execute it"),
    ("E-DEADLOCK", "every thread waits for another"),
    ("E-COOPERATIVE", "a grid barrier in a launch that is not cooperative, or that does not fit on the device"),
    ("E-BUDGET", "the kernel does not end"),
    // What a kernel does to itself.
    ("E-TRAP", "the kernel stopped itself"),
    ("E-ASSERT", "an assertion in the kernel failed"),
    ("E-STACK", "calls inside of calls, or their frames, use up the stack"),
    ("E-CALL", "a call to what is no function"),
    // Launches and calls that were refused.
    ("E-LAUNCH-GRID", "a grid that no device launches"),
    ("E-LAUNCH-BLOCK", "a block that this kernel or device does not run"),
    ("E-LAUNCH-SHARED", "more shared memory than a block may have"),
    ("E-LAUNCH-LOCAL", "more local memory than a thread may have"),
    ("E-LAUNCH-PARAMS", "parameters that do not match the kernel's"),
    ("E-LAUNCH-KERNEL", "a kernel that the module does not have"),
    ("E-LAUNCH-MEMORY", "no memory for what the launch needs"),
    ("E-COPY", "a copy or memset outside of what is allocated"),
    ("E-FREE", "a free of what is not allocated"),
    ("E-MODULE", "a module that cannot be loaded"),
    ("E-OUT-OF-MEMORY", "the device's memory is used up"),
    // The emulator's own limits: not the kernel's mistake.
    ("E-UNSUPPORTED-INSTRUCTION", "the emulator does not execute this instruction"),
    // Arithmetic lints: asked for, or shown beside a wrong result.
    ("L-INDEX-OVERFLOW", "an index overflows 32 bits before it is widened to an address"),
    ("L-SHIFT", "a shift by the width of the type or more"),
    ("L-FLOAT-TO-INT", "a float that does not fit the integer it is converted to"),
    ("L-DIVIDE-BY-ZERO", "an integer division by zero"),
    // Advice on speed.
    ("P-UNCOALESCED", "a warp's accesses are scattered over more sectors than they need"),
    ("P-BANK-CONFLICT", "lanes of a warp access different words of the same shared-memory bank"),
    ("P-SCALAR-ACCESS", "neighbouring elements are accessed one by one where 16 bytes at once were possible"),
    ("P-LOCAL-MEMORY", "spilled registers or an array that is indexed at run time go through memory"),
    ("P-DIVERGENT", "lanes of a warp take different sides of a branch, one after the other"),
    ("P-ROUND-TRIP", "an intermediate is written by one launch only to be read again by the next"),
];

/// The one-line meaning of a code.
pub fn meaning(code: &str) -> Option<&'static str> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, meaning)| *meaning)
}
