//! One problem of an exercise: buffers on the device, and what its outputs must hold.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Arguments, Case, Data, DeviceBuffer, Exercise, Gemm, Inputs, Param, Reference, Shape};

use crate::LessonError;

/// The values of a large problem repeat, so that making and checking them takes no longer than looking at its times.
#[derive(Debug)]
pub struct Problem {
    pub exercise: &'static Exercise,
    pub shape: Shape,
    pub inputs: Vec<DeviceBuffer>,
    pub outputs: Vec<DeviceBuffer>,
    pub intermediates: Vec<DeviceBuffer>,
    pub scratch: Vec<DeviceBuffer>,
    /// One period of it.
    case: Case,
    references: Vec<Reference>,
}

impl Problem {
    /// # Errors
    /// The driver's: mostly that there is too little memory.
    pub fn new(
        stream: &Arc<CudaStream>,
        exercise: &'static Exercise,
        shape: Shape,
        seed: u64,
    ) -> Result<Self, DriverError> {
        let case = (exercise.make)(shape.period(), &mut Inputs::new(seed));
        let blank = |params: &[Param]| -> Result<Vec<_>, DriverError> {
            params.iter().map(|p| DeviceBuffer::poisoned(stream, p.dtype, p.len(shape), 0)).collect()
        };
        let mut inputs = blank(exercise.inputs)?;
        for ((buffer, param), data) in inputs.iter_mut().zip(exercise.inputs).zip(&case.inputs) {
            fill(stream, buffer, param, data)?;
        }
        let mut problem = Problem {
            exercise,
            shape,
            inputs,
            outputs: blank(exercise.outputs)?,
            intermediates: blank(exercise.intermediates)?,
            scratch: blank(exercise.scratch)?,
            references: (exercise.reference)(&case),
            case,
        };
        problem.reset(stream)?;
        Ok(problem)
    }

    /// Fills the outputs anew, so that a kernel that writes nothing cannot pass with another's results.
    ///
    /// # Errors
    /// The driver's.
    pub fn reset(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        for (index, (output, param)) in self.outputs.iter_mut().zip(self.exercise.outputs).enumerate() {
            match self.case.initial.get(index) {
                Some(Some(initial)) => fill(stream, output, param, initial)?,
                _ => output.poison(stream)?,
            }
        }
        Ok(())
    }

    /// What a launch is given, and the intermediates beside it.
    pub fn arguments<'a>(&'a mut self, gemm: &'a dyn Gemm) -> (Arguments<'a>, &'a [DeviceBuffer]) {
        let arguments = Arguments {
            inputs: &self.inputs,
            outputs: &mut self.outputs,
            scratch: &mut self.scratch,
            gemm,
            scalars: &self.case.scalars,
            rows: self.shape.rows,
            columns: self.shape.columns,
        };
        (arguments, &self.intermediates)
    }

    /// Compares the outputs that `wanted` names with the reference: the first period of each, and the last, which may be
    /// cut off.
    ///
    /// # Errors
    /// [`LessonError::Wrong`], with who wrote it.
    pub fn check(
        &self,
        stream: &Arc<CudaStream>,
        who: &str,
        wanted: impl Fn(&Param) -> bool,
    ) -> Result<(), LessonError> {
        let outputs = self.exercise.outputs.iter().zip(&self.outputs).zip(&self.references);
        for (((param, buffer), reference), tolerance) in outputs.zip(self.exercise.tolerances) {
            if !wanted(param) {
                continue;
            }
            let period = reference.len().max(1);
            let last = buffer.len().saturating_sub(1) / period * period;
            let starts = if last > 0 { vec![0, last] } else { vec![0] };
            for start in starts {
                let actual = buffer.read_part(stream, start, period);
                let actual = actual.map_err(LessonError::driver("reading the result"))?;
                reference.first(actual.len()).check(&actual, *tolerance).map_err(|mismatch| {
                    LessonError::Wrong(format!("`{}` of {who} is wrong: {mismatch}", param.name))
                })?;
            }
        }
        Ok(())
    }
}

/// Writes data, again and again until the buffer is full where it grows with the rows.
fn fill(stream: &Arc<CudaStream>, buffer: &mut DeviceBuffer, param: &Param, data: &Data) -> Result<(), DriverError> {
    buffer.write(stream, data)?;
    if param.extent.grows_with_rows() { buffer.repeat(stream, data.len()) } else { Ok(()) }
}
