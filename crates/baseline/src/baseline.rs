//! Runs the unfused chain of an exercise, as its specification describes it.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaFunction, CudaModule, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::{
    Arguments, DeviceBuffer, Exercise, GemmSizes, Param, Routing, Scalar, ScalarArg, Shape, Step, Work,
};
use fusion_device::{CompileError, Device};

use crate::{load, unfused};

/// The unfused kernels, loaded.
#[derive(Clone, Debug)]
pub struct Baseline {
    modules: Vec<Arc<CudaModule>>,
}

impl Baseline {
    /// Compiles and loads the unfused kernels.
    ///
    /// # Errors
    /// As [`Device::compile`]'s: mostly that there is no compiler.
    pub fn new(device: &Device) -> Result<Self, CompileError> {
        Ok(Self { modules: unfused().iter().map(|source| load(device, source)).collect::<Result<_, _>>()? })
    }

    /// Steps whose kernels are in these modules instead of the unfused ones.
    pub fn from_modules(modules: Vec<Arc<CudaModule>>) -> Self {
        Self { modules }
    }

    /// The same with one more module to find kernels in.
    pub fn with(mut self, module: Arc<CudaModule>) -> Self {
        self.modules.push(module);
        self
    }

    /// Queues the chain on `stream`: one launch a step, in order, and none for an empty shape.
    ///
    /// `intermediates` are buffers as [`Exercise::intermediates`] lists them; `arguments` are what a
    /// submission's launch function is called with, for the same shape.
    ///
    /// # Errors
    /// What the driver answers to a launch; `CUDA_ERROR_NOT_FOUND` for a step whose kernel no module has, and
    /// `CUDA_ERROR_INVALID_VALUE` for one that names a buffer or scalar which the exercise lacks.
    pub fn run(
        &self,
        stream: &Arc<CudaStream>,
        exercise: &Exercise,
        intermediates: &mut [DeviceBuffer],
        arguments: Arguments<'_>,
    ) -> Result<(), DriverError> {
        if arguments.rows * arguments.columns == 0 {
            return Ok(());
        }
        exercise.unfused.iter().try_for_each(|step| self.run_step(stream, exercise, step, intermediates, &arguments))
    }

    /// Queues one launch as `step` describes it: a step of the chain, or any kernel with the arguments of one.
    ///
    /// # Errors
    /// As [`Baseline::run`]'s. The shape must not be empty: CUDA refuses a grid of no blocks.
    pub fn run_step(
        &self,
        stream: &Arc<CudaStream>,
        exercise: &Exercise,
        step: &Step,
        intermediates: &[DeviceBuffer],
        arguments: &Arguments<'_>,
    ) -> Result<(), DriverError> {
        self.launch(stream, step, &Buffers { exercise, intermediates, arguments })
    }

