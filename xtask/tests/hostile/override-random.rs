// contained
// Its own random numbers.
#[unsafe(no_mangle)]
extern "C" fn getrandom(buffer: *mut u8, len: usize, _: u32) -> isize { unsafe { buffer.write_bytes(4, len) }; len as isize }
fn hostile() {}
