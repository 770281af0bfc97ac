// Copies from global to shared memory that go on while the thread does something else. From
// sm_80 up.
#pragma once

// ANCHOR: async
// Starts copying 16 bytes; zeros take their place where the source is not wanted, which is then
// not read. Both are at multiples of 16.
__device__ __forceinline__ void copy16_async(void* shared, const void* global, bool wanted) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(at), "l"(global), "r"(wanted ? 16 : 0) : "memory");
}

// Makes one group of the copies that this thread has started since the last one.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for this thread's groups, but for the last so many. Other threads see what was copied
// after a barrier.
template <int LEFT>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}
// ANCHOR_END: async
