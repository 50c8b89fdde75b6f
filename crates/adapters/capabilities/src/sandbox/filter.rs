//! Which system calls are refused inside: those that change the walls, and those that have broken them before.
//!
//! What is not here is held by the namespaces and limits alone; the filter takes away the parts of the kernel that
//! ordinary programs never need.

use seccompiler::{
    BackendError as Error, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};
use std::collections::BTreeMap;

/// Calls that fail whatever their arguments are.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Memory that no limit counts.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_semget,
    libc::SYS_mq_open,
    // A page in a pipe keeps a large page as a whole.
    libc::SYS_vmsplice,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_personality,
    libc::SYS_vhangup,
];

/// The flags of `clone` that make a namespace.
const NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// The first number of a second table of the same calls, for programs with 32-bit pointers on `x86_64`; a filter sees
/// other numbers there. No other architecture has numbers that high.
const SECOND_TABLE: u32 = 0x4000_0000;

/// Returns the filters as the kernel reads them; all of them hold.
pub(super) fn programs() -> Result<[Vec<u8>; 3], String> {
    let failed = |error| format!("the filter of system calls: {error}");
    Ok([bytes(&refused().map_err(failed)?), bytes(&missing().map_err(failed)?), bytes(&second_table())])
}

fn bytes(program: &BpfProgram) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for step in program {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    bytes
}

fn refused() -> Result<BpfProgram, Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let mut flags = Vec::new();
    for bit in (0..64).map(|shift| 1_u64 << shift).filter(|bit| NAMESPACES & bit != 0) {
        let set = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit)?;
        flags.push(SeccompRule::new(vec![set])?);
    }
    rules.insert(libc::SYS_clone, flags);
    // Only sockets between processes of the sandbox; there is no network that others could reach.
    let unix = number(libc::AF_UNIX);
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, unix)?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![other])?]);
    // Buffers of the kernel that no limit counts stay at their usual size.
    let socket =
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number(libc::SOL_SOCKET))?;
    let mut buffers = Vec::new();
    for option in [libc::SO_SNDBUF, libc::SO_RCVBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE] {
        let size = SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number(option))?;
        buffers.push(SeccompRule::new(vec![socket.clone(), size])?);
    }
    rules.insert(libc::SYS_setsockopt, buffers);
    let pipe =
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number(libc::F_SETPIPE_SZ))?;
    rules.insert(libc::SYS_fcntl, vec![SeccompRule::new(vec![pipe])?]);
    program(rules, libc::EPERM)
}

fn number(constant: i32) -> u64 {
    u64::from(constant.unsigned_abs())
}

/// Refuses every call of the second table: load the number, compare, refuse or allow.
fn second_table() -> BpfProgram {
    let step = |code: u32, jt, jf, k| sock_filter { code: u16::try_from(code).unwrap_or(0), jt, jf, k };
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, SECOND_TABLE),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// `clone3` hides its flags in memory, where a filter cannot look; programs fall back to `clone` where it is missing.
fn missing() -> Result<BpfProgram, Error> {
    program(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<BpfProgram, Error> {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()
}
