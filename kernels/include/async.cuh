// Copies from global to shared memory that run while the thread does something else. From
// sm_80 up.
#pragma once

// ANCHOR: async
// Starts copying 16 bytes. If `wanted` is false, it writes zeros and does not read the source.
// Both addresses are multiples of 16.
__device__ __forceinline__ void copy16_async(void* shared, const void* global, bool wanted) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(at), "l"(global), "r"(wanted ? 16 : 0) : "memory");
}

// Makes one group of the copies that this thread has started since the last one.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for this thread's groups, except the last LEFT. Other threads see the copied data only
// after a barrier.
template <int LEFT>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}
// ANCHOR_END: async
