// refused: compile
// The library of the solutions, which is built.
extern crate solutions_day22;
fn hostile() {}
