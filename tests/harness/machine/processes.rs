//! Processes: their end, and the memory that they take.

/// Kills a process.
pub(crate) fn kill(pid: u32) {
    // It may have ended by itself.
    drop(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status());
}

/// Returns the memory that a process has, in MiB.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nobody has that much memory")]
pub fn resident_memory(process: u32) -> f64 {
    memory(process, "VmRSS:") as f64 / 1024.0
}

/// Returns a figure of the system about a process's memory, in KiB.
pub(crate) fn memory(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("the system tells about processes");
    let told = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes = told.and_then(|told| told.trim().strip_suffix(" kB"));
    kilobytes.and_then(|number| number.parse().ok()).expect("it has memory")
}
