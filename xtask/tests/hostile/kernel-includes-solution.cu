// refused: compile
// 
#include "@ROOT@/solutions/day22/src/mul_add.cu"
