// A row that is read once: the threads that share it hold it in registers.
#pragma once
#include "pack.cuh"

// ANCHOR: row
// THREADS threads hold a row of at most CAPACITY elements. Each thread holds VECTORS packs of 16 bytes.
// Neighbouring threads hold neighbouring packs, so a warp's access is one piece of memory.
template <typename T, int THREADS, int VECTORS>
struct Row {
    static const int CAPACITY = THREADS * VECTORS * Pack<T>::SIZE;
    Pack<T> pack[VECTORS];
    int packs;  // in the row

    // index(j): the number, within the row, of this thread's pack j. holds(j): whether the row has this pack.
    __device__ __forceinline__ int index(int j) const { return threadIdx.x % THREADS + j * THREADS; }
    __device__ __forceinline__ bool holds(int j) const { return index(j) < packs; }

    // Reads a row of `columns` elements. `columns` must be a multiple of Pack<T>::SIZE.
    __device__ __forceinline__ void load(const T* row, size_t columns) {
        packs = (int)(columns / Pack<T>::SIZE);
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) pack[j] = load_pack(row, index(j));
        }
    }

    // The same for a row that no thread writes while the kernel runs. No store can change the row, so the compiler may
    // put all loads of a thread before the first use. Then all of them are in flight at once.
    __device__ __forceinline__ void load_constant(const T* row, size_t columns) {
        packs = (int)(columns / Pack<T>::SIZE);
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) pack[j] = load_pack_constant(row, index(j));
        }
    }

    // Like `load_constant`. In addition, the L2 keeps the cache lines of this row longer than others: see load_pack_kept.
    __device__ __forceinline__ void load_kept(const T* row, size_t columns) {
        packs = (int)(columns / Pack<T>::SIZE);
#pragma unroll
        for (int j = 0; j < VECTORS; j++) load_pack_kept(pack[j], row, index(j), holds(j));
    }

    // Begins with `start`, and replaces the result by f(result, element) for each element that this thread holds.
    template <typename F>
    __device__ __forceinline__ float fold(float start, F f) const {
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) start = ::fold(start, pack[j], f);
        }
        return start;
    }

    // Replaces every element by f(element, shared elements), rounded to T. `shared` are rows in global memory
    // that all rows of the matrix use, such as weights. From each of them, f gets the element in the same column.
    template <typename F, typename... Shared>
    __device__ __forceinline__ void apply(F f, const Shared*... shared) {
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) pack[j] = map(f, pack[j], load_pack(shared, index(j))...);
        }
    }

    // Replaces every element by f of it and of the element in the same place of another row.
    template <typename F>
    __device__ __forceinline__ void combine(F f, const Row& other) {
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) pack[j] = map(f, pack[j], other.pack[j]);
        }
    }

    // Writes f(element, shared elements) into another row, each pack as soon as it is computed. So the first stores are
    // on their way while the thread computes the rest. No thread may write the shared rows while the kernel runs: then
    // their loads can be in flight while the threads wait for each other. The row itself stays as it is.
    template <typename F, typename... Shared>
    __device__ __forceinline__ void write_each(T* to, F f, const Shared*... shared) const {
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) store_pack(to, index(j), map(f, pack[j], load_pack_constant(shared, index(j))...));
        }
    }

    // Writes the row.
    __device__ __forceinline__ void write(T* row) const {
#pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            if (holds(j)) store_pack(row, index(j), pack[j]);
        }
    }
};
// ANCHOR_END: row

// ANCHOR: number
// The row that this thread works on. A block of more threads has several rows.
template <int THREADS>
__device__ __forceinline__ size_t row_number() {
    return (size_t)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
}
// ANCHOR_END: number
