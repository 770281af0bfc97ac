// contained
// The driver's settings, in its own process.
fn hostile() {
    for name in ["FUSION_EMULATOR_CHECKS", "FUSION_EMULATOR_BUDGET", "FUSION_EMULATED_GPU"] {
        unsafe { std::env::set_var(name, "none") };
    }
}
