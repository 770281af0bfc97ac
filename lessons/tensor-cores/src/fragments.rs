//! The fragments of a form of `mma.sync`, as tables and as panels.

use fusion_chart::ideas::{Cell, Grid};
use fusion_lesson::{LessonError, new_table};

use crate::form::Form;
use crate::gpu::{Gpu, Kernels, Launch};
use crate::layout::{Held, Layout};

/// Asks the device by the kernels of `products.cu`.
pub(crate) fn layout(gpu: &Gpu, products: &Kernels, form: Form) -> Result<Layout, LessonError> {
    if gpu.capability() < form.capability() {
        return Err(LessonError::Unknown(format!(
            "`{}` with {} needs compute capability {}.{}, and the device has {}.{}",
            form.shape_name(),
            form.type_name(),
            form.capability() / 10,
            form.capability() % 10,
            gpu.capability() / 10,
            gpu.capability() % 10
        )));
    }
    let [_, of_b, of_sums] = form.held();
    let kernel = form.kernel("partners");
    let launch = Launch { kernel: &kernel, blocks: 32 * of_b, threads: 32, numbers: &[] };
    let answers = gpu.run(products, launch, &[], 32 * of_b * 32 * of_sums)?;
    gpu.launches()?;
    Layout::from_answers(form, &answers)
        .ok_or_else(|| LessonError::Wrong(format!("what `{kernel}` found out is no product of matrices")))
}

/// One of the three matrices of a product.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    name: &'a str,
    letter: char,
    rows: usize,
    columns: usize,
    /// What the rows and the columns are called.
    along: [&'a str; 2],
    /// Elements of a register, and whether they lie in one column.
    each: usize,
    down: bool,
    held: &'a [Held],
}

/// The elements that one register holds.
struct Register {
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    lane: usize,
    register: usize,
}

impl<'a> Matrix<'a> {
    fn all(form: Form, layout: &'a Layout) -> [Matrix<'a>; 3] {
        let ([m, n, k], each) = (form.sizes(), form.each());
        let a = Matrix {
            name: "A",
            letter: 'a',
            rows: m,
            columns: k,
            along: ["row", "k"],
            each,
            down: false,
            held: &layout.a,
        };
        let b = Matrix { name: "B", letter: 'b', rows: k, columns: n, along: ["k", "column"], down: true, ..a };
        let sums = Matrix { name: "sums", letter: 'c', columns: n, along: ["row", "column"], each: 1, ..a };
        [a, Matrix { held: &layout.b, ..b }, Matrix { held: &layout.sums, ..sums }]
    }

    /// Rows and columns of what is drawn as one: the elements of a register that lie beside each other.
    fn step(&self) -> [usize; 2] {
        if self.down { [self.each, 1] } else { [1, self.each] }
    }

    /// Row after row, the registers of all lanes. None where a register's elements do not lie beside each other.
    fn registers(&self) -> Option<Vec<Vec<Register>>> {
        let [down, right] = self.step();
        let register = |row: usize, column: usize| {
            let (rows, columns) = (row..row + down, column..column + right);
            let inside = rows.clone().flat_map(|r| columns.clone().map(move |c| r * self.columns + c));
            let held: Vec<Held> = inside.filter_map(|at| self.held.get(at).copied()).collect();
            let first = held.first()?;
            let together = held.iter().enumerate().all(|(i, one)| (one.lane, one.slot) == (first.lane, first.slot + i));
            let register = first.slot / self.each;
            (together && first.slot % self.each == 0).then_some(Register { rows, columns, lane: first.lane, register })
        };
        let row = |row| (0..self.columns).step_by(right).map(|column| register(row, column)).collect();
        (0..self.rows).step_by(down).map(row).collect()
    }
}

/// `3`, or `2-3`.
fn range(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    }
}

/// The three tables, and what one lane holds.
pub(crate) fn show(gpu: &Gpu, form: Form, lane: usize) -> Result<String, LessonError> {
    let layout = layout(gpu, &gpu.load("products")?, form)?;
    let [m, n, k] = form.sizes();
    let mut text = format!(
        "\nmma.sync.{} with {}: {m} x {n} sums of {k} products each\n\n\
         Asked of the device: each element of B was one while all others were zero, {} times 10 products. A place\n\
         has the number of its lane and the lane's register.\n",
        form.shape_name(),
        form.type_name(),
        k * n
    );
    let mut own = String::new();
    for matrix in Matrix::all(form, &layout) {
        let registers = matrix
            .registers()
            .ok_or_else(|| LessonError::Wrong(format!("a register of {} has elements that lie apart", matrix.name)))?;
        let [row_name, column_name] = matrix.along;
        let header = registers.first().into_iter().flatten().map(|r| format!("{column_name} {}", range(&r.columns)));
        let header: Vec<String> = [String::new()].into_iter().chain(header).collect();
        let mut table = new_table(&header.iter().map(String::as_str).collect::<Vec<_>>());
        for row in &registers {
            let label = row.first().map(|r| format!("{row_name} {}", range(&r.rows))).unwrap_or_default();
            let cells = row.iter().map(|r| format!("{} {}{}", r.lane, matrix.letter, r.register));
            table.add_row([label].into_iter().chain(cells));
        }
        text += &format!("\n{}, {} x {}:\n{table}\n", matrix.name, matrix.rows, matrix.columns);
        let mut of_lane: Vec<&Register> = registers.iter().flatten().filter(|r| r.lane == lane).collect();
        of_lane.sort_by_key(|r| r.register);
        for r in of_lane {
            own += &format!(
                "  {}{}: {} {}, {} {}\n",
                matrix.letter,
                r.register,
                row_name,
                range(&r.rows),
                column_name,
                range(&r.columns)
            );
        }
    }
    text += &format!("\nLane {lane} holds, of A, B and the sums:\n{}", own.trim_end());
    Ok(text)
}

/// A panel for each matrix, with one lane's elements in colour.
pub(crate) fn panels(
    gpu: &Gpu,
    form: Form,
    lane: usize,
    source: &str,
) -> Result<Vec<fusion_chart::ideas::Panel>, LessonError> {
    let layout = layout(gpu, &gpu.load("products")?, form)?;
    let panel = |matrix: Matrix<'_>| {
        let registers = matrix.registers().unwrap_or_default();
        let [row_name, column_name] = matrix.along;
        let cell = |r: &Register| match r.lane == lane {
            true => Cell::used(&format!("{}{}", matrix.letter, r.register)),
            false => Cell::plain(&r.lane.to_string()),
        };
        let labels = registers.first().into_iter().flatten();
        let title = match matrix.letter {
            'c' => format!("{} x {} sums, by lane", matrix.rows, matrix.columns),
            _ => format!("{}, {} x {}, by lane", matrix.name, matrix.rows, matrix.columns),
        };
        let holds = match matrix.each {
            1 => "Each place is an element".to_owned(),
            each if matrix.down => format!("Each place is a register with {each} elements of a column"),
            each => format!("Each place is a register with {each} elements of a row"),
        };
        Grid {
            name: format!("{}-{}-{}", form.shape_name(), form.type_name(), matrix.letter),
            title,
            corner: format!("{row_name}, {column_name}"),
            columns: labels.map(|r| range(&r.columns)).collect(),
            rows: registers
                .iter()
                .map(|row| (row.first().map(|r| range(&r.rows)).unwrap_or_default(), row.iter().map(cell).collect()))
                .collect(),
            says: format!("{holds} and has its lane's number. Lane {lane} has those in colour."),
            source: source.to_owned(),
        }
        .panel()
    };
    Ok(Matrix::all(form, &layout).into_iter().map(panel).collect())
}
