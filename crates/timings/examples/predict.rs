//! Prototype: predicted beside measured for the suite.
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fusion_device::{Compiler, Options, Source};
use fusion_machine::{Launch, Machine, Profile};
use fusion_suite::Argument;
use fusion_timings::{Cache, cases, h200, is_held_out};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let all = std::env::var("HELD").is_ok();
    let measured: HashMap<(String, String, Cache), f64> =
        h200().unwrap().into_iter().map(|r| ((r.kernel, r.at, r.cache), r.ns)).collect();
    let cases = cases().unwrap();
    let next = AtomicUsize::new(0);
    let out = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let toolchain = fusion_toolchain::find().unwrap();
                let compiler = Compiler::open(&toolchain).unwrap();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(i) else { break };
                    let named = |k: &str| words.is_empty() || words.iter().any(|w| case.name.contains(w.as_str()) || k.contains(w.as_str()));
                    if !case.points.iter().any(|p| named(&p.launch.kernel)) { continue }
                    let file = format!("{}.cu", case.name);
                    let headers = fusion_baseline::includes();
                    let compiled = compiler.ptx(&Source { name: &file, text: &case.source }, &headers, 90, &Options::default()).unwrap();
                    for point in &case.points {
                        if !named(&point.launch.kernel) { continue }
                        if is_held_out(&point.launch.kernel) && !all { continue }
                        let machine = Machine::new(Profile::default(), fusion_machine::Options::default());
                        let module = fusion_ptx::parse(&compiled.ptx).module;
                        let loaded = machine.load(module, &compiled.ptx).unwrap();
                        let kernel = loaded.kernel(&point.launch.kernel).unwrap();
                        let info = loaded.info(kernel);
                        let mut params = vec![0_u8; info.param_bytes as usize];
                        for (parameter, given) in info.params.iter().zip(&point.launch.parameters) {
                            let bytes = match &given.argument {
                                Argument::Buffer { ty, len, fill } => {
                                    let size = (len * ty.size()) as u64;
                                    let contents = fusion_timings::contents(*ty, (*len).min(1 << 16), *fill);
                                    let period = ((*len).min(1 << 16) * ty.size()) as u64;
                                    let a = if size <= period { machine.memory().alloc(size, fusion_machine::AllocationKind::Global).unwrap() } else { machine.memory().alloc_repeating(size, period).unwrap() };
                                    if let Some(c) = contents { machine.memory().write(a, &c).unwrap(); }
                                    a.to_le_bytes().to_vec()
                                }
                                Argument::Number(b) | Argument::Value(b) => b.clone(),
                                _ => vec![0; 8],
                            };
                            params[parameter.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
                        }
                        let l = &point.launch;
                        let launch = Launch { grid: [l.grid.0, l.grid.1, l.grid.2], block: [l.block.0, l.block.1, l.block.2], dynamic_shared: l.shared, cooperative: false };
                        let t = std::time::Instant::now();
                        match machine.estimate(&loaded, kernel, &launch, &params, point.cache == Cache::Warm) {
                            Ok(e) => {
                                let m = measured[&(l.kernel.clone(), point.at.clone(), point.cache)];
                                out.lock().unwrap().push(format!("{},{},{},{},{:.0},{:.0},{:.1},{}", case.name, l.kernel, point.at, point.cache, m, e.ns, t.elapsed().as_secs_f64()*1e3, e.issued));
                            }
                            Err(f) => eprintln!("{} {}: {:?}", l.kernel, point.at, f.code()),
                        }
                    }
                }
            });
        }
    });
    let mut lines = out.into_inner().unwrap();
    lines.sort();
    for l in lines { println!("{l}"); }
}
