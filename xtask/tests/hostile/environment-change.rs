// contained; honest: contained
// It would be inherited by whom it starts, and there is nobody.
fn hostile() {
    unsafe { std::env::set_var("LD_PRELOAD", "/tmp/x.so") };
}
