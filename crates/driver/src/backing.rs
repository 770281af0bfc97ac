//! How much memory the host can give. Linux promises more than it has, and ends the process that takes it at its word; where a system
//! refuses at once what it cannot give, nothing need be known.

/// What is left for the program itself and for what the checks remember.
const KEPT: u64 = 16;

/// Bytes that allocations may take in all; `None` where the system itself refuses.
pub(crate) fn available() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let meminfo = of_meminfo(&read("/proc/meminfo")?)?;
    // What a container may have: cgroups of version 2, and of version 1.
    let groups = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    let left = groups.into_iter().filter_map(|(most, used)| left(&read(most)?, &read(used)?));
    let available = left.fold(meminfo, u64::min);
    Some(available - available / KEPT)
}

/// `MemAvailable` and `SwapFree`, which are in KiB.
fn of_meminfo(text: &str) -> Option<u64> {
    let field = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(field("MemAvailable")?.saturating_add(field("SwapFree").unwrap_or(0)))
}

/// What is left of a limit, which may be `max`.
fn left(most: &str, used: &str) -> Option<u64> {
    let (most, used) = (most.trim().parse::<u64>().ok()?, used.trim().parse::<u64>().ok()?);
    // What was read of files counts as used, and is given back when it is needed: a sixteenth is left at the least.
    Some(most.saturating_sub(used).max(most / 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        let text = "MemTotal:       16000 kB\nMemAvailable:    8000 kB\nSwapFree:          24 kB\n";
        assert_eq!(of_meminfo(text), Some(8024 << 10));
        assert_eq!(of_meminfo("MemFree: 1 kB\n"), None);
        assert_eq!(
            (left("max\n", "5\n"), left("3200\n", "1200\n"), left("3200", "3300")),
            (None, Some(2000), Some(200))
        );
    }
}
