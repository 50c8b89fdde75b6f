//! When abide itself is in trouble: what each client makes of a hook that crashes, hangs or is gone.
//!
//! abide answers within its own bounds, so these come about only when it is broken, stopped or taken away.

use crate::attempt::Attempt;
use crate::seat::Seat;
use crate::stage::Stage;

/// What happens to the hook, call by call; the last one is what the last but one leaves.
const TROUBLES: [&str; 7] = [
    "exits with 1",
    "is killed",
    "says nothing of a denial but its code",
    "prints half an answer",
    "takes too long",
    "goes away",
    "is not there",
];

/// Stands in for an abide that is broken: it fails in another way each time that it is asked about a tool.
fn stand_in(version: &str) -> String {
    format!(
        "#!/bin/sh
[ \"$1\" = --version ] && echo '{version}' && exit 0
[ \"$3\" = PreToolUse ] || exit 0
here=$(dirname \"$0\")
echo x >> \"$here/asked\"
case $(wc -l < \"$here/asked\") in
1) exit 1 ;;
2) kill -9 $$ ;;
3) exit 2 ;;
4) printf '{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreTool' ;;
5) sleep 14 ;;
6) rm \"$0\"; exit 2 ;;
esac
"
    )
}

async fn a_tool_is_not_used_because_the_gate_is_in_trouble<C: Seat>(client: C) {
    let stage = Stage::bare(client);
    // A copy of its own, which is broken once it is installed.
    let program = stage.home().join("bin/abide");
    std::fs::remove_file(&program).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_abide"), &program).unwrap();
    stage.install();
    let version = String::from_utf8(stage.abide(&["--version"]).stdout).unwrap();
    std::fs::write(&program, stand_in(version.trim())).unwrap();
    let attempts: Vec<Attempt> = TROUBLES
        .iter()
        .enumerate()
        .map(|(number, name)| Attempt::new(*name, stage.client.shell(&format!("touch ran-{number}")), &[""]))
        .collect();
    let told = stage.tries(&attempts).await;
    let ran: Vec<&str> = (0..TROUBLES.len())
        .filter(|number| stage.path(&format!("ran-{number}")).exists())
        .map(|number| TROUBLES[number])
        .collect();
    let mut open = Vec::new();
    open.extend(C::SILENT_HOOK_IS_OPEN.then_some(TROUBLES[2]));
    open.extend(C::GARBLED_HOOK_IS_OPEN.then_some(TROUBLES[3]));
    open.extend(C::SLOW_HOOK_IS_OPEN.then_some(TROUBLES[4]));
    assert_eq!(ran, open, "{told:#?}");
}

crate::in_each_client! { a_tool_is_not_used_because_the_gate_is_in_trouble }
