// refused: launch
// A kernel that is not in the `.cu`.
pub fn mul_add(stream: &Arc<CudaStream>, module: &Arc<CudaModule>, q: &CudaView<'_, f32>, k: &CudaView<'_, f32>, v: &CudaView<'_, f32>, out: &mut CudaViewMut<'_, f32>) -> Result<(), DriverError> {
    let _ = (module, q, k, v);
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry mine(.param .u64 p) { ret; }\n";
    let own = stream.context().load_module(cudarc::nvrtc::Ptx::from_src(text))?;
    let kernel = own.load_function("mine")?;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    unsafe { stream.launch_builder(&kernel).arg(out).launch(config) }?;
    Ok(())
}
