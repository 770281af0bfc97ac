// Inline PTX that compiles and is wrong. Each kernel is launched with one block.

// ANCHOR: lost
// Counts the threads: the old value is of no interest.
extern "C" __global__ void lost(unsigned* count) {
    unsigned before;
    asm("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count));
}
// ANCHOR_END: lost

// ANCHOR: kept
extern "C" __global__ void kept(unsigned* count) {
    unsigned before;
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
}
// ANCHOR_END: kept

// ANCHOR: poll
// The first warp waits until the second one has set a flag.
extern "C" __global__ void poll(unsigned* flag) {
    if (threadIdx.x / 32 == 1) {
        if (threadIdx.x == 32) atomicExch(flag, 1);
        return;
    }
    unsigned seen = 0;
    while (seen == 0) asm("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag));
}
// ANCHOR_END: poll

// ANCHOR: poll_volatile
extern "C" __global__ void poll_volatile(unsigned* flag) {
    if (threadIdx.x / 32 == 1) {
        if (threadIdx.x == 32) atomicExch(flag, 1);
        return;
    }
    unsigned seen = 0;
    while (seen == 0)
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
}
// ANCHOR_END: poll_volatile

// ANCHOR: generic
// Reads shared memory by an address of C++, which is a generic one.
extern "C" __global__ void generic(unsigned* out) {
    __shared__ unsigned words[32];
    words[threadIdx.x] = threadIdx.x;
    __syncwarp();
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "l"(&words[threadIdx.x]) : "memory");
    out[threadIdx.x] = word;
}
// ANCHOR_END: generic

// ANCHOR: half
// All lanes are named, but only half of them come here.
extern "C" __global__ void half_of_the_lanes(unsigned* out) {
    unsigned word = threadIdx.x;
    if (threadIdx.x < 16) {
        asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(word));
    }
    out[threadIdx.x] = word;
}
// ANCHOR_END: half

// ANCHOR: rows
// The rows of a small matrix must begin at multiples of 16 bytes, and these are 20 apart.
extern "C" __global__ void rows(unsigned* out) {
    __shared__ __align__(16) unsigned short tile[8][10];
    for (int i = threadIdx.x; i < 80; i += 32) tile[i / 10][i % 10] = i;
    __syncwarp();
    const unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x % 8][0]);
    unsigned fragment;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(fragment)
                 : "r"(at)
                 : "memory");
    out[threadIdx.x] = fragment;
}
// ANCHOR_END: rows
