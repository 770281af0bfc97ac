// One element of a row, scaled.
#pragma once
__device__ __forceinline__ float scaled(const float* row, int i, float by) {
    return row[i + 1] * by;
}
