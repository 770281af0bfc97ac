//! One large problem, for counting and timing: two sets of inputs, and buffers for the submission and the unfused
//! chain side by side.
//!
//! The values repeat with a period of about a million elements, so that the reference need only be computed for one
//! period, however large the problem is. The period divides no power of two, so a wrong index still shows.

use cudarc::driver::DriverError;
use fusion_course::{Arguments, Case, Data, DeviceBuffer, Entry, Extent, Inputs, Param, Reference, Shape};
use fusion_device::Program;
use kernels::Baseline;

use crate::judgement::Failure;
use crate::memory;
use crate::problem::{self, Expected};
use crate::session::Session;
use crate::trouble::Trouble;

/// Elements after which flat inputs repeat: a prime.
const PERIOD: usize = 1_000_003;

/// Sets of inputs.
pub(crate) const SETS: usize = 2;

/// Whose launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Submission,
    Unfused,
}

/// Everything that a launch of either needs.
pub(crate) struct Rig<'a> {
    pub(crate) session: &'a Session,
    pub(crate) entry: &'a Entry,
    pub(crate) shape: Shape,
    program: &'a Program,
    baseline: &'a Baseline,
    sets: Vec<Set>,
    intermediates: Vec<DeviceBuffer>,
    submission: Vec<DeviceBuffer>,
    unfused: Vec<DeviceBuffer>,
}

/// One set of inputs.
struct Set {
    /// One period of it, on the host.
    case: Case,
    references: Vec<Reference>,
    inputs: Vec<DeviceBuffer>,
    /// What outputs that are also read hold before.
    initial: Vec<Option<DeviceBuffer>>,
}

impl<'a> Rig<'a> {
    pub(crate) fn new(
        session: &'a Session,
        entry: &'a Entry,
        program: &'a Program,
        baseline: &'a Baseline,
        shape: Shape,
        seed: u64,
    ) -> Result<Self, Trouble> {
        let exercise = entry.exercise;
        let stream = &session.device.stream;
        let margin = session.margin();
        let ours = || Trouble::driver("making buffers");
        let mut inputs = Inputs::new(seed.wrapping_add(0x5eed));
        let sets = (0..SETS).map(|_| Set::new(session, entry, shape, &mut inputs)).collect::<Result<_, _>>()?;
        let rig = Self {
            session,
            entry,
            shape,
            program,
            baseline,
            sets,
            intermediates: problem::buffers(stream, exercise.intermediates, shape, 0).map_err(ours())?,
            submission: problem::buffers(stream, exercise.outputs, shape, margin).map_err(ours())?,
            unfused: problem::buffers(stream, exercise.outputs, shape, 0).map_err(ours())?,
        };
        stream.synchronize().map_err(ours())?;
        Ok(rig)
    }

    /// Bytes that a rig of this shape takes on the device.
    pub(crate) fn bytes(entry: &Entry, shape: Shape) -> u64 {
        let sum = |params: &[Param]| params.iter().map(|param| param.bytes(shape) as u64).sum::<u64>();
        let exercise = entry.exercise;
        SETS as u64 * sum(exercise.inputs) + sum(exercise.intermediates) + 2 * sum(exercise.outputs)
    }

    /// Queues filling an output with poison, or with what it must hold before.
    pub(crate) fn reset(&mut self, who: Who, set: usize) -> Result<(), DriverError> {
        let stream = &self.session.device.stream;
        let outputs = match who {
            Who::Submission => &mut self.submission,
            Who::Unfused => &mut self.unfused,
        };
        for (index, output) in outputs.iter_mut().enumerate() {
            match self.sets[set % SETS].initial.get(index) {
                Some(Some(initial)) => memory::copy(stream, (initial, 0), (output, 0), memory::bytes(initial))?,
                _ => memory::poison(stream, output)?,
            }
        }
        Ok(())
    }

    /// Queues one run.
    pub(crate) fn run(&mut self, who: Who, set: usize) -> Result<(), Trouble> {
        let Set { case, inputs, .. } = &self.sets[set % SETS];
        match who {
            Who::Submission => {
                let outputs = &mut self.submission;
                self.session.launch(self.entry, self.program, inputs, outputs, &case.scalars, self.shape)
            }
            Who::Unfused => {
                let arguments = Arguments {
                    inputs,
                    outputs: &mut self.unfused,
                    scalars: &case.scalars,
                    rows: self.shape.rows,
                    columns: self.shape.columns,
                };
                let stream = &self.session.device.stream;
                let queued = self.baseline.run(stream, self.entry.exercise, &mut self.intermediates, arguments);
                queued.map_err(Trouble::driver("running the unfused chain"))
            }
        }
    }

    /// Waits for everything on the device, which also brings up what went wrong there.
    pub(crate) fn finish(&self) -> Result<(), Trouble> {
        let explained = |error| self.session.explain(error, self.entry, self.program, self.shape);
        self.session.device.context.synchronize().map_err(explained)
    }

