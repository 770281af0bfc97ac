// A limit that is looked at before the atomic: several may find room for one.
// fail: E-RACE-BLOCKS
// launch: take<<<8, 1>>>(count: i32[1] zero)
extern "C" __global__ void take(int* count) {
    if (*count < 4) atomicAdd(count, 1);
}
