//! What the iterations of an unrolled loop do once for all of them.
//!
//! Machine code that NVRTC 13.0 makes of a loop whose number of iterations is known before it has the sum of a counter,
//! its test and the branch once for four iterations; accesses of all four have the same register in their addresses, and
//! constants.

use crate::timing::program::{Kind, Op};

/// Of the instructions of one iteration, the last of which goes back: those that only one of several iterations needs.
pub(super) fn once(ops: &[&Op]) -> Vec<bool> {
    let mut once = vec![false; ops.len()];
    let Some((back, body)) = ops.split_last().filter(|(back, _)| back.kind == Kind::Branch) else { return once };
    once[body.len()] = true;
    let only = |register: u32| {
        let mut writers = (0..body.len()).filter(|&at| body[at].writes.contains(&register));
        writers.next().filter(|_| writers.next().is_none())
    };
    let readers = |register: u32| (0..ops.len()).filter(move |&at| ops[at].reads.contains(&register));
    let counts = |at: usize| {
        let op = body[at];
        let by_a_constant =
            |register| op.value.as_ref().is_some_and(|sum| sum.terms == [(register, 1)] && sum.constant != 0);
        matches!(op.writes[..], [register] if by_a_constant(register) && only(register) == Some(at))
    };
    // The test, where nothing else asks for what it says, and it compares a counter with what the loop does not change.
    let [decides] = back.reads[..] else { return once };
    if let Some(test) = only(decides).filter(|_| readers(decides).all(|at| at == body.len()))
        && body[test].writes == [decides]
        && body[test]
            .reads
            .iter()
            .all(|&read| body.iter().enumerate().all(|(at, op)| counts(at) || !op.writes.contains(&read)))
    {
        once[test] = true;
    }
    for (at, op) in body.iter().enumerate() {
        let [register] = op.writes[..] else { continue };
        let needless = |reader: usize| reader == at || once[reader] || is_base(ops[reader], register);
        if counts(at) && readers(register).all(needless) {
            once[at] = true;
        }
    }
    once
}

/// Whether an access has a register in its address, to which a constant can be added, and nowhere else.
fn is_base(op: &Op, register: u32) -> bool {
    let in_address = op.address.as_ref().is_some_and(|sum| sum.terms.contains(&(register, 1)));
    in_address && op.reads.iter().filter(|&&read| read == register).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;
    use crate::timing::cost::Cost;
    use crate::timing::program::linear::Linear;

    fn op(text: &str, kind: Kind, reads: &[u32], writes: &[u32]) -> Op {
        let cost = Cost::of(text, &crate::Profile::default().units);
        Op { reads: reads.into(), writes: writes.into(), ..Op::new(cost, kind) }
    }

    fn plus(register: u32, constant: i64) -> Op {
        let value = Some(Linear { terms: vec![(register, 1)], constant });
        Op { value, ..op("add.s32 %r1, %r1, 4;", Kind::Plain, &[register], &[register]) }
    }

    /// A loop over what `%rd2` leads to, that counts `%r1` down, with one more instruction.
    fn kept(more: Op) -> Vec<bool> {
        let address = Some(Linear { terms: vec![(2, 1)], constant: 8 });
        let load = op("ld.global.f32 %f3, [%rd2+8];", Kind::Load(Place::Global), &[2], &[3]);
        let ops = [
            Op { address, ..load },
            op("add.f32 %f4, %f4, %f3;", Kind::Plain, &[4, 3], &[4]),
            plus(2, 16),
            plus(1, -4),
            op("setp.ne.s32 %p5, %r1, 0;", Kind::Plain, &[1], &[5]),
            more,
            op("@%p5 bra L;", Kind::Branch, &[5], &[]),
        ];
        once(&ops.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_loop_counts_once_for_all_iterations() {
        let nothing = op("add.f32 %f6, %f6, %f3;", Kind::Plain, &[6, 3], &[6]);
        assert_eq!(kept(nothing), [false, false, true, true, true, false, true]);
        // Who computes with the counter needs it in each iteration; so does who asks what the test said, or stores a
        // pointer.
        let computes = op("cvt.rn.f32.s32 %f6, %r1;", Kind::Plain, &[1], &[6]);
        assert_eq!(kept(computes), [false, false, true, false, true, false, true]);
        let asks = op("selp.f32 %f6, %f3, %f4, %p5;", Kind::Plain, &[3, 4, 5], &[6]);
        assert_eq!(kept(asks), [false, false, true, false, false, false, true]);
        let stores = op("st.global.u64 [%rd6], %rd2;", Kind::Store(Place::Global), &[6, 2], &[]);
        assert_eq!(kept(stores), [false, false, false, true, true, false, true]);
        // What the loop writes may end it in any iteration.
        let finds = op("selp.b32 %r1, %r1, %r7, %p8;", Kind::Plain, &[1, 7, 8], &[1]);
        assert_eq!(kept(finds), [false, false, true, false, false, false, true]);
        // A sum that is no loop.
        assert_eq!(once(&[&plus(1, 4)]), [false]);
    }
}