    /// The submission's outputs, for kernels of our own to read.
    pub(crate) fn outputs(&self, who: Who) -> &[DeviceBuffer] {
        match who {
            Who::Submission => &self.submission,
            Who::Unfused => &self.unfused,
        }
    }

    /// Compares the submission's outputs with the reference, period by period.
    pub(crate) fn check(&self, set: usize) -> Result<(), Trouble> {
        let stream = &self.session.device.stream;
        let ours = || Trouble::driver("reading outputs");
        let Set { case, references, .. } = &self.sets[set % SETS];
        for (index, (param, output)) in self.entry.exercise.outputs.iter().zip(&self.submission).enumerate() {
            let period = param.len(case.shape);
            let (mut done, size) = (0, param.dtype.bytes());
            while done < output.len() && period > 0 {
                let len = period.min(output.len() - done);
                let mut part = DeviceBuffer::poisoned(stream, param.dtype, len, 0).map_err(ours())?;
                memory::copy(stream, (output, done * size), (&mut part, 0), len * size).map_err(ours())?;
                let actual = part.read(stream).map_err(ours())?;
                self.check_part(case, references, index, done, &actual)?;
                done += len;
            }
        }
        Ok(())
    }

    fn check_part(
        &self,
        case: &Case,
        references: &[Reference],
        output: usize,
        offset: usize,
        actual: &Data,
    ) -> Result<(), Box<Failure>> {
        let cut: Vec<Reference>;
        let references = match references.get(output) {
            Some(reference) if reference.len() > actual.len() => {
                cut = references.iter().map(|reference| first(reference, actual.len())).collect();
                &cut
            }
            _ => references,
        };
        let expected = Expected { exercise: self.entry.exercise, shape: case.shape, references, block: None };
        expected.check(output, actual).map_err(|mut failure| {
            if offset > 0 {
                failure.notes.push(format!("indices are counted from element {offset} of the large problem"));
            }
            failure.notes.push("small problems were right: is a size special, or an index too narrow?".to_owned());
            failure.shape = Some(self.shape.to_string());
            failure
        })
    }
}

impl Set {
    fn new(session: &Session, entry: &Entry, shape: Shape, inputs: &mut Inputs) -> Result<Self, Trouble> {
        let exercise = entry.exercise;
        let stream = &session.device.stream;
        let margin = session.margin();
        let ours = || Trouble::driver("making inputs");
        let case = (exercise.make)(period(shape), inputs);
        let upload = |param: &Param, data: &Data, margin: usize| {
            let mut buffer = DeviceBuffer::poisoned(stream, param.dtype, param.len(shape), margin)?;
            buffer.write(stream, data)?;
            if param.extent != Extent::Columns {
                memory::repeat(stream, &mut buffer, data.len() * param.dtype.bytes())?;
            }
            Ok(buffer)
        };
        let pairs = exercise.inputs.iter().zip(&case.inputs);
        let device = pairs.map(|(param, data)| upload(param, data, margin)).collect::<Result<_, _>>().map_err(ours())?;
        let pairs = exercise.outputs.iter().zip(&case.initial);
        let initial = pairs
            .map(|(param, data)| data.as_ref().map(|data| upload(param, data, 0)).transpose())
            .collect::<Result<_, DriverError>>()
            .map_err(ours())?;
        let references = (exercise.reference)(&case);
        Ok(Self { case, references, inputs: device, initial })
    }
}

/// The shape of one period.
fn period(shape: Shape) -> Shape {
    if shape.rows == 1 {
        Shape::flat(shape.columns.min(PERIOD))
    } else {
        // An odd number of rows divides no power of two either.
        let rows = (PERIOD / shape.columns.max(1)).max(1) | 1;
        Shape { rows: rows.min(shape.rows), columns: shape.columns }
    }
}

/// The first elements of a reference.
fn first(reference: &Reference, len: usize) -> Reference {
    match reference {
        Reference::Close { values, magnitudes } => Reference::Close {
            values: values.iter().copied().take(len).collect(),
            magnitudes: magnitudes.as_ref().map(|all| all.iter().copied().take(len).collect()),
        },
        Reference::OneOf(values) => Reference::OneOf(values.iter().copied().take(len).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_fit_and_do_not_divide_powers_of_two() {
        assert_eq!(period(Shape::flat(100)), Shape::flat(100));
        assert_eq!(period(Shape::flat(1 << 26)), Shape::flat(PERIOD));
        let rows = period(Shape { rows: 1 << 14, columns: 4096 });
        assert_eq!((rows.columns, rows.rows % 2), (4096, 1));
        assert_eq!(period(Shape { rows: 2, columns: 1 << 21 }), Shape { rows: 1, columns: 1 << 21 });
    }
}
