// contained
// Reads and writes the worker's memory.
fn hostile() {
    let (mut here, there) = ([0_u8; 8], [0x400000_usize, 8]);
    let mine = [here.as_mut_ptr() as usize, 8];
    assert_eq!(unsafe { process_vm_readv(getppid(), &mine, 1, &there, 1, 0) }, -1);
    assert_eq!(unsafe { process_vm_writev(getppid(), &mine, 1, &there, 1, 0) }, -1);
}
