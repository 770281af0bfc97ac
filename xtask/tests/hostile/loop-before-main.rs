// refused: timeout
// 
extern "C" fn early() { loop { std::hint::spin_loop(); } }
#[used]
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = early;
fn hostile() {}
