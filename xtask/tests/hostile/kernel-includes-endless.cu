// refused: compile
// A file without an end.
#include "/dev/urandom"
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {}
