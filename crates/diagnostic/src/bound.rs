//! What bounds a kernel, in one line: from the account of the clock's simulation, and from nothing else.

use fusion_machine::report::account::{Accesses, Account, Banks, Bound, Cause};
use fusion_machine::report::{Busy, State};

/// More bytes than asked for that are worth a word.
const MUCH: f64 = 1.25;

/// The most that a lane can load or store at once.
const WIDEST: u32 = 16;

/// What bounds a launch, and what would help, as far as the account says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded {
    pub what: String,
    pub next: Option<String>,
}

impl std::fmt::Display for Bounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        self.next.as_ref().map_or(Ok(()), |next| write!(f, "; {next}"))
    }
}

/// What a state of a warp means, in a few words.
pub fn state(state: State) -> &'static str {
    match state {
        State::Selected => "issuing",
        State::NotSelected => "waiting for its turn",
        State::LongScoreboard => "waiting for memory",
        State::ShortScoreboard => "waiting for shared memory, shuffles, special functions",
        State::Barrier => "waiting at a barrier",
        State::Membar => "waiting at a fence",
        State::LgThrottle => "waiting until loads and stores to memory are taken",
        State::MioThrottle => "waiting until shared memory, shuffles, special functions are taken",
        State::MathPipeThrottle => "waiting for a unit that computes",
        State::Wait => "waiting for arithmetic",
        State::BranchResolving => "branching",
        State::Launch => "starting",
    }
}

/// What may be at work all the time, in a few words.
pub fn unit(unit: Busy) -> &'static str {
    match unit {
        Busy::Issue => "schedulers",
        Busy::Fma => "multiply-adds",
        Busy::Alu => "logic",
        Busy::Special => "special functions",
        Busy::Double => "f64",
        Busy::Tensor => "tensor cores",
        Busy::Lsu => "loads and stores",
        Busy::Port => "the SM's way to L2",
        Busy::L2 => "L2",
        Busy::Atomics => "atomics",
        Busy::Dram => "memory",
    }
}

/// What bounds a launch, in a few words.
pub fn short_of_bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Busy(busy, _) => unit(busy),
        Bound::Overhead(_) => "launching",
        Bound::Dispatch(_) => "waiting for blocks",
        Bound::Tail(_) => "SMs without work",
        Bound::Warps(Cause::Memory, _) => "waiting for memory",
        Bound::Warps(Cause::Shared, _) => "waiting for shared memory, shuffles, special functions",
        Bound::Warps(Cause::Barriers, _) => "waiting at barriers",
        Bound::Warps(Cause::Fences, _) => "waiting at fences",
        Bound::Warps(Cause::Instructions, _) => "instructions",
        Bound::Warps(Cause::Starting, _) => "starting blocks",
    }
}

/// What a launch on a GPU of this name is bound by.
pub fn bound(account: &Account, gpu: &str) -> Bounded {
    let gpu = gpu.trim_start_matches("Emulated ");
    match account.bound() {
        Bound::Busy(unit, share) => busy(account, unit, share),
        Bound::Overhead(share) => {
            said(format!("launching {}, which a launch costs whatever its blocks do", percent(share)), None)
        }
        Bound::Dispatch(share) => said(
            format!("waiting for blocks {}: an SM finishes them faster than they are handed out", percent(share)),
            Some("fewer blocks, each with more to do".to_owned()),
        ),
        Bound::Tail(share) => said(
            format!("SMs without work {}: no blocks are left while others finish", percent(share)),
            Some("more blocks, each with less to do".to_owned()),
        ),
        Bound::Warps(cause, share) => warps(account, cause, share, gpu),
    }
}

/// What bounds the longest launch of a run: which one that is, and which share of the time it takes.
pub fn bound_of_several(account: &Account, gpu: &str, kernel: &str, share: f64) -> Bounded {
    let Bounded { what, next } = bound(account, gpu);
    let fewer = || matches!(account.bound(), Bound::Overhead(_)).then(|| "fewer launches".to_owned());
    said(format!("{kernel} ({} of the time): {what}", percent(share)), next.or_else(fewer))
}

fn said(what: String, next: Option<String>) -> Bounded {
    Bounded { what, next }
}

