/* The driver API from C, linked with -lcuda. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result_ = (call);                                                                                     \
        if (result_ != CUDA_SUCCESS) {                                                                                 \
            printf("line %d: %d\n", __LINE__, (int)result_);                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char *PTX = ".version 8.0\n.target sm_75\n.address_size 64\n"
                         ".visible .entry twice(.param .u64 x) {\n"
                         "  .reg .b32 %r<3>;\n  .reg .b64 %rd<4>;\n"
                         "  ld.param.u64 %rd0, [x];\n  mov.u32 %r0, %tid.x;\n  mul.wide.u32 %rd1, %r0, 4;\n"
                         "  add.u64 %rd2, %rd0, %rd1;\n  ld.global.u32 %r1, [%rd2];\n  add.u32 %r2, %r1, %r1;\n"
                         "  st.global.u32 [%rd2], %r2;\n  ret;\n}\n";

int main(void) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr x;
    int host[64], i;
    void *params[] = {&x};
    for (i = 0; i < 64; i++)
        host[i] = i;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&function, module, "twice"));
    CHECK(cuMemAlloc(&x, sizeof host));
    CHECK(cuMemcpyHtoD(x, host, sizeof host));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, params, 0));
    CHECK(cuMemcpyDtoH(host, x, sizeof host));
    for (i = 0; i < 64; i++)
        if (host[i] != 2 * i)
            return 1;
    puts("right");
    return 0;
}
