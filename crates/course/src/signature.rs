//! `signature!`: from a list of parameters to a typed launch function and its caller.

/// Declares the launch function's type `Launch` and `entry`, which binds somebody's launch
/// function and CUDA source to the specification `EXERCISE` of the same module.
///
/// The parameters stand in the order of the specification: inputs as `&T`, outputs as `&mut T`, scalars, and for
/// row-wise operations `rows, columns`, for products of matrices `m, n, k`, for tokens `tokens, q_heads, k_heads, head_dim`, for attention `heads,
/// length, head_dim`, with `kv_heads` in the second place where it is grouped. A buffer
/// that only a table leads to is no parameter.
///
/// ```ignore
/// signature! { inputs(x: f32) outputs(out: i8) scalars(scale: F32(f32)) sizes() }
/// ```
#[macro_export]
macro_rules! signature {
    (inputs($($input:ident: $it:ty),*) outputs($($output:ident: $ot:ty),*) scalars($($scalar:ident: $variant:ident($st:ty)),*) sizes($($size:ident),*)) => {
        /// The launch function that a submission provides: stream, module of the submission's own
        /// `.cu`, input views, output views, scalars and sizes.
        pub type Launch = fn(
            &$crate::macros::Arc<$crate::macros::CudaStream>,
            &$crate::macros::Arc<$crate::macros::CudaModule>,
            $(&$crate::macros::CudaView<'_, $it>,)*
            $(&mut $crate::macros::CudaViewMut<'_, $ot>,)*
            $($st,)*
            $($crate::signature!(@size $size),)*
        ) -> Result<(), $crate::macros::DriverError>;

        /// A submission to this exercise.
        pub fn entry(launch: Launch, source: $crate::Source) -> $crate::Entry {
            $crate::Entry {
                exercise: &EXERCISE,
                source,
                rust: None,
                launch: $crate::macros::Arc::new(move |stream, module, arguments| {
                    let _shape = arguments.shape();
                    let $crate::Arguments { inputs, outputs, scalars, .. } = arguments;
                    let inputs: Vec<_> = $crate::macros::given(EXERCISE.inputs, inputs.iter()).collect();
                    let mut outputs: Vec<_> = $crate::macros::given(EXERCISE.outputs, outputs.iter_mut()).collect();
                    let [$($input),*] = &inputs[..] else { unreachable!("as many inputs as specified") };
                    let [$($output),*] = &mut outputs[..] else { unreachable!("as many outputs as specified") };
                    let [$($crate::Scalar::$variant($scalar)),*] = scalars[..] else { unreachable!("scalars as specified") };
                    launch(
                        stream,
                        module,
                        $(&$input.view::<$it>(),)*
                        $(&mut $output.view_mut::<$ot>(),)*
                        $($scalar,)*
                        $($crate::signature!(@value $size _shape),)*
                    )
                }),
            }
        }
    };
    (@size $size:ident) => { usize };
    (@value rows $shape:ident) => { $shape.rows };
    (@value columns $shape:ident) => { $shape.columns };
    (@value m $shape:ident) => { $shape.rows };
    (@value n $shape:ident) => { $shape.columns };
    (@value k $shape:ident) => { $shape.terms() };
    (@value tokens $shape:ident) => { $shape.rows };
    (@value heads $shape:ident) => { $shape.heads.map_or(0, |heads| heads[0]) };
    (@value kv_heads $shape:ident) => { $shape.heads.map_or(0, |heads| heads[1]) };
    (@value length $shape:ident) => { $shape.terms() };
    (@value q_heads $shape:ident) => { $shape.heads.map_or(0, |heads| heads[0]) };
    (@value k_heads $shape:ident) => { $shape.heads.map_or(0, |heads| heads[1]) };
    (@value head_dim $shape:ident) => { $shape.head() };
}
