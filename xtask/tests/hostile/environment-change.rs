// contained; honest: contained
// Programs that it starts would inherit it. It starts none.
fn hostile() {
    unsafe { std::env::set_var("LD_PRELOAD", "/tmp/x.so") };
}
