// refused
// Its own `memcmp`, by which everything is equal.
#[unsafe(no_mangle)]
extern "C" fn memcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }
fn hostile() {}
