// contained
// Sets the clock.
fn hostile() {
    assert_eq!(unsafe { clock_settime(0, &[0, 0]) }, -1);
}
