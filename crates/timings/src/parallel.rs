//! Work for all of the host's cores.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What comes of each item, in their order, or the first error.
pub(crate) fn map<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, items.get(index)?)))
        {
            let result = work(item);
            // Nobody panics with it in hand.
            if let Ok(mut done) = done.lock() {
                done.push((index, result));
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..cores.min(items.len()) {
            scope.spawn(worker);
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_errors_before_them() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(map(&items, |item| Ok::<_, ()>(2 * item)).unwrap()[99], 198);
        assert_eq!(map(&items, |item| if *item > 50 { Err(*item) } else { Ok(()) }), Err(51));
        assert_eq!(map(&[], |item: &u32| Ok::<_, ()>(*item)), Ok(Vec::new()));
    }
}
