//! Tensor cores: which lane holds which element of a fragment, what loads it, what it costs, and what a wrong one
//! gives.
//!
//! Nothing of it is taken from a table: kernels ask the device, which may be the emulated one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use fusion_device::Choice;
use fusion_lesson::{LessonError, print};

mod banks;
mod form;
mod fragments;
mod gpu;
mod layout;
mod matrices;
mod mistakes;
mod roofs;
mod swizzles;

use form::{Form, Shape, Type};
use gpu::Gpu;
use mistakes::Mistake;
use roofs::Roofs;

/// Shows which lane and register holds which element of a product's fragments, as the device tells it, and what loads
/// them.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Which device: `auto` takes a GPU when there is one; `gpu`; `emulated`
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Choice,
    /// Only one of the parts
    #[arg(long, value_name = "PART")]
    part: Option<Part>,
    /// The shape of the product [default: m16n8k16, or the first that the type has]
    #[arg(long, value_name = "SHAPE")]
    shape: Option<Shape>,
    /// The type of the factors [default: bf16, or the first that the shape has]
    #[arg(long = "type", value_name = "TYPE")]
    ty: Option<Type>,
    /// The lane whose elements are listed
    #[arg(long, value_name = "LANE", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..32))]
    lane: u8,
    /// Run a product with a mistake instead, and show its sums
    #[arg(long, value_name = "MISTAKE", conflicts_with_all = ["part", "svg"])]
    mistake: Option<Mistake>,
    /// Write pictures of fragments, swizzles and roofs into a folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "part")]
    svg: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Which lane and register holds which element
    Fragments,
    /// What `ldmatrix`, `movmatrix` and `stmatrix` do
    Matrices,
    /// What `ldmatrix` costs by the distance of rows
    Banks,
    /// How much is multiplied, and when memory is the limit
    Roofs,
    /// Which bytes `wgmma` takes for which
    Swizzles,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    let form = Form::find(arguments.shape, arguments.ty).ok_or_else(|| {
        let known = Form::ALL.map(|form| format!("{} {}", form.shape_name(), form.type_name()));
        LessonError::Unknown(format!("this lesson has no such product: choose one of {}", known.join(", ")))
    })?;
    let gpu = Gpu::open(arguments.device)?;
    if let Some(folder) = &arguments.svg {
        return draw(&gpu, form, arguments.lane.into(), folder);
    }
    if let Some(mistake) = arguments.mistake {
        return print(&text(&gpu, &mistakes::show(&gpu, mistake)?));
    }
    print(&headline(&gpu))?;
    for part in Part::value_variants().iter().filter(|part| arguments.part.is_none_or(|only| only == **part)) {
        print(&match part {
            Part::Fragments => fragments::show(&gpu, form, arguments.lane.into())?,
            Part::Matrices => matrices::show(&gpu)?,
            Part::Banks => banks::show(&gpu)?,
            Part::Roofs => Roofs::new(&gpu)?.show(&gpu),
            Part::Swizzles => swizzles::show(&gpu)?,
        })?;
    }
    Ok(())
}

fn headline(gpu: &Gpu) -> String {
    match gpu.device.is_emulated() {
        true => {
            format!("{}: fragments and counts are exact, times are PREDICTED by a model, not measured.", gpu.name())
        }
        false => format!(
            "{}: times are measured with CUDA events (time stamps on the GPU).\n\
             Each time is the median of several runs.",
            gpu.name()
        ),
    }
}

fn text(gpu: &Gpu, shown: &str) -> String {
    format!("{}\n{shown}", gpu.name())
}

