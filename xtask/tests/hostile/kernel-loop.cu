// refused: fault; honest: refused: fault
// 
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    while (n + 1 > 0) { if (n > 0) out[0] = q[0]; }
}
