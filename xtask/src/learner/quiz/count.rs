//! What can be counted without a device: launches and bytes, by the specification that the grader counts with.

use fusion_course::{Exercise, Extent, Param, Shape, Shapes, Step};

use super::question::{Answer, Question};

/// The questions on an exercise at the first of its large problems.
pub(super) fn questions(exercise: &Exercise) -> Vec<Question> {
    let shape = exercise.large(exercise.surveyed)[0];
    let mut questions = vec![launches(exercise, shape)];
    // Where one kernel does not pay, and of a product of matrices, bytes are not what decides.
    if exercise.plan.is_empty() && !exercise.is_arithmetic() {
        questions.extend([chain(exercise, shape), fused(exercise, shape), ceiling(exercise, shape)]);
    }
    questions
}

/// What the kernel is given: `It reads x (f32) and writes out (i8).`
pub(super) fn buffers(exercise: &Exercise) -> String {
    let updated = exercise.outputs.iter().filter(|param| param.updated);
    let read = listed(exercise.inputs.iter().chain(updated));
    format!("It reads {read} and writes {}.", listed(exercise.outputs.iter()))
}

/// `x (f32), weight (bf16 for each column)`.
fn listed<'a>(params: impl Iterator<Item = &'a Param>) -> String {
    let named = |param: &Param| {
        let each = match param.extent {
            Extent::Elements => "",
            Extent::Transposed => ", transposed",
            Extent::Rows => " for each row",
            Extent::Columns => " for each column",
            Extent::Square => ", square",
            Extent::Left => ", M x K",
            Extent::Right => ", K x N",
            Extent::Tensors { .. } => " for each tensor",
            Extent::Chunks { .. } => " for each chunk",
            Extent::Keys => " for each element of the keys",
            Extent::Scores => " for each query and key",
            Extent::Pairs => " for each token and pair",
            Extent::Table(_) => ", a table",
            Extent::Slots(_) => " for each token and expert",
            Extent::Experts { .. } => ", a matrix for each expert",
            Extent::Order => " for each token and expert",
            Extent::Offsets => " for each expert",
            Extent::Cache => " for each element of the pages",
            Extent::PageTable => " for each page of a sequence",
            Extent::Parts { .. } => " for each part of a sequence",
        };
        format!("{} ({}{each})", param.name, format!("{:?}", param.dtype).to_lowercase())
    };
    params.map(named).collect::<Vec<_>>().join(", ")
}

/// By how much an answer may be off: what a row has beside its elements is little, and may be left out.
const WITHIN: f64 = 0.02;

fn launches(exercise: &Exercise, shape: Shape) -> Question {
    // How often a step is launched: once, or for each expert.
    let times = |step: &Step| shape.experts.filter(|_| step.each_expert).unwrap_or(1);
    let kernel = |step: &Step| match times(step) {
        1 => step.kernel.to_owned(),
        times => format!("{times} x {}", step.kernel),
    };
    let right: usize = exercise.unfused.iter().map(times).sum();
    let kernels: Vec<String> = exercise.unfused.iter().map(kernel).collect();
    let each = shape.experts.map_or(String::new(), |experts| {
        format!(", and launches those of an expert once for each of {experts} experts")
    });
    let between = match exercise.intermediates {
        [] => String::new(),
        kept => format!(" Between them they keep {}.", listed(kept.iter())),
    };
    Question {
        id: format!("{}/launches", exercise.name),
        ask: format!(
            "Unfused, the course has one kernel for each operation on whole arrays{each}. How many launches is that?"
        ),
        answer: Answer::Number { right: right as f64, within: 0.0 },
        because: format!("{right}: {}.{between} {}.", kernels.join(", "), allowed(exercise.launches)),
    }
}

fn allowed(launches: u32) -> String {
    match launches {
        1 => "The exercise allows one".to_owned(),
        more => format!("The exercise allows {more}"),
    }
}

fn chain(exercise: &Exercise, shape: Shape) -> Question {
    let steps: Vec<String> = exercise.unfused.iter().map(|step| moved(exercise, step, shape)).collect();
    let right = per_element(exercise.unfused_bytes(shape), shape);
    // How long a row is matters where something is read for each row or column.
    let at = match exercise.shapes {
        Shapes::Elementwise => String::new(),
        Shapes::Rows { .. } | Shapes::Matrix { .. } => format!(", at {} rows of {}", shape.rows, shape.columns),
        Shapes::Product { .. }
        | Shapes::Heads { .. }
        | Shapes::Attention { .. }
        | Shapes::Routing { .. }
        | Shapes::Paged { .. } => {
            format!(", at {shape}")
        }
        Shapes::Tensors { .. } => format!(", for {} tensors of {} elements on average", shape.rows, shape.columns),
    };
    Question {
        id: format!("{}/chain", exercise.name),
        ask: format!("How many bytes per element does this chain move{at}?"),
        answer: Answer::Number { right, within: WITHIN },
        because: format!("{}: {}.", shown(right), steps.join(", ")),
    }
}

