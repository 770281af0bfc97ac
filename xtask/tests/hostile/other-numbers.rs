// contained
// System calls by the numbers of another interface of the same processor.
fn hostile() {
    #[cfg(target_arch = "x86_64")]
    assert_eq!(unsafe { syscall(0x4000_0000 + 41, 2_usize, 1_usize, 0_usize, 0_usize) }, -1);
}
