// refused: crash; honest: refused: crash
// 
fn hostile() {
    std::process::abort();
}
