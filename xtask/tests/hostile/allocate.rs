// refused: launch; honest: refused
// 
pub fn mul_add(stream: &Arc<CudaStream>, module: &Arc<CudaModule>, q: &CudaView<'_, f32>, k: &CudaView<'_, f32>, v: &CudaView<'_, f32>, out: &mut CudaViewMut<'_, f32>) -> Result<(), DriverError> {
    let _ = std::mem::ManuallyDrop::new(unsafe { stream.alloc::<f32>(1024) }?);
    right(stream, module, q, k, v, out)
}
