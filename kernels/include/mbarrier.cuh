// Barriers in shared memory that can also wait for copies. From sm_90 up.
#pragma once

// ANCHOR: mbarrier
// Counts arrivals of threads and bytes of copies. A phase ends when all of them have come. Then
// the next phase begins. Phases are numbered from 0, and the lowest bit of a phase's number is
// its parity.
struct Mbarrier {
    unsigned long long state;

    // One thread calls this once. Before other threads use it, there must be a barrier.
    __device__ __forceinline__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at()), "r"(arrivals)
                     : "memory");
        // Makes it visible to copies.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __device__ __forceinline__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at()) : "memory");
    }
    // Arrives, and makes the phase wait for this many more bytes.
    __device__ __forceinline__ void arrive_and_expect(unsigned bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(at()), "r"(bytes) : "memory");
    }
    // Waits until the phase of this parity has ended: until the present phase has the other
    // parity. The first phase has parity 0, so a wait for parity 1 then ends at once.
    __device__ __forceinline__ void wait(unsigned parity) {
        for (int ended = 0; !ended;) {
            asm volatile("{.reg .pred p;\n\t"
                         "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                         "selp.b32 %0, 1, 0, p;}"
                         : "=r"(ended) : "r"(at()), "r"(parity) : "memory");
        }
    }

    __device__ __forceinline__ unsigned at() {
        return (unsigned)__cvta_generic_to_shared(this);
    }
};
// ANCHOR_END: mbarrier
