//! Landlock's rules: files and TCP ports.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope,
};

use super::{Policy, Ports};

/// The newest version whose rights were looked at one by one. A newer one may take away what Node.js
/// needs.
const NEWEST: u8 = 9;

/// The reason why there are no rules.
#[derive(Debug, thiserror::Error)]
pub(super) enum LandlockError {
    #[error("Landlock's rules cannot be made: {0}")]
    Rules(#[from] RulesetError),
}

/// Rules that are ready to be applied: all that they name is open.
pub(super) struct Rules {
    rules: RulesetCreated,
    newest: u8,
}

/// Opens all that the policy names; `None` where no version of Landlock is wanted.
pub(super) fn prepare(policy: &Policy) -> Result<Option<Rules>, LandlockError> {
    let newest = policy.newest_landlock.unwrap_or(NEWEST).min(NEWEST);
    if newest == 0 {
        return Ok(None);
    }
    let abi = ABI::from(i32::from(newest));
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    rules = rules.handle_access(AccessFs::from_all(abi))?;
    if newest >= 4 {
        rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    if newest >= 6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    let mut rules = rules.create()?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    for path in &policy.execute {
        rules = open(rules, path, AccessFs::ReadFile | AccessFs::Execute, abi)?;
    }
    for path in policy.read.iter().filter(|path| path.exists()) {
        rules = open(rules, path, read, abi)?;
    }
    for path in &policy.devices {
        rules = open(rules, path, AccessFs::ReadFile | AccessFs::WriteFile, abi)?;
    }
    if let Some(own) = &policy.own {
        rules = open(rules, own, own_folder(), abi)?;
    }
    if newest >= 4 {
        let each = |ports: &Ports| ports.0..=ports.1;
        for port in policy.connect.iter().flat_map(each) {
            rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
    }
    Ok(Some(Rules { rules, newest }))
}

impl Rules {
    /// Applies the rules to this thread, and returns the version that is in force.
    pub(super) fn apply(self) -> Result<u8, LandlockError> {
        let status = self.rules.restrict_self()?;
        Ok(match status.ruleset {
            RulesetStatus::NotEnforced => 0,
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => {
                self.newest.min(ABI::from(status.landlock) as u8)
            }
        })
    }
}

/// Returns the rights for the process's own folder. Links, pipes, sockets and devices cannot be made
/// in it: programs that are not confined open what is in the folder.
fn own_folder() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::RemoveDir
        | AccessFs::RemoveFile
        | AccessFs::MakeDir
        | AccessFs::MakeReg
        | AccessFs::Refer
}

fn open(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<RulesetCreated, LandlockError> {
    let known = if path.is_dir() { AccessFs::from_all(abi) } else { AccessFs::from_file(abi) };
    // What cannot be opened here stays closed to the code, which is no reason to leave the rest open.
    let Ok(path) = PathFd::new(path) else { return Ok(rules) };
    Ok(rules.add_rule(PathBeneath::new(path, access & known))?)
}
