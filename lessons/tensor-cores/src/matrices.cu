// Matrices of 8 x 8 elements of 16 bits between shared memory and registers.

__device__ unsigned shared_address(const void* at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

// ANCHOR: load
// Shared memory has four matrices, element after element, and each element is its own number.
// Lane l names row l % 8 of matrix l / 8: so the rows lie one after the other. A lane writes
// its four registers of `ldmatrix`, then the four of `ldmatrix.trans`, then those that
// `movmatrix` makes of the first four.
extern "C" __global__ void load(unsigned* out) {
    __shared__ __align__(16) unsigned short rows[32][8];
    const int lane = threadIdx.x;
    for (int i = 0; i < 8; i++) rows[lane][i] = lane * 8 + i;
    __syncwarp();
    unsigned plain[4], turned[4], moved[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(plain[0]), "=r"(plain[1]), "=r"(plain[2]), "=r"(plain[3])
                 : "r"(shared_address(rows[lane])) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(turned[0]), "=r"(turned[1]), "=r"(turned[2]), "=r"(turned[3])
                 : "r"(shared_address(rows[lane])) : "memory");
    for (int i = 0; i < 4; i++) {
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
                     : "=r"(moved[i]) : "r"(plain[i]));
        out[lane * 12 + i] = plain[i];
        out[lane * 12 + 4 + i] = turned[i];
        out[lane * 12 + 8 + i] = moved[i];
    }
}
// ANCHOR_END: load

#if __CUDA_ARCH__ >= 900
// What `ldmatrix` has loaded, `stmatrix` stores elsewhere. Words of two elements come out.
extern "C" __global__ void store(unsigned* out) {
    __shared__ __align__(16) unsigned short rows[32][8], copy[32][8];
    const int lane = threadIdx.x;
    for (int i = 0; i < 8; i++) rows[lane][i] = lane * 8 + i, copy[lane][i] = 0;
    __syncwarp();
    unsigned held[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3])
                 : "r"(shared_address(rows[lane])) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(shared_address(copy[lane])), "r"(held[0]), "r"(held[1]), "r"(held[2]),
                    "r"(held[3]) : "memory");
    __syncwarp();
    for (int i = 0; i < 4; i++) out[lane * 4 + i] = ((unsigned*)copy)[lane * 4 + i];
}
#endif

// ANCHOR: walk
// A fragment of 16 x 16 elements from a tile whose rows are `pitch` bytes apart. A swizzle
// changes the number of a chunk of 16 bytes within its row, or within 128 bytes of it: by the
// number of its line of 128 bytes (1), or by that of its row (2).
extern "C" __global__ void walk(int pitch, int swizzle, unsigned* out) {
    __shared__ __align__(1024) unsigned char tile[16 * (512 + 16)];
    const int lane = threadIdx.x;
    for (int i = lane; i < 16 * (512 + 16) / 4; i += 32) ((unsigned*)tile)[i] = 0;
    __syncwarp();
    // A chunk of a row has its own number, wherever it lies.
    const int chunks = pitch % 32 == 0 ? min(pitch, 128) / 16 : 1;
    auto place = [&](int row, int chunk) {
        const int at = row * pitch + chunk * 16;
        if (swizzle == 1) return at ^ (at / 128 % chunks * 16);
        if (swizzle == 2) return at ^ (row % chunks * 16);
        return at;
    };
    const int row = lane % 16, chunk = lane / 16;
    *(unsigned*)&tile[place(row, chunk)] = row * 2 + chunk + 1;
    __syncwarp();
    unsigned a[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(&tile[place(row, chunk)])) : "memory");
    for (int i = 0; i < 4; i++) out[lane * 4 + i] = a[i];
}
// ANCHOR_END: walk
