// Barriers in shared memory that wait for copies, too. From sm_90 up.
#pragma once

// ANCHOR: mbarrier
// Counts arrivals of threads, and bytes of copies. A phase ends when all that it counts have
// come, and the next one begins. Phases are numbered from 0. The lowest bit of the number is
// the phase's parity.
struct Mbarrier {
    unsigned long long state;

    // Once, by one thread; before others use it, there must be a barrier.
    __device__ __forceinline__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at()), "r"(arrivals)
                     : "memory");
        // Copies see it, too.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __device__ __forceinline__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at()) : "memory");
    }
    // Arrives, and has the phase wait for so many bytes more.
    __device__ __forceinline__ void arrive_and_expect(unsigned bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(at()), "r"(bytes) : "memory");
    }
    // Waits until the phase of this parity has ended: until the present one has the other
    // parity. At first that is 0, and a wait for parity 1 ends at once.
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
