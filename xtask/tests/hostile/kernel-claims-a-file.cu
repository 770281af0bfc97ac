// refused: fault
// A fault at a line that is said to be one of another file.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
#line 1 "@SECRET@"
    out[n] = 1;
}
