// refused: timeout
// A constant that is computed for ever.
#[allow(long_running_const_eval)]
const LONG: u64 = { let mut i = 0; loop { i ^= 1; if i == 2 { break i; } } };
fn hostile() { println!("{LONG}"); }