fn busy(account: &Account, unit: Busy, share: f64) -> Bounded {
    let [loads, stores] = account.accesses();
    let mut all = loads;
    all += stores;
    // Near the end of it nothing else helps.
    let only = if share >= 0.9 { "only fewer bytes make it faster" } else { "fewer bytes make it faster" };
    let fewer_bytes = || Some(only.to_owned());
    let (share, spread) = (percent(share), || spread(&all));
    match unit {
        Busy::Dram => said(format!("memory's bandwidth, which is used {share}"), spread().or_else(fewer_bytes)),
        Busy::L2 => said(format!("the bandwidth of L2, which is used {share}"), spread().or_else(fewer_bytes)),
        Busy::Port => said(
            format!("the way from L2 to an SM, which is used {share}"),
            spread().or_else(|| Some("more blocks use more SMs, and fewer bytes help".to_owned())),
        ),
        Busy::Atomics => said(
            format!("atomics that wait for each other, {share}"),
            Some("one atomic for a warp or a block in place of one for each thread".to_owned()),
        ),
        Busy::Lsu => said(format!("the unit for loads and stores, which is at work {share}"), lsu(account, &all)),
        Busy::Issue => {
            said(format!("instructions: schedulers issue {share} of the time"), Some("fewer instructions".to_owned()))
        }
        Busy::Fma => said(format!("multiply-adds, whose units are at work {share}"), None),
        Busy::Alu => said(format!("logic and comparisons, whose units are at work {share}"), None),
        Busy::Special => said(
            format!("special functions and conversions, whose units are at work {share}"),
            Some("fewer of them for each element".to_owned()),
        ),
        Busy::Tensor => said(format!("the tensor cores, which are at work {share}"), None),
        Busy::Double => {
            said(format!("f64, whose units are at work {share}"), Some("f32 where that is exact enough".to_owned()))
        }
    }
}

/// Accesses that move more than is asked for.
fn spread(all: &Accesses) -> Option<String> {
    let (requests, surplus) = (all.each(), all.surplus());
    (surplus > MUCH).then(|| {
        format!(
            "{surplus:.1} bytes are moved for each that is asked for, {requests:.0} sectors a request: neighbouring threads \
             should touch neighbouring elements"
        )
    })
}

/// What relieves the unit for loads and stores.
fn lsu(account: &Account, all: &Accesses) -> Option<String> {
    let shared = account.lines.iter().fold(Banks::default(), |mut sum, line| {
        sum += line.shared;
        sum
    });
    if shared.passes > MUCH * shared.requests && shared.passes > all.requests {
        let times = shared.passes / shared.requests;
        return Some(format!("accesses to shared memory go through the banks {times:.1} times: fewer bank conflicts"));
    }
    let narrow = all.requests > shared.requests && all.width < WIDEST;
    spread(all).or_else(|| narrow.then(|| format!("{} a thread at once in place of {}", bytes(WIDEST), all.width)))
}

fn warps(account: &Account, cause: Cause, share: f64, gpu: &str) -> Bounded {
    let at = account.worst(cause).and_then(|(line, _)| line.source.as_ref()).map(|source| source.line);
    let at = at.map(|line| format!(", most of it at line {line}")).unwrap_or_default();
    let share = percent(share);
    match cause {
        Cause::Memory => memory(account, &share, gpu),
        Cause::Shared => said(format!("waiting for shared memory, shuffles and special functions {share}{at}"), None),
        Cause::Barriers => said(
            format!("waiting at barriers {share}{at}"),
            (account.warps.fit < account.warps.most).then(|| {
                let (fit, most) = (account.warps.fit, account.warps.most);
                format!("fewer barriers, or more blocks on an SM beside it: there is room for {fit} of {most} warps")
            }),
        ),
        Cause::Fences => said(format!("waiting at fences {share}{at}"), Some("fewer fences".to_owned())),
        Cause::Starting => {
            said(format!("starting blocks {share}"), Some("fewer blocks, each with more to do".to_owned()))
        }
        Cause::Instructions => instructions(account, &share, &at),
    }
}

/// Too little is on its way, or what is on its way takes long.
fn memory(account: &Account, share: &str, gpu: &str) -> Bounded {
    let (has, needed) = (kib(account.flight.bytes), kib(account.flight.needed));
    let what = format!("waiting for memory {share}: {has} KiB in flight per SM, the {gpu} needs about {needed}");
    if account.flight.bytes >= 0.9 * account.flight.needed {
        return said(what, None);
    }
    let [loads, stores] = account.accesses();
    let mut all = loads;
    all += stores;
    if let Some(spread) = spread(&all) {
        return said(what, Some(spread));
    }
    let wider = match loads.width {
        width @ 1..WIDEST => format!("more bytes per thread (it loads {width} at once, and can {WIDEST})"),
        _ => "more loads per thread before the first is used".to_owned(),
    };
    let more = account.warps.resident < 0.75 * f64::from(account.warps.most);
    let resident = account.warps.resident.round();
    let warps = format!(" or more warps (an SM has {resident} of {})", account.warps.most);
    said(what, Some(if more { wider + &warps } else { wider }))
}

