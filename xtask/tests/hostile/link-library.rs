// refused: compile
// A library from a folder of its own.
#[link(name = "hostile")]
unsafe extern "C" { fn nothing(); }
fn hostile() { unsafe { nothing() } }
