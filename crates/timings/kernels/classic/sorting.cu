// Sorting networks, look-ups of keys, and counts of characters.
// by others
// sweep: n = 2^16 2^20 2^24 2^27; j = 64; block = 256
// sweep: n = 2^22; j = 1 n/4; block = 256 512
// launch: bitonic_step_global<<<{ceil(n, block)}, {block}>>>(dev_values: f32[{n}], j: i32 = {j}, k: i32 = {2 * j}, n: i32 = {n})
// sweep: n = 2^14 2^18 1000000 2^24; tile = 1024
// sweep: n = 2^20; tile = 128 2048
// launch: bitonic_tile_shared<<<{ceil(n, tile)}, {tile / 2}, {4 * tile}>>>(in: u32[{n}], out: u32[{n}] uninit, n: u32 = {n})
// sweep: n = 2^14; queries = 2^14 2^20; block = 256
// sweep: n = 2^22 2^27; queries = 2^16 2^22; block = 256
// launch: binary_search_keys<<<{ceil(queries, block)}, {block}>>>(keys: i32[{n}], found: i32[{queries}] uninit, n: i32 = {n}, queries: i32 = {queries})
// sweep: slots = 2^16 2^22 2^26; queries = 2^16 2^22; block = 128
// launch: hash_probe<<<{ceil(queries, block)}, {block}>>>(table: u32[{2 * slots}], out: u32[{queries}] uninit, mask: u32 = {slots - 1}, queries: u32 = {queries})
// sweep: n = 2^18 2^22 2^26 2^28; block = 256
// sweep: n = 2^26; block = 64 1024
// launch: count_byte_x16<<<{min(ceil(n, 16 * block), 132 * 16)}, {block}>>>(text: u8[{n}], count: u64[1] zero, wanted: u32 = 10, n: u64 = {n})
// sweep: n = 2^16 1000000 2^23 2^26; block = 256
// launch: character_classes<<<{ceil(n, block)}, {block}>>>(text: u8[{n}], classes: i32[4] zero, n: i32 = {n})
// sweep: n = 2^14 2^18 2^21 2^24; length = 16; block = 128
// launch: hash_strings<<<{ceil(n, block)}, {block}>>>(text: u8[{n * length}], hashes: u64[{n}] uninit, n: i32 = {n}, length: i32 = {length})

// One step of a network, as it is launched again and again.
extern "C" __global__ void bitonic_step_global(float* dev_values, int j, int k, int n) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    int ixj = i ^ j;
    if (i < n && ixj > i && ixj < n) {
        float a = dev_values[i], b = dev_values[ixj];
        bool ascending = (i & k) == 0;
        dev_values[i] = ascending ? fminf(a, b) : fmaxf(a, b);
        dev_values[ixj] = ascending ? fmaxf(a, b) : fminf(a, b);
    }
}

// All steps for a tile: a thread has two places of it.
extern "C" __global__ void bitonic_tile_shared(const unsigned* in, unsigned* out, unsigned n) {
    extern __shared__ unsigned keys[];
    const unsigned size = 2 * blockDim.x, first = blockIdx.x * size;
    for (unsigned e = threadIdx.x; e < size; e += blockDim.x) {
        keys[e] = first + e < n ? in[first + e] * 2654435761u : 0xffffffffu;
    }
    for (unsigned k = 2; k <= size; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            unsigned low = 2 * threadIdx.x - (threadIdx.x & (j - 1)), high = low + j;
            unsigned a = keys[low], b = keys[high];
            bool up = (low & k) == 0;
            keys[low] = up ? min(a, b) : max(a, b);
            keys[high] = up ? max(a, b) : min(a, b);
        }
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < size && first + e < n; e += blockDim.x) out[first + e] = keys[e];
}

// A key is the number of its page of 128 with what is stored for it, so that key m is m.
extern "C" __global__ void binary_search_keys(const int* keys, int* found, int n, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    int wanted = (int)((q * 2654435761u) >> 4) % n;
    int low = 0, high = n;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (mid / 128 * 128 + keys[mid] < wanted) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    found[q] = low;
}

struct Slot {
    unsigned key, value;
};
// Linear probing, up to a slot whose key has the same remainder.
extern "C" __global__ void hash_probe(const Slot* __restrict__ table, unsigned* out, unsigned mask, unsigned queries) {
    unsigned q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    unsigned hash = q;
    hash ^= hash >> 16;
    hash *= 0x85ebca6b;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35;
    hash ^= hash >> 16;
    unsigned slot = hash & mask, result = 0xffffffff;
    for (int probe = 0; probe < 16; probe++) {
        Slot s = table[slot];
        if (s.key % 8 == 2 * (hash >> 28) % 8) {
            result = s.value;
            break;
        }
        slot = (slot + 1) & mask;
    }
    out[q] = result;
}

extern "C" __global__ void count_byte_x16(const uint4* __restrict__ text, unsigned long long* count, unsigned wanted,
                                          size_t n) {
    const unsigned pattern = wanted * 0x01010101u;
    unsigned own = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += (size_t)gridDim.x * blockDim.x) {
        const uint4 v = text[i];
        own += __popc(__vcmpeq4(v.x, pattern)) + __popc(__vcmpeq4(v.y, pattern));
        own += __popc(__vcmpeq4(v.z, pattern)) + __popc(__vcmpeq4(v.w, pattern));
    }
    own = __reduce_add_sync(0xffffffffu, own / 8);
    if (threadIdx.x % 32 == 0) atomicAdd(count, (unsigned long long)own);
}

extern "C" __global__ void character_classes(const char* text, int* classes, int n) {
    __shared__ int counts[4];
    if (threadIdx.x < 4) counts[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        switch (text[i]) {
            case ' ': case '\t': case '\n': case '\r':
                atomicAdd(&counts[0], 1);
                break;
            case 'a': case 'e': case 'i': case 'o': case 'u':
                atomicAdd(&counts[1], 1);
                break;
            case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
                atomicAdd(&counts[2], 1);
                break;
            default:
                atomicAdd(&counts[3], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&classes[threadIdx.x], counts[threadIdx.x]);
}

// FNV-1a of fixed-length strings, one for each thread.
extern "C" __global__ void hash_strings(const unsigned char* text, unsigned long long* hashes, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long hash = 14695981039346656037ull;
    for (int k = 0; k < length; k++) {
        hash ^= text[(size_t)i * length + k];
        hash *= 1099511628211ull;
    }
    hashes[i] = hash;
}
