//! Every sentence on a fault, made in one place: what happened, the facts, and what to do next.

mod arithmetic;
mod call;
mod cluster;
mod init;
mod launch;
mod mbarrier;
mod meaning;
mod memory;
mod race;
mod speed;
mod stop;
mod sync;
mod tensor;
mod terms;
mod warpgroup;

use fusion_machine::UnknownCheck;
use fusion_machine::report::{self, Fault, Kind, Role};

use crate::count::counted;
use crate::diagnostic::{Buffer, Diagnostic, Related};
use crate::guard;
use crate::sources::Sources;

pub use meaning::{class, meaning};
pub use race::longer_rows;

/// What is said of one fault.
#[derive(Debug, Default)]
struct Words {
    title: String,
    label: String,
    notes: Vec<String>,
    help: Vec<String>,
}

impl Words {
    fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// A note where there is something to say.
    fn maybe(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Why a choice of checks is none.
pub fn unknown_check(UnknownCheck(name): &UnknownCheck) -> String {
    format!(
        "`{name}` is not a check: write `all`, `none`, or some of init, races, arithmetic, performance with commas between them"
    )
}

/// A fault in words.
pub fn say(fault: &Fault) -> Diagnostic {
    let words = match &fault.kind {
        Kind::Memory(kind) => memory::words(kind, fault),
        Kind::Init(kind) => init::words(kind, fault),
        Kind::Race(kind) => race::words(kind, fault),
        Kind::Unordered(kind) => call::unordered(kind, fault),
        Kind::Sync(kind) => sync::words(kind),
        Kind::Cluster(kind) => cluster::words(kind, fault),
        Kind::Mbarrier(kind) => mbarrier::words(kind, fault),
        Kind::Tensor(kind) => tensor::words(kind, fault),
        Kind::Proxy(kind) => tensor::unfenced(kind, fault),
        Kind::Unfinished(kind) => tensor::unfinished(kind, fault),
        Kind::Warpgroup(kind) => warpgroup::words(kind),
        Kind::Stop(kind) => stop::words(kind),
        Kind::Unsupported(kind) => stop::unsupported(kind),
        Kind::Refusal(kind) => launch::words(kind),
        Kind::Call(kind) => call::words(kind),
        Kind::Arithmetic(kind) => arithmetic::words(kind),
        Kind::Speed(kind) => speed::words(kind, fault),
    };
    Diagnostic {
        code: fault.code().to_string(),
        blame: fault.blame(),
        severity: fault.severity(),
        title: words.title,
        label: words.label,
        notes: words.notes,
        help: words.help,
        kernel: fault.kernel.clone(),
        source: fault.source.clone(),
        ptx: fault.ptx.clone(),
        block: fault.block,
        thread: fault.thread,
        lanes: fault.lanes,
        count: fault.count,
        related: fault.related.iter().map(|other| related(other, fault)).collect(),
        earlier: fault.earlier.iter().map(say).collect(),
        buffer: fault.buffer.as_ref().map(|buffer| Buffer {
            name: terms::name(buffer),
            argument: buffer.argument,
            size: buffer.size,
            offset: buffer.offset,
            bytes: buffer.bytes,
        }),
    }
}

/// A fault with the helps that its source's text gives, so that all who have the text say the same of it, at any
/// length.
pub fn with_text(fault: Diagnostic, sources: &(impl Sources + ?Sized)) -> Diagnostic {
    Diagnostic { help: help(&fault, sources), ..fault }
}

/// The helps of a fault. Where the source has a check that does not guard the access, they tell what is wrong with it.
pub(crate) fn help(fault: &Diagnostic, sources: &(impl Sources + ?Sized)) -> Vec<String> {
    let mut help = fault.help.clone();
    if let Some(guard) = help.iter_mut().find(|help| help.as_str() == memory::GUARD)
        && let Some(check) = guard::check(fault, sources)
    {
        *guard = memory::guard(&check);
    }
    help
}

/// Several faults in words.
pub fn say_all<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> Vec<Diagnostic> {
    faults.into_iter().map(say).collect()
}

fn related(other: &report::Related, fault: &Fault) -> Related {
    Related {
        label: label(other, fault),
        names_thread: matches!(other.role, Role::Access | Role::Wrote),
        source: other.source.clone(),
        ptx: other.ptx.clone(),
        block: other.block,
        thread: other.thread,
    }
}

/// A few words for beneath another party's place.
fn label(other: &report::Related, fault: &Fault) -> String {
    match &other.role {
        Role::Access => race::other(other, fault),
        Role::CopyWait { groups } => race::wait(*groups),
        Role::Wrote => tensor::wrote(other, fault),
        Role::RoundBarrier => "this barrier comes between the write and the read of one round".into(),
        Role::Read => init::read(fault),
        Role::Allocation => "allocated here".into(),
        Role::Addressed => "the address of this access is made from it".into(),
        Role::Waiting { lanes, waits, more } => sync::waiting(*lanes, *waits, *more),
        Role::OtherBarrier { warp } => format!("warp {warp} waits at this one"),
        Role::OtherCount { warp, threads } => {
            format!("warp {warp} counts {} here", counted((*threads).into(), "thread"))
        }
        Role::RoundBefore { warp } => format!("warp {warp} came to the round before here"),
        Role::Initialised => "the count of its arrivals was set here".into(),
        Role::Bypassing { lanes, barrier } => sync::bypassing(*lanes, *barrier),
        Role::BypassingWarp { warp } => {
            format!("warp {warp} is here already, past the barrier, without having waited, and ends")
        }
        Role::Product => warpgroup::PRODUCT.into(),
        Role::OtherProduct { warp } => warpgroup::other(*warp),
        Role::Register { written } => warpgroup::register(*written),
        Role::Neighbour => "and its neighbour here".into(),
        Role::Likewise { write } => format!("this {} too", terms::access(*write)),
        Role::Local { bytes, write } => speed::local(*bytes, *write),
        Role::Writer { kernel } => format!("`{kernel}` writes it here"),
        Role::Operation { kernel, write } => call::operation(kernel, *write, fault),
    }
}
