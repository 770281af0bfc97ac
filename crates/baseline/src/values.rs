//! A problem of an exercise on the device: what its buffers hold before a launch, and what they must hold after it.

use std::cell::OnceCell;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Case, Data, DeviceBuffer, Exercise, Extent, Param, Reference, Shape};

use crate::memory;

/// Buffers of these parameters, filled with poison, each with a red zone of `margin` bytes on both sides.
///
/// # Errors
/// The driver's: mostly that there is too little memory.
pub fn buffers(
    stream: &Arc<CudaStream>,
    params: &[Param],
    shape: Shape,
    margin: usize,
) -> Result<Vec<DeviceBuffer>, DriverError> {
    params.iter().map(|param| DeviceBuffer::for_param(stream, param, shape, margin)).collect()
}

/// Buffers between an exercise's unfused kernels. They hold ordinary values before anything writes to them: where some blocks of a launch stand
/// for all, its times depend on what these read.
///
/// # Errors
/// The driver's: mostly that there is too little memory.
pub fn intermediates(
    stream: &Arc<CudaStream>,
    exercise: &Exercise,
    shape: Shape,
) -> Result<Vec<DeviceBuffer>, DriverError> {
    let buffer = |param: &Param| DeviceBuffer::ordinary(stream, param.dtype, param.len(shape));
    exercise.intermediates.iter().map(buffer).collect()
}

/// Bytes after which memory repeats itself in problems that are not executed: no power of two, a multiple of every element's size, and so
/// many whole rows that those of every kind are among them.
pub fn dry_period(shape: Shape) -> u64 {
    const ELEMENTS: u64 = 512 * 127;
    const ROWS: u64 = 13;
    let columns = shape.columns.max(1) as u64;
    8 * if shape.rows == 1 { ELEMENTS } else { columns * ((ELEMENTS / columns).max(ROWS) | 1) }
}

/// Inputs and what must come of them.
///
/// The values of a large problem repeat with a period of about a million elements, so that the reference need only be
/// computed for one period, however large the problem is. The period divides no power of two, so a wrong index still
/// shows.
#[derive(Debug)]
pub struct Values {
    pub exercise: &'static Exercise,
    /// One period.
    pub case: Case,
    /// Computed when they are first asked for: what is only timed needs none.
    references: OnceCell<Vec<Reference>>,
}

/// Which periods of an output are looked at, or pieces of that length where periods do not lie one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Periods {
    All,
    /// The first and the last, which may be cut off: enough for a kernel that is known to be right.
    Ends,
    First,
}

/// A period of an output, or as much of it as there is.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The output's place among the exercise's.
    pub output: usize,
    pub param: &'static Param,
    /// The element that it begins at.
    pub from: usize,
    pub actual: Data,
    pub reference: &'a Reference,
}

impl Values {
    /// The values of a case, which may be one period of a larger problem's.
    pub fn new(exercise: &'static Exercise, case: Case) -> Self {
        Self { exercise, case, references: OnceCell::new() }
    }

    /// What each output must hold, over one period.
    pub fn references(&self) -> &[Reference] {
        self.references.get_or_init(|| (self.exercise.reference)(&self.case))
    }

    /// Reads the outputs of a problem of this shape back and shows each period to `look`, with what it must hold.
    ///
    /// # Errors
    /// What `look` finds, and what `failed` makes of an error of the driver's.
    pub fn look<E>(
        &self,
        stream: &Arc<CudaStream>,
        (outputs, shape): (&[DeviceBuffer], Shape),
        periods: Periods,
        failed: impl Fn(DriverError) -> E,
        mut look: impl FnMut(Seen<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = self.exercise.outputs.iter().zip(outputs).zip(self.references()).enumerate();
        for (output, ((param, buffer), reference)) in all {
            let period = reference.len().max(1);
            let last = buffer.len().saturating_sub(1) / period;
            let starts: Vec<usize> = match periods {
                _ if buffer.is_empty() => Vec::new(),
                Periods::All => (0..=last).collect(),
                Periods::Ends if last > 0 => vec![0, last],
                Periods::Ends | Periods::First => vec![0],
            };
            for from in starts.into_iter().map(|start| start * period) {
                let actual = buffer.read_part(stream, from, period).map_err(&failed)?;
                let chosen;
                let as_it_is = actual.len() == reference.len() && (shape == self.case.shape || !turned(param));
                let reference = if as_it_is {
                    reference
                } else {
                    let elements = from..from + actual.len();
                    chosen = reference.of(elements.map(|element| param.within(self.case.shape, shape, element)));
                    &chosen
                };
                look(Seen { output, param, from, actual, reference })?;
            }
        }
        Ok(())
    }
}

/// What the tables among a problem's inputs hold where its buffers lie, ready on the device.
#[derive(Debug)]
pub struct Tables(Vec<(usize, DeviceBuffer)>);

impl Tables {
    /// # Errors
    /// The driver's: mostly that there is too little memory.
    pub fn new(
        stream: &Arc<CudaStream>,
        exercise: &Exercise,
        shape: Shape,
        inputs: &[DeviceBuffer],
        outputs: &[DeviceBuffer],
    ) -> Result<Self, DriverError> {
        let tables = tables(stream, exercise, shape, inputs, outputs).into_iter();
        let upload = |(index, data)| Ok((index, DeviceBuffer::from_host(stream, &data, 0)?));
        Ok(Self(tables.map(upload).collect::<Result<_, DriverError>>()?))
    }

