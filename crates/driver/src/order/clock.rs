use crate::ffi::Handle;

/// Of each stream, how many of its operations are over by a certain point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Everything before that epoch is over, too.
    epoch: u64,
    known: Vec<(Handle, u64)>,
}

impl Clock {
    pub(super) fn at(epoch: u64) -> Self {
        Self { epoch, known: Vec::new() }
    }

    /// Whether a stream's operation of that number is over.
    pub(super) fn knows(&self, stream: Handle, number: u64) -> bool {
        self.known.iter().any(|(known, last)| *known == stream && *last >= number)
    }

    pub(super) fn learn(&mut self, stream: Handle, number: u64) {
        match self.known.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, last)) => *last = number.max(*last),
            None => self.known.push((stream, number)),
        }
    }

    /// Learns all that another knows.
    pub(super) fn join(&mut self, other: &Self) {
        if other.epoch > self.epoch {
            *self = other.clone();
        } else if other.epoch == self.epoch {
            for (stream, number) in &other.known {
                self.learn(*stream, *number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_an_old_epoch_know_nothing_more() {
        let (mut old, mut new) = (Clock::default(), Clock::at(1));
        old.learn(1, 5);
        new.learn(2, 3);
        let mut joined = new.clone();
        joined.join(&old);
        assert_eq!(joined, new);
        old.join(&new);
        assert_eq!(old, new);
        let mut other = Clock::at(1);
        other.learn(2, 7);
        other.learn(1, 1);
        joined.join(&other);
        assert!(joined.knows(2, 7) && joined.knows(1, 1) && !joined.knows(1, 2) && !joined.knows(3, 1));
    }
}
