//! The filter for system calls: what Landlock does not cover.
//!
//! It allows what it does not name. Node.js and V8 use other calls with every version, and a list of
//! all that are allowed would break with the next one; so it names what reaches other processes,
//! other files' modes, other protocols and the kernel's rarely used parts. Calls that are newer than
//! the list are not there at all.

use std::collections::BTreeMap;

use libc::{EAFNOSUPPORT, ENOSYS, EPERM};
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

mod calls;

use calls::{ARCHITECTURE, NEWEST, NOT_PERMITTED, NOT_THERE};

/// One rule: a call is refused if all conditions hold; without conditions, it is always refused.
type Refused = (i64, &'static [Condition]);

/// The number of an argument, how much of it is looked at, and for what.
type Condition = (u8, SeccompCmpArgLen, SeccompCmpOp, u64);

/// The calls that reach other processes or users by an argument.
const BY_ARGUMENT: &[Refused] = &[
    // Threads only (CLONE_THREAD), and no namespaces.
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x1_0000), 0)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x80), 0x80)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x2_0000), 0x2_0000)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x200_0000), 0x200_0000)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x400_0000), 0x400_0000)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x800_0000), 0x800_0000)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x1000_0000), 0x1000_0000)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x2000_0000), 0x2000_0000)]),
    (libc::SYS_clone, &[(0, Dword, MaskedEq(0x4000_0000), 0x4000_0000)]),
    // The descriptor form is needed by `copyFile`; the path form reaches files that cannot be opened.
    (libc::SYS_utimensat, &[(1, Qword, Ne, 0)]),
    // MSG_FASTOPEN connects without connect(), which is what Landlock looks at.
    (libc::SYS_sendto, &[(3, Dword, MaskedEq(0x2000_0000), 0x2000_0000)]),
    (libc::SYS_sendmsg, &[(2, Dword, MaskedEq(0x2000_0000), 0x2000_0000)]),
    (libc::SYS_sendmmsg, &[(3, Dword, MaskedEq(0x2000_0000), 0x2000_0000)]),
    // TCP_ULP makes another protocol's socket of a TCP one.
    (libc::SYS_setsockopt, &[(1, Dword, Eq, 6), (2, Dword, Eq, 31)]),
    // F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to others.
    (libc::SYS_fcntl, &[(1, Dword, Eq, 8)]),
    (libc::SYS_fcntl, &[(1, Dword, Eq, 10)]),
    (libc::SYS_fcntl, &[(1, Dword, Eq, 15)]),
    // TIOCSTI and TIOCLINUX type at terminals, FIOSETOWN and SIOCSPGRP are as F_SETOWN.
    (libc::SYS_ioctl, &[(1, Dword, Eq, 0x5412)]),
    (libc::SYS_ioctl, &[(1, Dword, Eq, 0x541C)]),
    (libc::SYS_ioctl, &[(1, Dword, Eq, 0x8901)]),
    (libc::SYS_ioctl, &[(1, Dword, Eq, 0x8902)]),
    // PR_SET_DUMPABLE hides descriptors from the relay, PR_SET_PTRACER lets others trace.
    (libc::SYS_prctl, &[(0, Dword, Eq, 4)]),
    (libc::SYS_prctl, &[(0, Dword, Eq, 0x5961_6d61)]),
];

/// The rules for sockets leave IPv4 and IPv6 with TCP and UDP: names are looked up without the
/// others.
const SOCKETS: &[Refused] = &[
    (libc::SYS_socket, &[(0, Dword, Ne, 2), (0, Dword, Ne, 10)]),
    (libc::SYS_socket, &[(1, Dword, MaskedEq(0xf), 1), (2, Dword, Ne, 0), (2, Dword, Ne, 6)]),
    (libc::SYS_socket, &[(1, Dword, MaskedEq(0xf), 2), (2, Dword, Ne, 0), (2, Dword, Ne, 17)]),
];