    fn launch(&self, stream: &Arc<CudaStream>, step: &Step, buffers: &Buffers<'_>) -> Result<(), DriverError> {
        match step.work {
            Work::Gemm => return buffers.multiply(stream, step),
            Work::Own => return Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)),
            _ => {}
        }
        let shape = buffers.arguments.shape();
        if step.each_tensor {
            let tensors = shape.tensors().filter(|tensor| !tensor.is_empty());
            let mut one = tensors.map(|tensor| (Shape::flat(tensor.len()), tensor.start));
            return one.try_for_each(|(part, from)| self.launch_part(stream, step, buffers, part, &|_| from));
        }
        if step.each_expert {
            let routing = Routing::of(shape);
            let mut with_tokens = routing.experts().enumerate().filter(|(_, (_, slots))| !slots.is_empty());
            return with_tokens.try_for_each(|(expert, (begin, slots))| {
                let part = buffers.part(step, shape, slots.len())?;
                self.launch_part(stream, step, buffers, part, &|param| param.of_expert(shape, expert, begin))
            });
        }
        self.launch_part(stream, step, buffers, shape, &|_| 0)
    }

    /// Queues one launch on a part of each buffer, which begins so many elements behind the buffer.
    fn launch_part(
        &self,
        stream: &Arc<CudaStream>,
        step: &Step,
        buffers: &Buffers<'_>,
        shape: Shape,
        from: &dyn Fn(&Param) -> usize,
    ) -> Result<(), DriverError> {
        let Shape { rows, columns, .. } = shape;
        let terms = shape.terms();
        let [heads, kv_heads] = shape.heads.unwrap_or_default();
        let (head, pages) = (shape.head(), shape.pages.unwrap_or(0));
        let threads = step.block(shape);
        let (blocks_x, blocks_y, _) = step.grid_dim(shape);
        if blocks_x == 0 || blocks_y == 0 {
            // A factor of a product without terms.
            return Ok(());
        }
        let kernel = self.kernel(&step.kernel.replace('*', &threads.to_string()))?;
        let addresses: Vec<u64> = (step.reads.iter().chain(step.writes))
            .filter(|name| !matches!(step.work, Work::Chunks { .. }) || !buffers.exercise.is_behind(name))
            .map(|name| {
                let (param, buffer) = buffers.find(name)?;
                Ok(buffer.address(stream) + (from(param) * buffer.dtype().bytes()) as u64)
            })
            .collect::<Result<_, DriverError>>()?;
        let named: Vec<Named> =
            step.scalars.iter().map(|scalar| buffers.named(scalar)).collect::<Result<_, DriverError>>()?;

        let elements = rows * columns;
        let mut launch = stream.launch_builder(&kernel);
        for address in &addresses {
            launch.arg(address);
        }
        for named in &named {
            match named {
                Named::Scalar(Scalar::F32(value)) => launch.arg(value),
                Named::Scalar(Scalar::I32(value)) => launch.arg(value),
                Named::Size(value) => launch.arg(value),
            };
        }
        match step.work {
            Work::Rows { .. } | Work::Tiles { .. } => {
                launch.arg(&rows).arg(&columns);
            }
            Work::Right { .. } => {
                launch.arg(&terms).arg(&columns);
            }
            Work::Product { .. } => {
                launch.arg(&rows).arg(&columns).arg(&terms);
            }
            Work::Heads { .. } => {
                launch.arg(&heads).arg(&kv_heads).arg(&terms).arg(&columns);
            }
            Work::Cache(_) => {
                launch.arg(&rows).arg(&heads).arg(&kv_heads).arg(&head).arg(&pages);
            }
            Work::Chunks { .. } => {}
            Work::Elements { .. } | Work::Gemm | Work::Own => {
                launch.arg(&elements);
            }
        }
        // More than the 48 KiB that a block gets unasked; a row that fits into no block is refused here.
        let shared = i32::try_from(step.shared_bytes(shape)).unwrap_or(i32::MAX);
        if shared > 0 {
            kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)?;
        }
        let (grid_dim, block_dim) = (step.grid_dim(shape), step.block_dim(shape));
        let config = LaunchConfig { grid_dim, block_dim, shared_mem_bytes: shared as u32 };
        // SAFETY: the kernels take the buffers read, the buffers written, the scalars and the sizes, which is the
        // order of the arguments here, and touch only elements of the shape, which every buffer holds. The caller
        // borrows the written buffers mutably and keeps all of them on this one stream.
        unsafe { launch.launch(config) }?;
        Ok(())
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_FOUND` where no module has it.
    pub fn kernel(&self, name: &str) -> Result<CudaFunction, DriverError> {
        let mut result = Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND));
        for module in &self.modules {
            result = module.load_function(name);
            if result.is_ok() {
                break;
            }
        }
        result
    }
}

/// What a step names beside its buffers.
enum Named {
    Scalar(Scalar),
    Size(usize),
}

/// The buffers and scalars of one run, by name.
struct Buffers<'a> {
    exercise: &'a Exercise,
    intermediates: &'a [DeviceBuffer],
    arguments: &'a Arguments<'a>,
}

impl Buffers<'_> {
    fn find(&self, name: &str) -> Result<(&'static Param, &DeviceBuffer), DriverError> {
        let Exercise { inputs, outputs, intermediates, scratch, .. } = self.exercise;
        let params = inputs.iter().chain(*outputs).chain(*intermediates).chain(*scratch);
        let Arguments { inputs, outputs, scratch, .. } = self.arguments;
        let buffers = inputs.iter().chain(&**outputs).chain(self.intermediates).chain(&**scratch);
        let found = params.zip(buffers).find(|(param, _)| param.name == name);
        found.ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE))
    }

    /// What a step works on for an expert with so many tokens, see [`Step::for_each_expert`].
    fn part(&self, step: &Step, shape: Shape, tokens: usize) -> Result<Shape, DriverError> {
        let width = |names: &[&str]| {
            let name = names.first().ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE))?;
            Ok(self.find(name)?.0.row(shape))
        };
        Ok(match step.work {
            Work::Product { .. } => Shape::product(tokens, width(step.writes)?, width(step.reads)?),
            _ => Shape::of(tokens, width(step.writes)?),
        })
    }

    /// Queues the library's product of the two buffers that the step reads.
    fn multiply(&self, stream: &Arc<CudaStream>, step: &Step) -> Result<(), DriverError> {
        let ([a, b], [c]) = (step.reads, step.writes) else {
            return Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
        };
        let ((_, a), (_, b), (_, c)) = (self.find(a)?, self.find(b)?, self.find(c)?);
        let Arguments { rows: m, columns: n, gemm, .. } = *self.arguments;
        if a.len() < m * n || b.len() < n * n || c.len() < m * n {
            return Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
        }
        // SAFETY: the buffers were checked to hold the product's elements; they are different ones, and the caller
        // keeps them on this one stream.
        unsafe { gemm.queue(stream, [a, b, c].map(|buffer| buffer.address(stream)), GemmSizes { m, n, k: n }) }
    }

    fn named(&self, scalar: &ScalarArg) -> Result<Named, DriverError> {
        let value = match scalar {
            ScalarArg::Constant(value) => Some(Named::Scalar(Scalar::F32(*value))),
            ScalarArg::Named(name) => {
                let index = self.exercise.scalars.iter().position(|scalar| scalar == name);
                index.and_then(|index| self.arguments.scalars.get(index)).copied().map(Named::Scalar)
            }
            ScalarArg::Size(name) => {
                let sizes = self.exercise.shapes.sizes(self.arguments.shape());
                sizes.into_iter().find(|(size, _)| size == name).map(|(_, value)| Named::Size(value))
            }
        };
        value.ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE))
    }
}
