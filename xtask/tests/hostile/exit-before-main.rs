// refused: crash; honest: refused: crash
// The same before `main`.
extern "C" fn early() { unsafe { _exit(0) } }
#[used]
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = early;
fn hostile() {}