const NO_DATAGRAMS: Refused = (libc::SYS_socket, &[(1, Dword, MaskedEq(0xf), 2)]);

/// Applies the filters to this thread. They last through `execve`.
///
/// # Errors
///
/// Says why there are none.
pub(super) fn apply(datagrams: bool) -> Result<(), String> {
    let failed = |error: seccompiler::Error| format!("system calls cannot be filtered: {error}");
    let programs = programs(datagrams, std::process::id())
        .map_err(|error| format!("the filter for system calls cannot be made: {error}"))?;
    programs.iter().try_for_each(|program| apply_filter(program).map_err(failed))
}

/// Builds one program for each answer; if several refuse a call, the last gives the answer.
fn programs(datagrams: bool, process: u32) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let always = |calls: &[i64]| calls.iter().map(|call| (*call, Vec::new())).collect::<Vec<_>>();
    let mut not_permitted = always(NOT_PERMITTED);
    let by_argument = BY_ARGUMENT.iter().map(|(call, conditions)| (*call, conditions.to_vec()));
    not_permitted.extend(by_argument);
    not_permitted.extend(of_others(process.into()));
    let mut sockets: Vec<_> = SOCKETS.iter().map(|(call, it)| (*call, it.to_vec())).collect();
    // There are only a few other kinds (raw, packet, sequenced).
    let other_kinds = (0..16).filter(|kind| ![1, 2].contains(kind));
    sockets
        .extend(other_kinds.map(|kind| (libc::SYS_socket, vec![(1, Dword, MaskedEq(0xf), kind)])));
    if !datagrams {
        sockets.push((NO_DATAGRAMS.0, NO_DATAGRAMS.1.to_vec()));
    }
    Ok(vec![
        unknown(),
        compile(always(NOT_THERE), ENOSYS)?,
        compile(sockets, EAFNOSUPPORT)?,
        compile(not_permitted, EPERM)?,
    ])
}

/// Signals and limits are for this process only.
fn of_others(process: u64) -> Vec<(i64, Vec<Condition>)> {
    let signals = [libc::SYS_kill, libc::SYS_tgkill];
    let limits = [libc::SYS_prlimit64, libc::SYS_sched_setaffinity];
    let signals = signals.map(|call| (call, vec![(0, Dword, Ne, process)]));
    let limits = limits.map(|call| (call, vec![(0, Dword, Ne, process), (0, Dword, Ne, 0)]));
    signals.into_iter().chain(limits).collect()
}

fn compile(
    refused: Vec<(i64, Vec<Condition>)>,
    errno: i32,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, conditions) in refused {
        let of_call = rules.entry(call).or_default();
        if conditions.is_empty() {
            continue;
        }
        let conditions = conditions.into_iter().map(|(argument, length, operator, value)| {
            SeccompCondition::new(argument, length, operator, value)
        });
        of_call.push(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?);
    }
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture)?.try_into()
}

/// Ends processes that call as another architecture does, where numbers mean other calls, and knows
/// no numbers that are newer than the lists, which those of x32 are, too.
fn unknown() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    const KILL_PROCESS: u32 = 0x8000_0000;
    const ERRNO: u32 = 0x0005_0000;
    const ALLOW: u32 = 0x7fff_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, 4),
        step(IF_EQUAL, 1, 0, ARCHITECTURE),
        step(RETURN, 0, 0, KILL_PROCESS),
        step(LOAD, 0, 0, 0),
        step(IF_GREATER, 0, 1, NEWEST),
        step(RETURN, 0, 0, ERRNO | ENOSYS.unsigned_abs()),
        step(RETURN, 0, 0, ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_can_be_made_and_are_short() {
        for datagrams in [false, true] {
            let programs = programs(datagrams, 7).unwrap();
            let length: usize = programs.iter().map(Vec::len).sum();
            // The kernel takes 4096 steps in one, and looks at each for calls with arguments.
            assert!((100..2000).contains(&length), "{length}");
        }
    }
}
