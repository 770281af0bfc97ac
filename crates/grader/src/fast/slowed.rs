//! What to look at in a kernel that the emulated device's clock finds slow, from its counts.

use fusion_course::{Exercise, Shapes};
use fusion_machine::{Counters, Report};

use crate::survey::{MUCH, Survey};

/// Threads of a warp.
const LANES: u64 = 32;

/// Bytes that a thread loads or stores at once, on average, from which on there is little to be won by more.
const WIDE: f64 = 12.0;

/// What the counts say about a submission that the model finds slow; where they say nothing, `next` does, if it knows better.
pub(super) fn slowed_by(exercise: &Exercise, survey: &Survey, next: Option<String>) -> String {
    let shape = survey.shape;
    let total = |report: &Report| {
        report.launches.iter().fold(Counters::default(), |mut sum, launch| {
            sum += launch.counters;
            sum
        })
    };
    let (sum, chain) = (total(&survey.submission), total(&survey.unfused));
    let load = sum.global_load;
    let ratio = |above: u64, below: f64| if below > 0.0 { above as f64 / below } else { 0.0 };
    let again = survey.read_again(exercise);
    let both = sum.global_store.bytes + load.bytes;
    let spread = ratio(32 * (load.sectors + sum.global_store.sectors), both as f64);
    let width = ratio(both, (LANES * (load.requests + sum.global_store.requests)) as f64);
    // Of an access without conflicts, a wavefront has 128 bytes, or all that the warp asks for. (What all lanes read at once has less: then
    // conflicts look fewer.) They count where they are most of the accesses.
    let (shared, stored) = (sum.shared_load, sum.shared_store);
    let least = (shared.requests + stored.requests).max((shared.bytes + stored.bytes) / 128);
    let wavefronts = shared.sectors + stored.sectors;
    let is_most = wavefronts > load.requests + sum.global_store.requests;
    let conflicts = if is_most { ratio(wavefronts, least as f64) } else { 0.0 };
    match () {
        () if sum.local_load.bytes > 0 => {
            "an array that registers do not hold lies in memory, and is read from there: \
                                           use constants as its indices (`#pragma unroll`), or a smaller one"
                .to_owned()
        }
        // A product of matrices reads them again whoever makes it.
        () if again > MUCH && !exercise.multiplies() && !exercise.is_arithmetic() => {
            let rows = match exercise.shapes {
                Shapes::Rows { .. } => "; the longer the row, the more threads it takes",
                _ => "",
            };
            format!(
                "the threads ask for {again:.1} times the bytes of the inputs: what is read again comes from a cache, and takes \
                 its time. Read each element once and keep it in a register{rows}"
            )
        }
        // Its operands come from shared memory: `next` knows better.
        () if exercise.is_arithmetic() && next.is_some() => next.unwrap_or_default(),
        () if spread > MUCH => {
            "let neighbouring threads touch neighbouring elements: a warp asks for more sectors than its \
                                bytes fill"
                .to_owned()
        }
        () if ratio(sum.warp_instructions, chain.warp_instructions as f64) > 1.0 => format!(
            "its warps execute {} instructions, and those of the whole chain {}: do threads without work go through loops \
             that are made for longer problems?",
            sum.warp_instructions, chain.warp_instructions
        ),
        () if conflicts > MUCH => format!(
            "accesses to shared memory go through the banks {conflicts:.1} times as often as they must: avoid bank conflicts, \
             for example by padding (`tile[32][33]`)"
        ),
        () if width < WIDE => "let each thread load and store 16 bytes at once".to_owned(),
        () if next.is_some() => next.unwrap_or_default(),
        () => {
            let each = ratio(sum.thread_instructions, shape.elements() as f64);
            format!("its accesses are as they should be; {each:.0} instructions per element are what is left to save")
        }
    }
}

#[cfg(test)]
mod tests {
    use fusion_course::{Shape, day26::ffn_sublayer};
    use fusion_machine::LaunchReport;
    use fusion_machine::report::Traffic;

    use super::*;

    const SHAPE: Shape = Shape::of(1024, 1024);

    /// A softmax that reads and writes so many floats for each element, so many bytes at once.
    fn advice(change: impl Fn(&mut Counters)) -> String {
        advice_on(&fusion_course::day23::softmax::EXERCISE, change)
    }

    fn advice_on(exercise: &Exercise, change: impl Fn(&mut Counters)) -> String {
        let traffic = |bytes: u64| Traffic { requests: bytes / 512, sectors: bytes / 32, bytes };
        let bytes = 4 * SHAPE.elements() as u64;
        let mut counters = Counters {
            global_load: traffic(bytes),
            global_store: traffic(bytes),
            warp_instructions: 1000,
            thread_instructions: 32_000,
            ..Counters::default()
        };
        let report = |counters| Report {
            launches: vec![LaunchReport { counters, ..LaunchReport::default() }],
            ..Report::default()
        };
        let unfused = report(counters);
        change(&mut counters);
        let survey = Survey { shape: SHAPE, submission: report(counters), unfused };
        slowed_by(exercise, &survey, None)
    }

    #[test]
    fn what_slows_a_kernel_is_told_from_its_counts() {
        for (said, text) in [
            (
                "3.0 times the bytes",
                advice(|c| {
                    let Traffic { requests, sectors, bytes } = c.global_load;
                    c.global_load = Traffic { requests, sectors: 3 * sectors, bytes: 3 * bytes };
                }),
            ),
            // All lanes read the same: the warp asks for one sector.
            (
                "instructions per element",
                advice(|c| c.global_load = Traffic { bytes: 3 * c.global_load.bytes, ..c.global_load }),
            ),
            ("neighbouring", advice(|c| c.global_load.sectors *= 8)),
            ("16 bytes at once", advice(|c| c.global_load.requests *= 4)),
            // A column of a tile is in one bank, and a warp's sixteen bytes per lane are four wavefronts without a conflict.
            (
                "banks 16.5 times",
                advice(|c| {
                    c.shared_store = Traffic { requests: 2000, sectors: 2000, bytes: 256_000 };
                    c.shared_load = Traffic { requests: 2000, sectors: 64_000, bytes: 256_000 };
                    c.global_load.requests *= 4;
                }),
            ),
            (
                "16 bytes at once",
                advice(|c| {
                    c.shared_load = Traffic { requests: 20_000, sectors: 80_000, bytes: 10_240_000 };
                    c.global_load.requests *= 4;
                }),
            ),
            ("pragma unroll", advice(|c| c.local_load.bytes = 4)),
            ("1001 instructions", advice(|c| c.warp_instructions += 1)),
            ("instructions per element", advice(|_| ())),
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    /// What is updated must be read too, and whoever multiplies matrices reads them again.
    #[test]
    fn what_must_be_read_is_read_once() {
        let bytes = 6 * SHAPE.elements() as u64;
        let loads = Traffic { requests: bytes / 512, sectors: bytes / 32, bytes };
        let text = advice_on(&fusion_course::day24::add_rmsnorm::EXERCISE, |c| c.global_load = loads);
        assert!(text.contains("instructions per element"), "{text}");
        let again = Traffic { requests: bytes / 32, sectors: bytes / 2, bytes: 16 * bytes };
        let text = advice_on(&ffn_sublayer::EXERCISE, |c| c.global_load = again);
        assert!(!text.contains("times the bytes"), "{text}");
    }
}