/// `mul reads 8 and writes 4`.
fn moved(exercise: &Exercise, step: &Step, shape: Shape) -> String {
    let read = per_element(step.read_bytes(exercise, shape), shape);
    let written = per_element(step.written_bytes(exercise, shape), shape);
    format!("{} reads {} and writes {}", step.kernel, shown(read), shown(written))
}

fn fused(exercise: &Exercise, shape: Shape) -> Question {
    let right = per_element(exercise.minimum_bytes(shape), shape);
    let named = |params: Vec<&str>| params.join(", ");
    let updated = exercise.outputs.iter().filter(|param| param.updated);
    let read = named(exercise.inputs.iter().chain(updated).map(|param| param.name).collect());
    let written = named(exercise.outputs.iter().map(|param| param.name).collect());
    Question {
        id: format!("{}/fused", exercise.name),
        ask: "And how many must any kernel move, however it is fused?".to_owned(),
        answer: Answer::Number { right, within: WITHIN },
        because: format!(
            "{}: it reads {read} ({}) and writes {written} ({}).",
            shown(right),
            shown(per_element(exercise.read_bytes(shape), shape)),
            shown(per_element(exercise.written_bytes(shape), shape))
        ),
    }
}

fn ceiling(exercise: &Exercise, shape: Shape) -> Question {
    let right = exercise.ideal_speedup(shape);
    let [unfused, needed] =
        [exercise.unfused_bytes(shape), exercise.minimum_bytes(shape)].map(|bytes| shown(per_element(bytes, shape)));
    Question {
        id: format!("{}/ceiling", exercise.name),
        ask: "If bytes alone decide: how many times as fast is the fused kernel at most?".to_owned(),
        answer: Answer::Number { right, within: WITHIN },
        because: format!("{unfused} / {needed} = {right:.2}. The bar for fast is {:.2}.", exercise.bar * right),
    }
}

/// Of tokens, elements are those of all heads, of queries and of keys.
fn per_element(bytes: u64, shape: Shape) -> f64 {
    bytes as f64 / (shape.elements() + shape.rows * shape.key_columns()) as f64
}

/// With two digits behind the point, where they are no zeros; 0 is what is too little to show.
fn shown(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::state::exercises;

    fn of(exercise: &str) -> Vec<Question> {
        questions(fusion_course::find(exercise).unwrap())
    }

    #[test]
    fn answers_follow_from_the_specification() {
        let rights = |exercise| -> Vec<f64> {
            let number = |question: Question| match question.answer {
                Answer::Number { right, .. } => (100.0 * right).round() / 100.0,
                _ => f64::NAN,
            };
            of(exercise).into_iter().map(number).collect()
        };
        assert_eq!(rights("mul_add"), [2.0, 24.0, 16.0, 1.5]);
        assert_eq!(rights("add_gelu"), [2.0, 20.0, 12.0, 1.67]);
        assert_eq!(rights("quantize_int8")[2], 5.0);
        // Two for all, and five for each of 16 experts.
        assert_eq!(rights("moe_expert"), [82.0]);
        let because: Vec<String> = of("mul_add").into_iter().map(|question| question.because).collect();
        assert_eq!(because[1], "24: mul reads 8 and writes 4, add reads 8 and writes 4.");
        assert_eq!(because[2], "16: it reads q, k, v (12) and writes out (4).");
    }

    /// What the starters' comments say is what the grader counts with.
    #[test]
    fn starters_name_the_same_bytes() {
        for exercise in exercises().filter(|exercise| exercise.plan.is_empty()) {
            let path =
                format!("{}/../exercises/day{}/starter/{}.cu", env!("CARGO_MANIFEST_DIR"), exercise.day, exercise.name);
            let starter = std::fs::read_to_string(path).unwrap();
            let said = starter.lines().find_map(|line| line.strip_prefix("// ")?.split_once(" bytes per element. "));
            let Some((chain, _)) = said else { continue };
            let question = of(exercise.name).remove(1);
            assert_eq!(
                question.judge(chain),
                super::super::question::Given::Right,
                "{}: {chain}, {}",
                exercise.name,
                question.because
            );
        }
    }
}
