//! Which experts of a mixture work on which tokens.

use crate::Shape;

/// Experts that work on a token.
pub const CHOICES: usize = 2;

/// The slots of a mixture, sorted by expert. A *slot* is a token with one of the experts that work on it: slot `CHOICES * t + i` is token t
/// with the i-th of its experts, which all differ.
///
/// The first choices come to every expert in turn, so that at a large size each has some tokens. The second ones come to some experts more
/// often than to others, as in models. Which experts these are depends on the number of experts alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    order: Vec<usize>,
    offsets: Vec<usize>,
}

impl Routing {
    /// The routing of a mixture's tokens; of any other shape there are no slots. The tokens of a large shape are routed as those of its
    /// period are, again and again, because their values repeat themselves.
    pub fn of(shape: Shape) -> Self {
        let experts = shape.experts.unwrap_or_default();
        let period = shape.period().rows.max(1);
        let mut slots: Vec<(usize, usize)> = Vec::with_capacity(shape.slots());
        for token in (0..shape.rows).filter(|_| experts > 0) {
            let chosen = chosen(token % period, experts).into_iter().enumerate();
            slots.extend(chosen.map(|(choice, expert)| (expert, CHOICES * token + choice)));
        }
        slots.sort_unstable();
        let offsets = (0..=experts).map(|expert| slots.partition_point(|&(of, _)| of < expert)).collect();
        Self { order: slots.into_iter().map(|(_, slot)| slot).collect(), offsets }
    }

    /// All slots, those of the first expert first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Where in the order the slots of each expert begin; at the end, their number.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// For each expert, where its slots begin in the order, and these slots.
    pub fn experts(&self) -> impl Iterator<Item = (usize, &[usize])> {
        self.offsets.windows(2).map(|pair| (pair[0], &self.order[pair[0]..pair[1]]))
    }
}

/// The experts of a token, of so many.
fn chosen(token: usize, experts: usize) -> [usize; CHOICES] {
    let stride = stride(experts);
    let first = (token * stride + token / experts * 7) % experts;
    // In [0, 1), and without a pattern that goes with the token's number.
    let share = fastrand::Rng::with_seed(token as u64 ^ 0x5eed_0000).f64();
    let popular = ((share * share * experts as f64) as usize * stride + experts / 3) % experts;
    let second = if popular == first { (first + 1) % experts } else { popular };
    if token.is_multiple_of(2) { [first, second] } else { [second, first] }
}

/// A step by which all of so many numbers are reached before one comes again.
fn stride(numbers: usize) -> usize {
    fn divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    let about = (numbers as f64 * 0.618) as usize;
    (about..).find(|&step| step > 0 && divisor(step, numbers) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shapes;

    /// The number of slots of each expert.
    fn loads(shape: Shape) -> Vec<usize> {
        Routing::of(shape).experts().map(|(_, slots)| slots.len()).collect()
    }

    #[test]
    fn each_token_has_two_experts_that_differ() {
        for shape in (Shapes::Routing { timed: &[] }).all(1) {
            let routing = Routing::of(shape);
            let mut of = vec![Vec::new(); shape.rows];
            for (expert, (begin, slots)) in routing.experts().enumerate() {
                assert!(slots.is_sorted() && begin == routing.offsets()[expert], "{shape}");
                slots.iter().for_each(|slot| of[slot / CHOICES].push(expert));
            }
            assert!(of.iter().all(|experts| experts.len() == CHOICES && experts[0] != experts[1]), "{shape}");
            let mut order = routing.order().to_vec();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..shape.slots()), "{shape}");
        }
    }

    #[test]
    fn some_experts_have_no_token_some_one_and_some_more_than_a_tile() {
        let loads: Vec<usize> = (Shapes::Routing { timed: &[] }).all(1).into_iter().flat_map(loads).collect();
        assert!(loads.contains(&0) && loads.contains(&1) && loads.iter().any(|&load| load > 256), "{loads:?}");
    }

    #[test]
    fn some_tile_is_full_and_some_has_one_row_more_where_rows_are_whole_packs() {
        let packs =
            |shape: &Shape| shape.columns.is_multiple_of(8) && shape.terms().is_multiple_of(8) && shape.terms() > 0;
        let shapes = (Shapes::Routing { timed: &[] }).all(1).into_iter().filter(packs);
        let loads: Vec<usize> = shapes.flat_map(loads).collect();
        assert!([32, 33].iter().all(|load| loads.contains(load)) && loads.iter().any(|&load| load > 256), "{loads:?}");
    }

    #[test]
    fn where_there_are_many_tokens_every_expert_has_some_and_none_has_most() {
        let loads = loads(Shape::routing(512, 64, 1024, 512));
        assert!(loads.iter().all(|load| (4..100).contains(load)), "{loads:?}");
        assert!(loads.iter().any(|&load| load > 48), "{loads:?}");
    }

    #[test]
    fn a_large_shape_is_routed_as_its_period() {
        let (large, period) = (Shape::routing(512, 64, 1024, 512), Shape::routing(512, 64, 1024, 512).period());
        assert_eq!(period.period(), period);
        assert!(period.rows < large.rows && !large.rows.is_multiple_of(period.rows));
        let experts = |shape: Shape| {
            let mut of = vec![0; shape.slots()];
            let routing = Routing::of(shape);
            for (expert, (_, slots)) in routing.experts().enumerate() {
                slots.iter().for_each(|&slot| of[slot] = expert);
            }
            of
        };
        let (all, one) = (experts(large), experts(period));
        assert!(all.iter().enumerate().all(|(slot, expert)| one[slot % one.len()] == *expert));
    }
}
