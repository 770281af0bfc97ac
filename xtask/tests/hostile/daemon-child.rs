// contained; honest: contained
// A child that leaves its session and its group, and holds the output open.
fn hostile() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| unsafe {
        if fork() == 0 {
            setsid();
            if fork() == 0 {
                std::thread::sleep(std::time::Duration::from_secs(1000));
            }
            _exit(0);
        }
    });
}
