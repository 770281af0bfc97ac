//! The loop: make an input, check it, keep it if it reached something new.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use fastrand::Rng;
use fusion_machine::report::Code;

use crate::{Coverage, Feature, Finding, Input, check, generate, minimise, mutate, noise, seeds, splice};

/// How long, how wide, from where.
#[derive(Clone, Debug)]
pub struct Settings {
    pub time: Duration,
    /// The same seed with one job makes the same inputs in the same order.
    pub seed: u64,
    /// Threads that try inputs.
    pub jobs: usize,
    /// Inputs to begin with.
    pub corpus: PathBuf,
    /// Where findings are put.
    pub findings: PathBuf,
    /// Where to put every input that reached something new, if they are to be kept.
    pub keep: Option<PathBuf>,
}

/// Inputs that are kept to be changed further.
const POOL: usize = 4000;
/// Longer inputs are cut: everything worth finding shows in less, and a copy of a copy would grow without end.
const LONGEST: usize = 48 << 10;
/// A case that takes longer hangs.
const HANG: Duration = Duration::from_secs(120);
/// A case that makes the process larger by this much wastes memory.
const WASTE: u64 = 1 << 30;

/// A fuzzing session, shared by its jobs.
#[derive(Debug)]
pub struct Session {
    settings: Settings,
    begun: Instant,
    stop: AtomicBool,
    cases: AtomicU64,
    launches: AtomicU64,
    largest: AtomicU64,
    state: Mutex<State>,
    /// What each job is at, and since when.
    current: Vec<Mutex<Option<(Instant, Input)>>>,
}

#[derive(Debug, Default)]
struct State {
    coverage: Coverage,
    pool: Vec<Input>,
    found: Vec<(String, Finding, PathBuf)>,
}

/// How far a session has come.
#[derive(Clone, Debug)]
pub struct Status {
    pub cases: u64,
    pub launches: u64,
    pub seconds: f64,
    /// Everything that was reached, of all kinds.
    pub features: usize,
    pub forms: usize,
    pub codes: Vec<Code>,
    pub diagnostics: usize,
    pub pool: usize,
    pub findings: usize,
}

impl Session {
    /// Reads the corpus.
    ///
    /// # Errors
    /// A folder that cannot be read or made.
    pub fn new(settings: Settings) -> io::Result<Self> {
        fs::create_dir_all(&settings.findings)?;
        if let Some(keep) = &settings.keep {
            fs::create_dir_all(keep)?;
        }
        let pool = Input::folder(&settings.corpus)?.into_iter().map(|(_, input)| input).collect();
        let current = (0..settings.jobs).map(|_| Mutex::new(None)).collect();
        Ok(Self {
            settings,
            begun: Instant::now(),
            stop: AtomicBool::new(false),
            cases: AtomicU64::new(0),
            launches: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            state: Mutex::new(State { pool, ..State::default() }),
            current,
        })
    }

    /// Runs all jobs until the time is over, and `report` every few seconds and once more at the end.
    ///
    /// # Errors
    /// An input that hangs, after it has been saved: its job cannot be stopped, so the caller must end the process.
    pub fn run(&'static self, mut report: impl FnMut(&Status)) -> Result<(), PathBuf> {
        self.largest.store(resident_bytes(), Relaxed);
        let jobs: Vec<_> =
            (0..self.settings.jobs).map(|job| std::thread::Builder::new().spawn(move || self.job(job))).collect();
        let mut next = Duration::from_secs(10);
        while self.begun.elapsed() < self.settings.time {
            std::thread::sleep(Duration::from_millis(200));
            if let Some(path) = self.hanging() {
                return Err(path);
            }
            if self.begun.elapsed() > next {
                report(&self.status());
                next += Duration::from_secs(30);
            }
        }
        self.stop.store(true, Relaxed);
        while jobs.iter().flatten().any(|job| !job.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            if let Some(path) = self.hanging() {
                return Err(path);
            }
        }
        report(&self.status());
        Ok(())
    }

    pub fn status(&self) -> Status {
        let state = self.state();
        Status {
            cases: self.cases.load(Relaxed),
            launches: self.launches.load(Relaxed),
            seconds: self.begun.elapsed().as_secs_f64(),
            features: state.coverage.len(),
            forms: state.coverage.forms(),
            codes: state.coverage.codes(),
            diagnostics: state.coverage.diagnostics(),
            pool: state.pool.len(),
            findings: state.found.len(),
        }
    }

