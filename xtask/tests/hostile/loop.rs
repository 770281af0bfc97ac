// refused: timeout; honest: refused: timeout
// 
fn hostile() {
    loop { std::hint::spin_loop(); }
}
