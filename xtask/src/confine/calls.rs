//! Which system calls there are, by seccomp.
//!
//! The submission's own program has a short list of calls, and gets "not permitted" for each of the others: it starts no
//! process, opens no socket, changes no file's owner or mode, traces and signals nothing but itself. Compiler and worker
//! are programs of ours that are given strange input. They lose what would be of use to somebody who breaks into them.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::Who;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Why it cannot be done on this machine.
pub(super) fn unavailable() -> Option<String> {
    let known = TargetArch::try_from(std::env::consts::ARCH).is_ok();
    let seccomp = std::path::Path::new("/proc/sys/kernel/seccomp").exists();
    (!known || !seccomp).then(|| "the system has no seccomp for this processor".to_owned())
}

pub(super) fn restrict(who: Who) -> Result<(), Error> {
    let not_permitted = SeccompAction::Errno(libc::EPERM as u32);
    match who {
        Who::Submission => {
            // Its flags are behind a pointer, where no filter can look: as if the system did not have it, so that threads are
            // started by the older call. First, because the list below has no call that installs another.
            let newer = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
            install(newer, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))?;
            install(submission()?, not_permitted, SeccompAction::Allow)
        }
        Who::Compiler | Who::Worker => install(refused(), SeccompAction::Allow, not_permitted),
    }
}

fn install(rules: Rules, others: SeccompAction, these: SeccompAction) -> Result<(), Error> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let program: BpfProgram = SeccompFilter::new(rules, others, these, architecture)?.try_into()?;
    apply_filter(&program)
}

/// Where an argument of a call is this value, of the bits that the mask keeps.
fn argument(index: u8, mask: u64, value: u64) -> Result<Vec<SeccompRule>, Error> {
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)?;
    Ok(vec![SeccompRule::new(vec![condition])?])
}

/// Where it is one of these.
fn one_of<const N: usize>(index: u8, mask: u64, values: [u64; N]) -> Result<Vec<SeccompRule>, Error> {
    let rules: Result<Vec<_>, Error> = values.into_iter().map(|value| argument(index, mask, value)).collect();
    Ok(rules?.concat())
}

/// What the submission's program may call.
fn submission() -> Result<Rules, Error> {
    use libc::*;
    let mut rules: Rules = ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    const NUMBER: u64 = 0xffff_ffff;
    let own = u64::from(std::process::id());
    // Threads, and no processes.
    rules.insert(SYS_clone, argument(0, CLONE_THREAD as u64, CLONE_THREAD as u64)?);
    // Signals to itself. It keeps its number when it becomes the program.
    rules.insert(SYS_tgkill, argument(0, NUMBER, own)?);
    rules.insert(SYS_kill, argument(0, NUMBER, own)?);
    // Looking at limits, not setting them.
    rules.insert(SYS_prlimit64, argument(2, u64::MAX, 0)?);
    // What is open, but not who is told by a signal that something has come: that may be any process of the user.
    let commands = [F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL];
    rules.insert(SYS_fcntl, one_of(1, NUMBER, commands.map(|command| command as u64))?);
    // Nor what a terminal is told that somebody has typed.
    #[allow(clippy::unnecessary_cast, reason = "another C library has them as signed numbers")]
    let requests = [TCGETS as u64, FIONBIO as u64, FIONREAD as u64, FIOCLEX as u64];
    rules.insert(SYS_ioctl, one_of(1, NUMBER, requests)?);
    // Memory that is private, and so counted, or a file's.
    let private = argument(3, MAP_SHARED as u64, 0)?;
    rules.insert(SYS_mmap, [private, argument(3, MAP_ANONYMOUS as u64, 0)?].concat());
    let names = [PR_SET_NAME, PR_GET_NAME, PR_SET_VMA];
    rules.insert(SYS_prctl, one_of(0, NUMBER, names.map(|name| name as u64))?);
    Ok(rules)
}