    /// What was found, and the files that show it.
    pub fn findings(&self) -> Vec<(Finding, PathBuf)> {
        self.state().found.iter().map(|(_, finding, path)| (finding.clone(), path.clone())).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn job(&self, job: usize) {
        let mut rng = Rng::with_seed(self.settings.seed.wrapping_add(job as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let first: Vec<Input> = match job {
            0 => self.state().pool.clone(),
            _ => Vec::new(),
        };
        // A process that dies cannot say of what: the input of the moment lies beside the findings.
        let running = self.settings.findings.join(format!("running-{job}"));
        for input in first {
            self.case(job, input, &running);
        }
        while !self.stop.load(Relaxed) {
            let input = self.next(&mut rng);
            self.case(job, input, &running);
        }
        // It is gone already when the folder is.
        let _ = fs::remove_file(running);
    }

    fn next(&self, rng: &mut Rng) -> Input {
        let seed = rng.u64(..);
        let some = |rng: &mut Rng| -> Vec<u8> {
            let state = self.state();
            match state.pool.is_empty() || rng.u32(0..4) == 0 {
                true => seeds()[rng.usize(..seeds().len())].clone().into_bytes(),
                false => state.pool[rng.usize(..state.pool.len())].ptx.clone(),
            }
        };
        let mut input = match rng.u32(0..20) {
            0..=8 => generate(seed),
            9 => Input { seed, private: false, ptx: noise(rng) },
            10 | 11 => {
                let (a, b) = (some(rng), some(rng));
                Input { seed, private: false, ptx: splice(rng, &a, &b) }
            }
            _ => {
                let (mut ptx, other) = (some(rng), some(rng));
                mutate(rng, &mut ptx, &other);
                Input { seed, private: false, ptx }
            }
        };
        input.ptx.truncate(LONGEST);
        input
    }

    fn case(&self, job: usize, input: Input, running: &Path) {
        // Without the file a crash is harder to explain, and nothing else.
        let _ = fs::write(running, input.to_bytes());
        *self.current[job].lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), input.clone()));
        let before = self.largest.load(Relaxed);
        let mut result = check(&input);
        let after = self.largest.fetch_max(resident_bytes(), Relaxed).max(before);
        if result.is_ok() && resident_bytes() > after + WASTE {
            let detail = format!("the process grew by {} bytes", resident_bytes() - after);
            result = Err(Finding::new(crate::Kind::Memory, detail));
        }
        self.cases.fetch_add(1, Relaxed);
        match result {
            Ok(observed) => {
                self.launches.fetch_add(observed.launches as u64, Relaxed);
                self.keep(&input, observed.features);
            }
            Err(finding) => self.found(&input, finding),
        }
        *self.current[job].lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn keep(&self, input: &Input, features: Vec<Feature>) {
        let mut state = self.state();
        if !state.coverage.add(features) {
            return;
        }
        if let Some(keep) = &self.settings.keep {
            // What is not kept is only not kept.
            let _ = fs::write(keep.join(format!("{:016x}.ptx", input.seed)), input.to_bytes());
        }
        if state.pool.len() < POOL {
            state.pool.push(input.clone());
        } else {
            let at = (input.seed % POOL as u64) as usize;
            state.pool[at] = input.clone();
        }
    }

    /// Saves a finding at a new site, made small.
    fn found(&self, input: &Input, finding: Finding) {
        let site = finding.site();
        let path = {
            let mut state = self.state();
            if state.found.iter().any(|(known, ..)| *known == site) {
                return;
            }
            let name = format!("{:?}-{:016x}.ptx", finding.kind, input.seed).to_lowercase();
            let path = self.settings.findings.join(name);
            state.found.push((site.clone(), finding, path.clone()));
            path
        };
        // The whole one first: making it small may kill the process.
        let _ = fs::write(&path, input.to_bytes());
        let small = minimise(input, &site, Duration::from_secs(20));
        let _ = fs::write(&path, small.to_bytes());
    }

    /// Saves the input of a job that does not come back.
    fn hanging(&self) -> Option<PathBuf> {
        for current in &self.current {
            let current = current.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, input)) = &*current
                && since.elapsed() > HANG
            {
                let path = self.settings.findings.join(format!("hang-{:016x}.ptx", input.seed));
                let _ = fs::write(&path, input.to_bytes());
                return Some(path);
            }
        }
        None
    }
}

/// The most memory that the process ever had, where the system tells; 0 elsewhere.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().map_or(0, |kib| kib << 10)
}
