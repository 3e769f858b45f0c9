//! Native code of agents where the kernel has no rules for TCP ports.

use std::ffi::OsString;

use end_to_end::{RelayProgram, compile, own_user, show_figure};

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[attack!(
    Agent,
    "connects to the relay's own port where the kernel has no rules for ports, and asks it something as a program of the user's would",
    "refused: the relay looks up which connections its sandboxes have",
    without_rules_for_ports_the_relay_refuses_its_sandboxes
)];

#[tokio::test]
async fn without_rules_for_ports_the_relay_refuses_its_sandboxes() {
    if !cfg!(target_arch = "x86_64") {
        show_figure("kernels without Landlock", "not tried: the probe needs x86-64");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    compile("native_code/probe.c", &folder.path().join("node"));
    let older = folder.path().join("older");
    compile("older_kernels/without_landlock.c", &older);
    let mut path = OsString::from("PATH=");
    path.push(folder.path());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let through = ["env", path.to_str().unwrap(), older.to_str().unwrap()];
    let relay = RelayProgram::start_through(&through, own_user(), &[]).await;
    let _tab = relay.raw_tab().await;
    let (_, said, stderr) = relay.run(&["status"]).await;
    assert!(said.contains("needs Landlock"), "{said} {stderr}");
    let code = format!("try=ask;port={};", relay.port());
    let (code, stdout, stderr) = relay.run(&["-e", &code]).await;
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    let tried = |line: &str| stdout.lines().any(|it| it == line);
    assert!(tried("connect to the relay done"), "{stdout}");
    assert!(tried("ask the relay EACCES"), "{stdout}");
    assert!(tried("ask the relay again EACCES"), "{stdout}");
}