const ALLOWED: &[i64] = {
    use libc::*;
    &[
        // Files and what is open.
        SYS_read,
        SYS_write,
        SYS_readv,
        SYS_writev,
        SYS_pread64,
        SYS_pwrite64,
        SYS_openat,
        SYS_openat2,
        SYS_close,
        SYS_close_range,
        SYS_fstat,
        SYS_newfstatat,
        SYS_statx,
        SYS_lseek,
        SYS_dup,
        SYS_dup3,
        SYS_faccessat,
        SYS_faccessat2,
        SYS_readlinkat,
        SYS_getcwd,
        SYS_getdents64,
        SYS_pipe2,
        SYS_ppoll,
        SYS_pselect6,
        SYS_eventfd2,
        SYS_epoll_create1,
        SYS_epoll_ctl,
        SYS_epoll_pwait,
        SYS_getpeername,
        SYS_getsockname,
        SYS_getsockopt,
        SYS_recvfrom,
        SYS_sendto,
        SYS_shutdown,
        // Memory.
        SYS_mprotect,
        SYS_munmap,
        SYS_mremap,
        SYS_madvise,
        SYS_brk,
        SYS_membarrier,
        // Threads, time and signals of its own.
        SYS_futex,
        SYS_set_robust_list,
        SYS_get_robust_list,
        SYS_set_tid_address,
        SYS_rseq,
        SYS_clone3,
        SYS_sched_yield,
        SYS_sched_getaffinity,
        SYS_getcpu,
        SYS_nanosleep,
        SYS_clock_nanosleep,
        SYS_clock_gettime,
        SYS_clock_getres,
        SYS_gettimeofday,
        SYS_restart_syscall,
        SYS_rt_sigaction,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_sigaltstack,
        // What it is, and where.
        SYS_getpid,
        SYS_getppid,
        SYS_gettid,
        SYS_getuid,
        SYS_geteuid,
        SYS_getgid,
        SYS_getegid,
        SYS_getrandom,
        SYS_getrusage,
        SYS_sysinfo,
        SYS_uname,
        // Becoming the program, and ending.
        SYS_execve,
        SYS_exit,
        SYS_exit_group,
        #[cfg(target_arch = "x86_64")]
        SYS_arch_prctl,
        #[cfg(target_arch = "x86_64")]
        SYS_open,
        #[cfg(target_arch = "x86_64")]
        SYS_stat,
        #[cfg(target_arch = "x86_64")]
        SYS_lstat,
        #[cfg(target_arch = "x86_64")]
        SYS_access,
        #[cfg(target_arch = "x86_64")]
        SYS_readlink,
        #[cfg(target_arch = "x86_64")]
        SYS_dup2,
        #[cfg(target_arch = "x86_64")]
        SYS_poll,
        #[cfg(target_arch = "x86_64")]
        SYS_select,
        #[cfg(target_arch = "x86_64")]
        SYS_time,
        #[cfg(target_arch = "x86_64")]
        SYS_getrlimit,
    ]
};

/// What compiler and worker may not call.
fn refused() -> Rules {
    use libc::*;
    let calls = [
        // The network, and calls that go around this list.
        SYS_socket,
        SYS_io_uring_setup,
        // Other processes.
        SYS_ptrace,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_pidfd_open,
        SYS_setsid,
        // What outlives a process.
        SYS_shmget,
        SYS_msgget,
        SYS_semget,
        SYS_mq_open,
        SYS_add_key,
        SYS_request_key,
        SYS_keyctl,
        // The system.
        SYS_mount,
        SYS_umount2,
        SYS_pivot_root,
        SYS_chroot,
        SYS_unshare,
        SYS_setns,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_userfaultfd,
        SYS_open_by_handle_at,
        SYS_init_module,
        SYS_finit_module,
        SYS_delete_module,
        SYS_kexec_load,
        SYS_reboot,
        SYS_swapon,
        SYS_swapoff,
        SYS_settimeofday,
        SYS_clock_settime,
        SYS_clock_adjtime,
        SYS_adjtimex,
        SYS_sethostname,
        SYS_setdomainname,
        SYS_mknodat,
    ];
    calls.into_iter().map(|call| (call, Vec::new())).collect()
}
