// contained
// Its own `cuLaunchKernel`, which does nothing.
#[unsafe(no_mangle)]
extern "C" fn cuLaunchKernel() -> u32 { 0 }
fn hostile() {}