    /// Queues copying them to where a launch finds them.
    ///
    /// # Errors
    /// The driver's; `CUDA_ERROR_INVALID_VALUE` for inputs of another shape.
    pub fn copy_to(&self, stream: &CudaStream, inputs: &mut [DeviceBuffer]) -> Result<(), DriverError> {
        self.0.iter().try_for_each(|(index, table)| {
            let Some(input) = inputs.get_mut(*index) else { return Ok(()) };
            memory::copy(stream, (table, 0), (input, 0), memory::bytes(table))
        })
    }
}

/// What the tables among a problem's inputs hold where its buffers lie, each with its place among the inputs.
pub fn tables(
    stream: &CudaStream,
    exercise: &Exercise,
    shape: Shape,
    inputs: &[DeviceBuffer],
    outputs: &[DeviceBuffer],
) -> Vec<(usize, Data)> {
    let all = || exercise.inputs.iter().chain(exercise.outputs).zip(inputs.iter().chain(outputs));
    exercise.tables(shape, |name| {
        let found = all().find(|(param, _)| param.name == name);
        found.map_or(0, |(_, buffer)| buffer.address(stream))
    })
}

/// Whether an output's periods are not one behind the other: they are beside each other in each of its rows.
fn turned(param: &Param) -> bool {
    param.extent == Extent::Transposed
}

/// The inputs of a problem, and what outputs that are also read hold before a launch.
#[derive(Debug)]
pub struct Place {
    pub inputs: Vec<DeviceBuffer>,
    /// None for outputs that are only written.
    pub initial: Vec<Option<DeviceBuffer>>,
}

impl Place {
    /// The values of a case on the device, for a problem of this shape, which may be larger than the case is. Tables of which the case says
    /// nothing are left to [`Tables`].
    ///
    /// # Errors
    /// The driver's: mostly that there is too little memory.
    pub fn new(
        stream: &Arc<CudaStream>,
        exercise: &Exercise,
        case: &Case,
        shape: Shape,
        margin: usize,
    ) -> Result<Self, DriverError> {
        let upload = |param: &Param, data: &Data, margin: usize| {
            let mut buffer = DeviceBuffer::for_param(stream, param, shape, margin)?;
            buffer.write(stream, data)?;
            if param.extent.grows_with_rows() {
                buffer.repeat(stream, data.len())?;
            }
            Ok(buffer)
        };
        let inputs = exercise.inputs.iter().zip(&case.inputs);
        let outputs = exercise.outputs.iter().zip(&case.initial);
        Ok(Self {
            inputs: inputs.map(|(param, data)| upload(param, data, margin)).collect::<Result<_, _>>()?,
            initial: outputs
                .map(|(param, data)| data.as_ref().map(|data| upload(param, data, 0)).transpose())
                .collect::<Result<_, DriverError>>()?,
        })
    }

    /// Queues copying the inputs to where a launch finds them.
    ///
    /// # Errors
    /// As [`Place::reset`]'s.
    pub fn copy_inputs(&self, stream: &CudaStream, inputs: &mut [DeviceBuffer]) -> Result<(), DriverError> {
        let mut both = self.inputs.iter().zip(inputs);
        both.try_for_each(|(from, to)| memory::copy(stream, (from, 0), (to, 0), memory::bytes(from)))
    }

    /// Queues filling outputs with poison, or with what they must hold before a launch. Without it a kernel that writes
    /// nothing would pass with another one's results.
    ///
    /// # Errors
    /// The driver's; `CUDA_ERROR_INVALID_VALUE` for outputs of another shape.
    pub fn reset(&self, stream: &CudaStream, outputs: &mut [DeviceBuffer]) -> Result<(), DriverError> {
        for (index, output) in outputs.iter_mut().enumerate() {
            match self.initial.get(index) {
                Some(Some(initial)) => memory::copy(stream, (initial, 0), (output, 0), memory::bytes(initial))?,
                _ => output.poison_contents(stream)?,
            }
        }
        Ok(())
    }
}
