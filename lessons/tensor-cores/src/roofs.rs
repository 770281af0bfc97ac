//! How much tensor cores multiply, and from which intensity on they and not memory are the limit.

use fusion_chart::{Basis, Ceiling, Heading, Roofline};
use fusion_lesson::{LessonError, grouped, new_table};

use crate::form::{Form, Shape, Type};
use crate::gpu::{Gpu, Kernels, Launch};

/// Of the one block: enough warps to keep the four tensor cores of an SM at work.
const THREADS: usize = 512;
/// Rounds of the shorter of two launches; the other one takes twice as many, and the difference is theirs alone.
const ROUNDS: i32 = 64;
/// Products per round of a warp, and multiply-adds of f32 per round of a thread.
const PRODUCTS: f64 = 4.0;
const FMAS: f64 = 32.0;

const FORMS: [Form; 5] = [
    Form { shape: Shape::M16n8k16, ty: Type::Bf16 },
    Form { shape: Shape::M16n8k8, ty: Type::Tf32 },
    Form { shape: Shape::M16n8k32, ty: Type::S8 },
    Form { shape: Shape::M16n8k32, ty: Type::E4m3 },
    Form { shape: Shape::M8n8k4, ty: Type::F64 },
];

/// A unit that multiplies.
struct Roof {
    name: String,
    /// Multiply-adds of an SM per clock.
    per_clock: f64,
    /// Bytes of an element.
    bytes: usize,
}

pub(crate) struct Roofs {
    roofs: Vec<Roof>,
    sms: u32,
    ghz: f64,
    /// What a copy reaches, in bytes read and written per second.
    copy: f64,
}

impl Roofs {
    pub(crate) fn new(gpu: &Gpu) -> Result<Roofs, LessonError> {
        let kernels = gpu.load("products")?;
        let ghz = gpu.ghz()?;
        let mut clock = gpu.clock()?;
        let copy = clock.ceiling().map_err(LessonError::driver("measuring a copy"))?;
        let mut per_round = |kernel: &str| clocks(gpu, &mut clock, &kernels, kernel, ghz);
        let fma = THREADS as f64 * FMAS / per_round("busy_fma")?;
        let mut roofs = vec![Roof { name: "f32, no tensor core".to_owned(), per_clock: fma, bytes: 4 }];
        for form in FORMS.into_iter().filter(|form| form.capability() <= gpu.capability()) {
            let [m, n, k] = form.sizes();
            let products = (THREADS / 32) as f64 * PRODUCTS * (m * n * k) as f64;
            let per_clock = products / per_round(&form.kernel("busy"))?;
            let name = format!("{} {}", form.type_name(), form.shape_name());
            roofs.push(Roof { name, per_clock, bytes: form.bytes() });
        }
        gpu.launches()?;
        Ok(Roofs { roofs, sms: gpu.device.properties.multiprocessors, ghz, copy })
    }

    /// Operations of the device per second: a multiply-add is two.
    fn rate(&self, roof: &Roof) -> f64 {
        2.0 * roof.per_clock * f64::from(self.sms) * self.ghz * 1e9
    }

    pub(crate) fn show(&self, gpu: &Gpu) -> String {
        let times = gpu.times();
        let mut table = new_table(&["unit and type", "per SM and clock", "10^12 op/s", "ridge, op/B", "tile"]);
        for roof in &self.roofs {
            let ridge = self.rate(roof) / self.copy;
            table.add_row([
                roof.name.clone(),
                format!("{:.0}", roof.per_clock),
                format!("{:.0}", self.rate(roof) / 1e12),
                format!("{ridge:.0}"),
                // 2 T^2 operations for each term, which needs 2 T elements.
                grouped((ridge * roof.bytes as f64).ceil() as usize),
            ]);
        }
        let mut text = format!(
            "\nRoofs of {}, {times}: {} SMs at {:.2} GHz, and a copy at {:.2} TB/s\n\n\
             Multiply-adds per SM and clock are those of {} warps that do nothing else, by mma.sync. A multiply-add\n\
             is two operations. The ridge is where a roof meets the copy's rate. A tile of T x T sums reads 2 T\n\
             elements for 2 T^2 operations; were all of them read from DRAM, T would have to be the last column.\n\n{table}\n",
            gpu.name(),
            self.sms,
            self.ghz,
            self.copy / 1e12,
            THREADS / 32
        );
        if let Some(roof) = self.roofs.get(1) {
            text += &format!(
                "\nA product of M rows with N = K = 4,096 in {}, each matrix moved once, by these rates:\n{}",
                roof.name,
                self.by_rows(roof)
            );
        }
        text
    }

    fn by_rows(&self, roof: &Roof) -> String {
        let mut table = new_table(&["M", "op/B", "bound by", "at best, 10^12 op/s", "of the roof"]);
        let side = 4096.0;
        for rows in [1, 16, 64, 256, 1024, 4096] {
            let m = f64::from(rows);
            let bytes = roof.bytes as f64 * (m * side + side * side + m * side);
            let intensity = 2.0 * m * side * side / bytes;
            let (by_memory, by_units) = (intensity * self.copy, self.rate(roof));
            table.add_row([
                grouped(rows as usize),
                format!("{intensity:.0}"),
                (if by_memory < by_units { "memory" } else { "tensor cores" }).to_owned(),
                format!("{:.1}", by_memory.min(by_units) / 1e12),
                format!("{:.0}%", 100.0 * (by_memory / by_units).min(1.0)),
            ]);
        }
        table.to_string()
    }

    /// The two roofs over the slope of the copy.
    pub(crate) fn chart(&self, gpu: &Gpu, source: &str) -> String {
        let basis = if gpu.device.is_emulated() { Basis::Predicted } else { Basis::Measured };
        let peaks = self.roofs.iter().take(2);
        let peaks = peaks.map(|roof| Ceiling { label: roof.name.clone(), value: self.rate(roof) });
        Roofline {
            heading: Heading { title: "A second roof".to_owned(), basis, source: format!("{}, {source}", gpu.name()) },
            bandwidths: vec![Ceiling { label: "a copy".to_owned(), value: self.copy }],
            peaks: peaks.collect(),
            points: Vec::new(),
        }
        .render()
    }
}

/// The clocks that a round of a kernel takes.
fn clocks(
    gpu: &Gpu,
    clock: &mut fusion_lesson::Clock,
    kernels: &Kernels,
    kernel: &str,
    ghz: f64,
) -> Result<f64, LessonError> {
    let mut time = |rounds: i32| {
        let launch = Launch { kernel, blocks: 1, threads: THREADS, numbers: &[rounds] };
        gpu.time(clock, kernels, launch)
    };
    Ok((time(2 * ROUNDS)? - time(ROUNDS)?) * ghz / f64::from(ROUNDS))
}
