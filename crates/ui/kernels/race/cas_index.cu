// The first read of the loop also says which element is added: an old one is another element than the exchange's.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(x: i32[64], count: i32[1] zero)
extern "C" __global__ void add(const int* x, int* count) {
    int old = *count, assumed, value = x[old & 63];
    do {
        assumed = old;
        old = atomicCAS(count, assumed, assumed + value);
    } while (assumed != old);
}
