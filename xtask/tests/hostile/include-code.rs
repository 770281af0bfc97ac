// refused: compile
// The solution.
#[path = "@ROOT@/solutions/day22/src/mul_add.rs"]
mod solution;
fn hostile() {}
