//! The weighted criteria of one of the course's sources, with a formula for each.
//!
//! The source gives weights and thresholds and no formulas. Here each criterion goes from 0 to 1, and is worth one half
//! where the source has its threshold.

use fusion_machine::Profile;
use serde::Serialize;

use crate::cost::{Cost, Needs};
use crate::graph::{Graph, Operation};

/// The source's weights, in its order.
const WEIGHTS: [(&str, f64); 5] = [
    ("bandwidth saving", 0.4),
    ("launch overhead", 0.2),
    ("register pressure", 0.2),
    ("complexity", 0.1),
    ("maintainability", 0.1),
];
/// Its thresholds: 30% of the bytes, 10% of the time in launches, 50 registers.
const BYTES: f64 = 0.30;
const LAUNCHES: f64 = 0.10;
pub(crate) const REGISTERS: u32 = 50;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Score {
    pub(crate) total: f64,
    pub(crate) criteria: Vec<Criterion>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Criterion {
    pub(crate) name: &'static str,
    pub(crate) weight: f64,
    /// 0 to 1.
    pub(crate) value: f64,
    /// The formula with its figures.
    pub(crate) formula: String,
}

impl Score {
    // ANCHOR: score
    /// `library_lost`: a matmul or attention would be written by hand.
    pub(crate) fn of(
        graph: &Graph,
        profile: &Profile,
        operations: &[usize],
        cost: &Cost,
        needs: &Needs,
        library_lost: bool,
    ) -> Score {
        let members: Vec<&Operation> = operations.iter().filter_map(|&i| graph.operations.get(i)).collect();
        let saved = cost.saved_share();
        let launches = cost.launch_share(profile);
        let registers = f64::from(needs.registers);
        let reductions = f64::from(members.iter().map(|operation| operation.operator.reductions).sum::<u32>());
        let heavy = members.iter().any(|operation| operation.kind().is_heavy());
        let library = if library_lost { 0.5 } else { 0.0 };
        let registers_of_library = heavy && !library_lost;
        let more = members.len().saturating_sub(2) as f64;

        let values = [
            (saved / (2.0 * BYTES), format!("{:.1}% of the bytes saved / {:.0}%", 100.0 * saved, 200.0 * BYTES)),
            (
                launches / (2.0 * LAUNCHES),
                format!("{:.1}% of the time is launches saved / {:.0}%", 100.0 * launches, 200.0 * LAUNCHES),
            ),
            match registers_of_library {
                true => (1.0, "1: the library's kernel stays as it is".to_owned()),
                false => (
                    1.0 - registers / f64::from(2 * REGISTERS),
                    format!("1 - {registers} registers (an estimate) / {}", 2 * REGISTERS),
                ),
            },
            (
                1.0 - 0.1 * reductions - library,
                format!("1 - 0.1 x {reductions} block-wide reductions - {library} for a matmul of your own"),
            ),
            (
                1.0 - 0.1 * more - library,
                format!("1 - 0.1 x {more} operations beyond two - {library} for a library replaced"),
            ),
        ];
        let criteria: Vec<Criterion> = (WEIGHTS.into_iter().zip(values))
            .map(|((name, weight), (value, formula))| Criterion { name, weight, value: value.clamp(0.0, 1.0), formula })
            .collect();
        Score { total: criteria.iter().map(|criterion| criterion.weight * criterion.value).sum(), criteria }
    }
    // ANCHOR_END: score
}

#[cfg(test)]
mod tests {
    use assert_approx_eq::assert_approx_eq;

    #[test]
    fn weights_sum_to_one() {
        let sum: f64 = super::WEIGHTS.iter().map(|(_, weight)| weight).sum();
        assert_approx_eq!(sum, 1.0, 1e-12);
    }
}