fn instructions(account: &Account, share: &str, at: &str) -> Bounded {
    let own = account.share(State::Wait) + account.share(State::BranchResolving);
    let issued = account.busy.get(&Busy::Issue).copied().unwrap_or_default();
    let what = format!("instructions {share}{at}: schedulers issue {} of the time", percent(issued));
    let others =
        account.share(State::Selected) + account.share(State::NotSelected) + account.share(State::MathPipeThrottle);
    said(
        what,
        Some(match own > others {
            true => {
                "each instruction waits for the one before: more warps, or more independent work per thread".to_owned()
            }
            false => "fewer instructions".to_owned(),
        }),
    )
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn bytes(count: u32) -> String {
    format!("{count} bytes")
}

/// With a digit behind the point where there is none before it.
fn kib(bytes: f64) -> String {
    let kib = bytes / 1024.0;
    if kib < 9.95 { format!("{kib:.1}") } else { format!("{kib:.0}") }
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::account::{Flight, Line, Warps};

    use super::*;

    fn account(state: State, change: impl FnOnce(&mut Account)) -> String {
        let mut account = Account {
            states: [(state, 0.71), (State::Selected, 0.1)].into(),
            flight: Flight { bytes: 12.0 * 1024.0, needed: 26.2 * 1024.0 },
            warps: Warps { resident: 60.0, fit: 64, most: 64 },
            lines: vec![Line {
                loads: Accesses { requests: 10.0, sectors: 40.0, bytes: 1280.0, width: 4 },
                ..Line::default()
            }],
            ..Account::default()
        };
        change(&mut account);
        bound(&account, "Emulated H200").to_string()
    }

    #[test]
    fn waiting_for_memory_says_how_much_is_in_flight() {
        let waits = |change: fn(&mut Account)| account(State::LongScoreboard, change);
        let what = "waiting for memory 71%: 12 KiB in flight per SM, the H200 needs about 26";
        let wider = "; more bytes per thread (it loads 4 at once, and can 16)";
        assert_eq!(waits(|_| ()), format!("{what}{wider}"));
        let few = waits(|it| it.warps.resident = 30.0);
        assert_eq!(few, format!("{what}{wider} or more warps (an SM has 30 of 64)"));
        let wide = waits(|it| it.lines[0].loads.width = 16);
        assert_eq!(wide, format!("{what}; more loads per thread before the first is used"));
        // Enough is in flight: no advice follows.
        let enough = waits(|it| it.flight.bytes = it.flight.needed);
        assert_eq!(enough, "waiting for memory 71%: 26 KiB in flight per SM, the H200 needs about 26");
        let strided = waits(|it| it.lines[0].loads.sectors = 320.0);
        assert!(strided.contains("8.0 bytes are moved for each that is asked for, 32 sectors a request"), "{strided}");
    }

    #[test]
    fn what_is_always_at_work_comes_first() {
        let busy = |unit| account(State::LongScoreboard, |it| it.busy = [(unit, 0.93)].into());
        let dram = "memory's bandwidth, which is used 93%; only fewer bytes make it faster";
        assert_eq!(busy(Busy::Dram), dram);
        assert_eq!(busy(Busy::Issue), "instructions: schedulers issue 93% of the time; fewer instructions");
        assert_eq!(
            busy(Busy::Lsu),
            "the unit for loads and stores, which is at work 93%; 16 bytes a thread at once in place of 4"
        );
    }

    #[test]
    fn advice_follows_from_the_account_only() {
        let barrier = account(State::Barrier, |it| it.warps.fit = 32);
        assert!(barrier.starts_with("waiting at barriers 71%; fewer barriers") && barrier.ends_with("32 of 64 warps"));
        assert_eq!(account(State::Barrier, |_| ()), "waiting at barriers 71%");
        let waits = account(State::Wait, |_| ());
        assert!(waits.contains("each instruction waits for the one before"), "{waits}");
        let launch = account(State::Wait, |it| it.overhead = 0.8);
        assert_eq!(launch, "launching 80%, which a launch costs whatever its blocks do");
    }
}
