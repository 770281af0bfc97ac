// Half, bfloat16 and 8-bit floats through the headers, whose inline assembly has scoped registers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void formats(__half2 *h, __nv_bfloat162 *b, __nv_fp8x4_e4m3 *q, __nv_fp8_e5m2 *p, const float4 *in) {
    int i = threadIdx.x;
    float4 v = in[i];
    h[i] = __hfma2(__floats2half2_rn(v.x, v.y), h[i], __half2half2(__float2half_rz(v.z)));
    h[i + 1] = h2exp(__hmax2(h[i], h[i + 2]));
    b[i] = __hadd2(b[i], __floats2bfloat162_rn(v.z, v.w));
    b[i + 1].x = hsqrt(__hmul(b[i].x, b[i].y));
    q[i] = __nv_fp8x4_e4m3(v);
    p[i] = __nv_fp8_e5m2(v.x + float(p[i + 1]));
    if (__hgt(h[i].x, h[i].y) && __hisnan(b[i].x)) p[i + 2] = __nv_fp8_e5m2(float(__half2int_rn(h[i].x)));
}
