//! One problem of an exercise: buffers on the device, and what its outputs must hold.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Arguments, DeviceBuffer, Exercise, Gemm, Inputs, Mismatch, Param, Shape, Tolerance};

use crate::{Periods, Place, Tables, Values, buffers, intermediates};

/// Buffers for one problem, with its values.
#[derive(Debug)]
pub struct Problem {
    pub exercise: &'static Exercise,
    pub shape: Shape,
    /// The inputs.
    pub place: Place,
    pub outputs: Vec<DeviceBuffer>,
    pub intermediates: Vec<DeviceBuffer>,
    pub scratch: Vec<DeviceBuffer>,
    values: Values,
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
        let values = Values::new(exercise, (exercise.make)(exercise.period(shape), &mut Inputs::new(seed)));
        let mut problem = Problem {
            exercise,
            shape,
            place: Place::new(stream, exercise, &values.case, shape, 0)?,
            outputs: buffers(stream, exercise.outputs, shape, 0)?,
            intermediates: intermediates(stream, exercise, shape)?,
            scratch: buffers(stream, exercise.scratch, shape, 0)?,
            values,
        };
        let inputs = &mut problem.place.inputs;
        Tables::new(stream, exercise, shape, inputs, &problem.outputs)?.copy_to(stream, inputs)?;
        problem.reset(stream)?;
        Ok(problem)
    }

    /// Fills the outputs anew, see [`Place::reset`].
    ///
    /// # Errors
    /// The driver's.
    pub fn reset(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.place.reset(stream, &mut self.outputs)
    }

    /// What a launch is given, and the intermediates beside it.
    pub fn arguments<'a>(&'a mut self, gemm: &'a dyn Gemm) -> (Arguments<'a>, &'a [DeviceBuffer]) {
        let arguments = Arguments {
            inputs: &self.place.inputs,
            outputs: &mut self.outputs,
            scratch: &mut self.scratch,
            gemm,
            scalars: &self.values.case.scalars,
            rows: self.shape.rows,
            columns: self.shape.columns,
            depth: self.shape.depth,
            heads: self.shape.heads,
            experts: self.shape.experts,
            pages: self.shape.pages,
        };
        (arguments, &self.intermediates)
    }

    /// Compares the outputs that `wanted` names with the reference.
    ///
    /// # Errors
    /// What `wrong` makes of the first element that is wrong, and what `failed` makes of an error of the driver's.
    pub fn check<E>(
        &self,
        stream: &Arc<CudaStream>,
        wanted: impl Fn(&Param) -> bool,
        failed: impl Fn(DriverError) -> E,
        wrong: impl Fn(&Param, Mismatch) -> E,
    ) -> Result<(), E> {
        self.values.look(stream, (&self.outputs, self.shape), Periods::Ends, failed, |seen| {
            if !wanted(seen.param) {
                return Ok(());
            }
            let tolerance = self.exercise.tolerances.get(seen.output).copied().unwrap_or(Tolerance::EXACT);
            seen.reference.check(&seen.actual, tolerance).map_err(|mismatch| wrong(seen.param, mismatch))
        })
    }
}
