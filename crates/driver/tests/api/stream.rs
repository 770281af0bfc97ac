use cudarc::driver::result;

use crate::support::context;

#[test]
fn work_on_one_stream_is_seen_by_another() {
    let context = context();
    let first = context.default_stream();
    let x = first.clone_htod(&[1u32, 2, 3]).unwrap();
    let second = first.fork().unwrap();
    let y = second.clone_dtod(&x).unwrap();
    first.join(&second).unwrap();
    assert_eq!(first.clone_dtoh(&y).unwrap(), [1, 2, 3]);
}

#[test]
fn priorities_have_a_range() {
    let _context = context();
    assert_eq!(result::stream::get_priority_range().unwrap(), (0, -5));
}
