// Inline assembly with scopes, labels, predicates and wide arithmetic.
extern "C" __global__ void assembly(unsigned *out, unsigned long long *wide, unsigned n) {
    unsigned x = out[threadIdx.x], y;
    asm volatile("{\n\t.reg .b32 t;\n\tadd.u32 t, %1, 1;\n\t{\n\t.reg .b32 t;\n\tmov.b32 t, 7;\n\t}\n\tmov.b32 %0, t;\n\t}"
                 : "=r"(y) : "r"(x));
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, %1; @!p bra L%=; add.u32 %0, %0, 3; L%=: }" : "+r"(x) : "r"(n));
    asm("add.cc.u32 %0, %0, %2; addc.u32 %1, %1, 0;" : "+r"(x), "+r"(y) : "r"(n));
    asm("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x) : "r"(y), "r"(n));
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide[1]) : "r"(x), "r"(y));
    asm("mov.b64 {%0, %1}, %2;" : "=r"(x), "=r"(y) : "l"(wide[2]));
    asm("prmt.b32 %0, %1, 0, 0x4321;" : "=r"(out[3]) : "r"(x));
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(out));
    asm volatile("bar.sync 1, 64;");
    out[threadIdx.x] = x + y;
}
