//! Writes the pictures of ideas into a folder: `cargo run -p fusion-chart --example ideas -- FOLDER`.
//!
//! What the H200 has comes from its profile, and how long it waits from times that were measured.

use std::path::{Path, PathBuf};

use fusion_chart::ideas::{Device, Waits, panels};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder to write to")?);
    std::fs::create_dir_all(&folder)?;
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let device = device(&std::fs::read_to_string(crates.join("machine/profiles/h200.toml"))?)?;
    let waits = waits(&std::fs::read_to_string(crates.join("timings/measured/h200.csv"))?)?;
    for panel in panels(&device, &waits) {
        std::fs::write(folder.join(format!("{}.svg", panel.name)), panel.svg)?;
    }
    Ok(())
}

fn device(profile: &str) -> Result<Device, Failure> {
    let profile: toml::Table = profile.parse()?;
    let number = |table: &str, name: &str| -> Result<u64, Failure> {
        let value = profile.get(table).and_then(|table| table.get(name)?.get("is")?.as_integer());
        Ok(u64::try_from(value.ok_or(format!("no {table}.{name} in the profile"))?)?)
    };
    Ok(Device {
        name: "H200".to_owned(),
        sms: number("device", "sms")?,
        registers: 4 * number("device", "registers_per_sm")?,
        shared: number("device", "shared_per_sm")?,
        l1: number("rates", "l1_bytes")?,
        l2: number("device", "l2_bytes")?,
        memory: number("device", "memory_bytes")?,
    })
}

/// Chains of two lengths were timed. The difference is what the additional steps took: the launch is in both.
fn waits(measured: &str) -> Result<Waits, Failure> {
    let time = |kernel: &str, at: &str, cache: &str| -> Result<f64, Failure> {
        let start = format!("calibration/latency,{kernel},{at},{cache},");
        let line = measured.lines().find_map(|line| line.strip_prefix(&start));
        Ok(line.and_then(|rest| rest.split(',').next()).ok_or(format!("no {start} in the times"))?.parse()?)
    };
    let step = |kernel: &str, at: &str, cache: &str| -> Result<f64, Failure> {
        let (short, long) = (256.0, 1024.0);
        let times = [short, long].map(|steps| time(kernel, &format!("{at}steps={steps}"), cache));
        let [first, second] = times;
        Ok((second? - first?) / (long - short))
    };
    Ok(Waits {
        shared: step("chase_shared", "", "cold")?,
        l1: step("chase_global", "kilobytes=16 ", "warm")?,
        l2: step("chase_global", "kilobytes=16384 ", "warm")?,
        dram: step("chase_global", "kilobytes=1048576 ", "cold")?,
        source: "the chase kernels of crates/timings/kernels/calibration/latency.cu, crates/timings/measured/h200.csv"
            .to_owned(),
    })
}
