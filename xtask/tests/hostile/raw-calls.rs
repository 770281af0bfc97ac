// contained
// Calls that go around others: a ring of requests, a filter, another namespace, a mount.
fn hostile() {
    for call in [425, 321, 272, 165, 298, 323, 310, 248, 434, 438] {
        assert_eq!(unsafe { syscall(call, 0_usize, 0_usize, 0_usize, 0_usize) }, -1, "{call}");
    }
}