/// Writes the pictures.
fn draw(gpu: &Gpu, form: Form, lane: usize, folder: &Path) -> Result<(), LessonError> {
    let source = "cargo run -p lesson-tensor-cores -- --svg FOLDER";
    std::fs::create_dir_all(folder).map_err(LessonError::Output)?;
    let write =
        |name: &str, svg: &str| std::fs::write(folder.join(format!("{name}.svg")), svg).map_err(LessonError::Output);
    for panel in fragments::panels(gpu, form, lane, source)? {
        write(&panel.name, &panel.svg)?;
    }
    if swizzles::there_are(gpu) {
        for panel in swizzles::panels(gpu, source)? {
            write(&panel.name, &panel.svg)?;
        }
    }
    write("second-roof", &Roofs::new(gpu)?.chart(gpu, source))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use fusion_ptx::ast::{Fragment, MatrixType, Part as Factor};
    use layout::Held;

    use super::*;

    /// A report is of all that the process had the device do. So one test does all that needs it.
    #[test]
    fn what_the_device_says() {
        if let Err(error) = all() {
            panic!("{error}");
        }
    }

    fn all() -> Result<(), LessonError> {
        let gpu = Gpu::open(Choice::Emulated)?;
        let products = gpu.load("products")?;
        for form in Form::ALL {
            as_the_manual_has_it(form, &fragments::layout(&gpu, &products, form)?);
        }
        let short = Form { shape: Shape::M16n8k4, ty: Type::Tf32 };
        let text = fragments::show(&gpu, short, 5)?;
        let lane = text.find("Lane 5").and_then(|at| text.get(at..)).unwrap_or_default();
        expect![[r#"
            Lane 5 holds, of A, B and the sums:
              a0: row 1, k 1
              a1: row 9, k 1
              b0: k 1, column 1
              c0: row 1, column 2
              c1: row 1, column 3
              c2: row 9, column 2
              c3: row 9, column 3"#]]
        .assert_eq(lane);
        let parts = [matrices::show(&gpu)?, banks::show(&gpu)?, swizzles::show(&gpu)?, Roofs::new(&gpu)?.show(&gpu)];
        expect![[r#"
            | rows apart | plain | 16 bytes more | swizzled by line | swizzled by row |
            |------------|-------|---------------|------------------|-----------------|
            | 32 bytes   |     8 |             4 |                4 |               8 |
            | 64 bytes   |    16 |             4 |                4 |               8 |
            | 128 bytes  |    32 |             4 |                4 |               4 |
            | 256 bytes  |    32 |             4 |                8 |               4 |
            | 512 bytes  |    32 |             4 |               16 |               4 |"#]]
        .assert_eq(parts[1].split_once("\n\n|").map(|(_, table)| format!("|{table}")).unwrap_or_default().as_str());
        let mistakes = Mistake::value_variants().iter().map(|mistake| mistakes::show(&gpu, *mistake));
        let mistakes = mistakes.collect::<Result<Vec<_>, _>>()?;
        // A page of the book has room for so many columns.
        for line in parts.iter().chain(&mistakes).chain([&text]).flat_map(|text| text.lines()) {
            assert!(line.chars().count() <= 108, "{line}");
        }
        Ok(())
    }

    /// The manual's rule, which the emulator follows, gives every element the place that the products told.
    fn as_the_manual_has_it(form: Form, layout: &layout::Layout) {
        let [m, n, k] = form.sizes().map(|size| size as u32);
        let (Some(ty), Some(sum)) = (MatrixType::from_name(form.type_name()), MatrixType::from_name("f32")) else {
            panic!("{form:?}");
        };
        let parts = [
            (Factor::A, m, k, ty, &layout.a),
            (Factor::B, k, n, ty, &layout.b),
            (Factor::Sum, m, n, sum, &layout.sums),
        ];
        for (part, rows, columns, ty, found) in parts {
            let fragment = Fragment { part, rows, columns, ty, copies: 1 };
            for lane in 0..32 {
                for slot in 0..fragment.elements() {
                    let (row, column) = fragment.place(lane, slot);
                    let held = Held { lane: lane as usize, slot: slot as usize };
                    assert_eq!(found[(row * columns + column) as usize], held, "{form:?} {part:?}");
                }
            }
        }
    }
}
