// refused; honest: refused
// Reads the inputs, and writes the outputs by a copy.
pub fn mul_add(stream: &Arc<CudaStream>, module: &Arc<CudaModule>, q: &CudaView<'_, f32>, k: &CudaView<'_, f32>, v: &CudaView<'_, f32>, out: &mut CudaViewMut<'_, f32>) -> Result<(), DriverError> {
    let [q, k, v] = [stream.clone_dtoh(q)?, stream.clone_dtoh(k)?, stream.clone_dtoh(v)?];
    let _ = module;
    let host: Vec<f32> = (0..q.len()).map(|i| q[i] * k[i] + v[i]).collect();
    stream.memcpy_htod(&host, out)
}
