// refused: crash
// 
fn hostile() {
    std::process::abort();
}
