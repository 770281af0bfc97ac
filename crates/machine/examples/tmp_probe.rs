use std::time::Instant;
use fusion_machine::*;
fn main(){
 let k=include_str!("../tests/ptx/kernels.ptx"); let f=include_str!("../tests/ptx/faults.ptx");
 let m=Machine::new(Profile::default(),Options::default());
 let lk=m.load(fusion_ptx::parse(k).module,k).unwrap(); let lf=m.load(fusion_ptx::parse(f).module,f).unwrap();
 let n=1u64<<22; let mem=m.memory();
 let a=mem.alloc(4*n,AllocationKind::Device).unwrap(); let b=mem.alloc(4*n,AllocationKind::Device).unwrap();
 let t=Instant::now(); let data=vec![0x3fu8;4*n as usize]; mem.write(a,&data).unwrap(); println!("write {:.2} GB/s",4.0*n as f64/t.elapsed().as_secs_f64()/1e9);
 let t=Instant::now(); let mut d2=data.clone(); let t2=t.elapsed(); mem.read(a,&mut d2).unwrap(); println!("read {:.2} GB/s",4.0*n as f64/(t.elapsed()-t2).as_secs_f64()/1e9);
 let run=|l:&Loaded,name:&str,grid:u32,block:u32,p:&[u64],coop:bool|{
  let k=l.kernel(name).unwrap(); let i=l.info(k); let mut buf=vec![0u8;i.param_bytes as usize];
  for (v,p) in p.iter().zip(&i.params){ let o=p.offset as usize; buf[o..o+p.size as usize].copy_from_slice(&v.to_le_bytes()[..p.size as usize]); }
  let t=Instant::now();
  let r=m.launch(l,k,&Launch{grid:[grid,1,1],block:[block,1,1],dynamic_shared:if name=="tree_sum"{4*block}else{0},cooperative:coop},&buf);
  let s=t.elapsed().as_secs_f64();
  match r{ Ok(r)=>println!("{name}: {s:.4} s {:.0} M thread-instr/s, {:.1} M warp-instr/s regs {}",r.counters.thread_instructions as f64/s/1e6,r.counters.warp_instructions as f64/s/1e6,i.registers), Err(f)=>println!("{name}: {s:.2} s {} {:?} {:?}",f.code,f.notes,f.source.first().map(|s|s.line)) }
 };
 let nn=n;
 run(&lk,"quantize",(n/256) as u32,256,&[a,b,0x3f400000,0x40400000,nn],false);
 run(&lk,"block_sum",(n/256) as u32,256,&[a,b,nn],false);
 run(&lk,"tree_sum",(n/256) as u32,256,&[a,b],false);
 run(&lk,"vectors",(n/1024) as u32,256,&[a,b],false);
 let v:Vec<u8>=(0..n).flat_map(|i|((i%97) as u32+1).to_le_bytes()).collect(); mem.write(a,&v).unwrap();
 run(&lk,"collatz",(n/1024) as u32,256,&[a,b,n/4],false);
 run(&lk,"histogram",(n/256) as u32,256,&[a,b,nn],false);
 run(&lk,"recurse",64,256,&[b],false);
 run(&lf,"forever",1,256,&[b],false);
 run(&lf,"forever",1000,256,&[b],false);
 mem.fill(b,&[0],4*n).unwrap();
 run(&lf,"spins",1000,32,&[b],false);
 let c=mem.alloc(4096,AllocationKind::Device).unwrap();
 run(&lk,"locked_count",4,256,&[b,c],false);
 for _ in 0..3 { run(&lk,"vectors",1,32,&[a,b],false); }
 for _ in 0..3 { run(&lk,"vectors",8,32,&[a,b],false); }
}
