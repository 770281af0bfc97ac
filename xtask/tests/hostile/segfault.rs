// refused: crash; honest: refused: crash
// 
fn hostile() {
    unsafe { std::ptr::without_provenance_mut::<u8>(16).write_volatile(1) };
}
