//! `rope`: the rotary embedding of queries and keys, of either pairing, in place and in one launch.

use half::bf16;

use crate::{
    Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, Scalar, ScalarArg, Shape, Shapes, Step, Tolerance,
};

crate::signature! {
    inputs(positions: i32, table: f32) outputs(q: bf16, k: bf16) scalars(pairing: I32(i32))
    sizes(tokens, q_heads, k_heads, head_dim)
}

pub const EXERCISE: Exercise = Exercise {
    name: "rope",
    day: 24,
    definition: "each pair (a, b) of a head becomes (a cos - b sin, b cos + a sin); cos and sin by the token's position",
    inputs: &[Param::rows("positions", DType::I32), Param::table("table", DType::F32, POSITIONS)],
    outputs: &[Param::elements("q", DType::Bf16).updated(), Param::keys("k", DType::Bf16).updated()],
    intermediates: &[
        Param::pairs("cos", DType::Bf16),
        Param::pairs("sin", DType::Bf16),
        Param::elements("q_cos", DType::Bf16),
        Param::elements("q_turned", DType::Bf16),
        Param::elements("q_sin", DType::Bf16),
        Param::keys("k_cos", DType::Bf16),
        Param::keys("k_turned", DType::Bf16),
        Param::keys("k_sin", DType::Bf16),
    ],
    scalars: &["pairing"],
    // As a framework does it without a compiler: x * cos + turned(x) * sin, in bf16, for the queries and for the keys.
    unfused: &[
        Step::by_row("rope_rows", &["positions", "table"], &["cos", "sin"]).with(&[ScalarArg::Size("head_dim")]),
        Step::by_row("rope_scale", &["q", "cos"], &["q_cos"]).with(QUERIES),
        Step::by_row("rope_turn", &["q"], &["q_turned"]).with(QUERIES),
        Step::by_row("rope_scale", &["q_turned", "sin"], &["q_sin"]).with(QUERIES),
        Step::by_row("rope_add", &["q_cos", "q_sin"], &["q"]).with(QUERIES),
        Step::by_row("rope_scale", &["k", "cos"], &["k_cos"]).with(KEYS),
        Step::by_row("rope_turn", &["k"], &["k_turned"]).with(KEYS),
        Step::by_row("rope_scale", &["k_turned", "sin"], &["k_sin"]).with(KEYS),
        Step::by_row("rope_add", &["k_cos", "k_sin"], &["k"]).with(KEYS),
    ],
    shapes: Shapes::Heads { timed: &[[32, 8, 128], [16, 16, 64]] },
    make,
    reference,
    choices: ("pairing", &["NeoX", "GPT-J"]),
    tolerances: &[Tolerance::EXACT; 2],
    // Two products and a sum.
    flops: |shape| 3.0 * (shape.elements() + shape.rows * shape.key_columns()) as f64,
    ladder: &[
        rung("a thread per pair", "rope_pairs"),
        rung("two pairs at once", "rope_two").multiple_of(4),
        rung("16 bytes", "rope_packs").multiple_of(16),
    ],
    hints: include_str!("rope.md"),
    ..Exercise::TEMPLATE
};

/// Rows of the table.
const POSITIONS: usize = 250;

/// A position of the table stands for so many: those of a long context, where few pairs are turned by hardly anything.
const STRETCH: usize = 400;

const QUERIES: &[ScalarArg] =
    &[ScalarArg::Named("pairing"), ScalarArg::Size("q_heads"), ScalarArg::Size("head_dim")];

const KEYS: &[ScalarArg] = &[ScalarArg::Named("pairing"), ScalarArg::Size("k_heads"), ScalarArg::Size("head_dim")];

/// A block a token.
const fn rung(name: &'static str, kernel: &'static str) -> Rung {
    const SIZES: &[ScalarArg] = &[
        ScalarArg::Named("pairing"),
        ScalarArg::Size("q_heads"),
        ScalarArg::Size("k_heads"),
        ScalarArg::Size("head_dim"),
    ];
    Rung::any(name, Step::by_row(kernel, &["positions", "table"], &["q", "k"]).with(SIZES))
}

/// Positions come in no order, some repeat the one before, and the first and the last of the table are among them. Which pairing it is
/// goes by the size, so that both are asked for at small sizes and large ones, and half of the calls draw another.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let half = shape.head() / 2;
    let pairing = (shape.rows + shape.head() / 2 + inputs.below(2) * inputs.below(2)) % 2;
    let mut positions: Vec<i32> = Vec::with_capacity(shape.rows);
    for token in 0..shape.rows {
        let position = match (inputs.below(8), positions.last()) {
            (0, Some(&before)) => before,
            (1, _) if shape.rows > 2 => 0,
            (2, _) => POSITIONS as i32 - 1,
            _ => 1 + inputs.below(POSITIONS - 1) as i32,
        };
        // One that is the token's own number tells nothing.
        positions.push(if position as usize == token { (position + 1) % POSITIONS as i32 } else { position });
    }
    let mut table = Vec::with_capacity(POSITIONS * shape.head());
    for position in 0..POSITIONS {
        let angle = |pair: usize| (STRETCH * position) as f64 * 10_000_f64.powf(-(pair as f64) / half as f64);
        let angles: Vec<f64> = (0..half).map(angle).collect();
        table.extend(angles.iter().map(|angle| angle.cos() as f32));
        table.extend(angles.iter().map(|angle| angle.sin() as f32));
    }
    let initial = [shape.elements(), shape.rows * shape.key_columns()];
    let initial = initial.map(|len| Some(Data::rounded(DType::Bf16, inputs.mixed(len))));
    Case {
        scalars: vec![Scalar::I32(pairing as i32)],
        initial: initial.into(),
        ..Case::new(shape, vec![Data::I32(positions), Data::F32(table)])
    }
}

/// Each of two products in f32 is off by 2^-24 of itself, and their sum by as much of the sum, or less where one product is added as it
/// is. All together that is twice 2^-24 of both products' magnitudes, and next to nothing. bf16 keeps 2^-8, so away from the middle
/// between two of its values there is one right result. Where the products cancel, the error is still theirs.
fn reference(case: &Case) -> Vec<Reference> {
    let head = case.shape.head();
    let half = head / 2;
    let table = case.f32s(1);
    let positions = case.f64s(0);
    let columns = [case.shape.columns, case.shape.key_columns()];
    let outputs = case.initial.iter().zip(columns).map(|(initial, columns)| {
        let before = initial.as_ref().map_or_else(Vec::new, Data::to_f64);
        let mut numbers = vec![(0.0, 0.0); before.len()];
        for first in (0..before.len()).step_by(head.max(1)) {
            let row = positions.get(first / columns.max(1)).map_or(0, |position| *position as usize * head);
            for pair in 0..half {
                let [one, other] = match case.scalar(0) as i32 {
                    0 => [first + pair, first + pair + half],
                    _ => [first + 2 * pair, first + 2 * pair + 1],
                };
                let (cos, sin) = (f64::from(table[row + pair]), f64::from(table[row + half + pair]));
                numbers[one] = difference(before[one] * cos, before[other] * sin);
                numbers[other] = difference(before[other] * cos, -before[one] * sin);
            }
        }
        Reference::rounded(DType::Bf16, numbers)
    });
    outputs.collect()
}

/// The difference of two products, and by how much f32 may be off.
fn difference(one: f64, other: f64) -> (f64, f64) {
    (one - other, 2.001 * (one.abs() + other.abs()) * f64::from(f32::EPSILON) / 2.0)
}
