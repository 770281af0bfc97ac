// refused: timeout; honest: refused: timeout
// 
fn hostile() {
    std::thread::sleep(std::time::Duration::from_secs(1000));
}
