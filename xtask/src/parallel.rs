//! Work that has many independent parts, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` for every number below `count`, on as many threads as there are cores, and returns what it made in their order; or
/// the first error. After an error no more is begun.
pub(crate) fn each<T: Send, E: Send>(count: usize, work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(done);
            }
            match work(index) {
                Ok(made) => done.push((index, made)),
                Err(error) => {
                    next.store(count, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let parts: Result<Vec<Vec<(usize, T)>>, E> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut all: Vec<(usize, T)> = parts?.into_iter().flatten().collect();
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, made)| made).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_errors_come_through() {
        let squares = each(100, |index| Ok::<_, ()>(index * index));
        assert_eq!(squares, Ok((0..100).map(|index| index * index).collect()));
        assert_eq!(each(0, |_| Ok::<usize, ()>(1)), Ok(Vec::new()));
        assert_eq!(each(100, |index| if index == 7 { Err("seven") } else { Ok(()) }), Err("seven"));
    }
}
