// refused: fault
// 
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    if (n > 0) asm volatile("trap;");
}
