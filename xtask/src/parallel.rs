//! Work that has many independent parts, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` for every number below `count`, on as many threads as there are cores, and returns what it made in their
/// order; or an error. After an error no more is begun.
pub(crate) fn each<T: Send, E: Send>(count: usize, work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
    match until_error(count, usize::MAX, work) {
        (_, Some(error)) => Err(error),
        (made, None) => Ok(made.into_iter().map(|(_, made)| made).collect()),
    }
}

/// The same on at most so many threads, with what was made beside an error, each with its number.
pub(crate) fn until_error<T: Send, E: Send>(
    count: usize,
    most: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> (Vec<(usize, T)>, Option<E>) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count).min(most);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return (done, None);
            }
            match work(index) {
                Ok(made) => done.push((index, made)),
                Err(error) => {
                    next.store(count, Ordering::Relaxed);
                    return (done, Some(error));
                }
            }
        }
    };
    let (mut all, mut first) = (Vec::new(), None);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        for thread in threads {
            let (done, error) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.extend(done);
            first = first.take().or(error);
        }
    });
    all.sort_by_key(|(index, _)| *index);
    (all, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_errors_come_through() {
        let squares = each(100, |index| Ok::<_, ()>(index * index));
        assert_eq!(squares, Ok((0..100).map(|index| index * index).collect()));
        assert_eq!(each(0, |_| Ok::<usize, ()>(1)), Ok(Vec::new()));
        let seven = |index| if index == 7 { Err("seven") } else { Ok(index) };
        assert_eq!(each(100, seven), Err("seven"));
        let (made, error) = until_error(100, 3, seven);
        assert_eq!(error, Some("seven"));
        assert!(made.iter().all(|(index, made)| index == made && *index != 7), "{made:?}");
        assert!((0..7).all(|index| made.iter().any(|(made, _)| *made == index)), "{made:?}");
    }
}
