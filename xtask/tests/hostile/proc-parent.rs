// contained
// The token and the seed would be there.
fn hostile() {
    for file in ["mem", "environ", "cmdline", "maps", "fd/0"] {
        let path = format!("/proc/{}/{file}", unsafe { getppid() });
        assert!(std::fs::read(&path).is_err(), "{path}");
    }
}
