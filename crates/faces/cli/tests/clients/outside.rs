//! Without a run: what an ability protects, and what keeps it protected.

use crate::attempt::{Attempt, tells_of};
use crate::delegate::delegating;
use crate::doors::doors;
use crate::seat::{Seat, renamed};
use crate::stage::{ABILITY, SCRIPT, Stage};
use abide_testkit::model::{ModelServer, Script, ToolCall, Turn};
use serde_json::{Value, json};

const RESERVED: &[&str] = &["reserved for runs of the ability `deploy`"];
const PROTECTION: &[&str] = &["which is the definition of an ability that protects something"];
const SETTINGS: &[&str] = &["which is the settings that put the gate in place"];
const STATE: &[&str] = &["which is abide's own state"];
const A_HUMANS: &[&str] = &["is a human's to call"];

async fn what_is_not_protected_goes_through(client: impl Seat) {
    let stage = Stage::new(client);
    let attempts = [
        Attempt::new("read", stage.client.read(&stage.path("notes.txt")), &["the heron is grey"]),
        Attempt::new("shell", stage.client.shell("echo hi > made; echo made it"), &["made it"]),
        Attempt::new("write", stage.client.write(&stage.path("written"), "yes\n"), &["uccess"]),
    ];
    stage.tries(&attempts).await;
    assert_eq!(stage.read("made").as_deref(), Some("hi\n"));
    assert_eq!(stage.read("written").as_deref().map(str::trim), Some("yes"));
}

async fn a_protected_command_is_denied_by_every_door(client: impl Seat) {
    let stage = Stage::new(client);
    let doors = doors(&stage);
    let attempts: Vec<Attempt> = doors
        .iter()
        .map(|(name, command)| Attempt::new(*name, stage.client.shell(command), RESERVED))
        .collect();
    stage.tries(&attempts).await;
    assert_eq!(stage.deployed(), [""; 0]);
}

async fn what_keeps_the_protection_is_not_the_agents_to_change<C: Seat>(client: C) {
    let stage = Stage::new(client);
    let files = [ABILITY, SCRIPT, C::HOOKS];
    let before = files.map(|file| stage.read(file).unwrap());
    let shell =
        |name: &'static str, command: String, told| Attempt::new(name, stage.client.shell(&command), told);
    let write = |name: &'static str, file: &str, told| {
        Attempt::new(name, stage.client.write(&stage.path(file), "x\n"), told)
    };
    let kept = stage.home().join(".local/state/abide");
    let patch = format!("*** Begin Patch\n*** Add File: {ABILITY}\n+x\n*** End Patch");
    let binary = stage.home().join("bin/abide");
    let attempts = [
        write("write the ability", ABILITY, PROTECTION),
        write("write its script", SCRIPT, PROTECTION),
        write("write the client's hooks", C::HOOKS, SETTINGS),
        shell("remove the ability", format!("rm -rf {ABILITY}"), PROTECTION),
        shell("remove what it is in", "rm -rf .abide".into(), PROTECTION),
        shell("edit the ability", format!("sed -i s/protects/x/ {ABILITY}"), PROTECTION),
        shell("rename the ability", "mv .abide/abilities/deploy .abide/abilities/other".into(), PROTECTION),
        shell("patch the ability", format!("apply_patch <<'EOF'\n{patch}\nEOF"), PROTECTION),
        shell("redirect into its script", format!("cd src && echo x > ../{SCRIPT}"), PROTECTION),
        shell("remove the hooks", format!("rm {}", C::HOOKS), SETTINGS),
        shell("empty the hooks", format!(": > {}", C::HOOKS), SETTINGS),
        shell("remove the state", format!("rm -rf {}", kept.display()), STATE),
        shell("write into the state", format!("echo x > {}/gate/sessions/x.run", kept.display()), STATE),
        shell("approve", "abide approve 0192f0c1".into(), A_HUMANS),
        shell("approve by a path", format!("{} approve 0192f0c1", binary.display()), A_HUMANS),
        shell("approve in a shell", "sh -c 'yes | env A=1 abide approve 0192f0c1'".into(), A_HUMANS),
        shell("cancel", "abide cancel 0192f0c1".into(), A_HUMANS),
        shell("uninstall", format!("abide uninstall {}", C::NAME), A_HUMANS),
        shell("answer a hook", format!("echo '{{}}' | abide hook {}", C::NAME), A_HUMANS),
    ];
    stage.tries(&attempts).await;
    assert_eq!(files.map(|file| stage.read(file).unwrap()), before);
    assert!(kept.join("gate").is_dir());
}

async fn a_strange_call_of_a_shell_does_not_run_it<C: Seat>(client: C) {
    let stage = Stage::new(client);
    let plain = stage.client.shell("./deploy.sh now");
    let refused: &[&str] = &["reserved for runs of the ability `deploy`", C::NO_TOOL[0], C::NO_TOOL[1]];
    let with = |change: &dyn Fn(&mut Value)| {
        let mut call = plain.clone();
        change(&mut call.arguments);
        call
    };
    let key = if plain.arguments["cmd"].is_string() { "cmd" } else { "command" };
    let long = format!("./deploy.sh {}", "x".repeat(200_000));
    let mut attempts = vec![
        ("a tool that nobody has", renamed(&plain, "deploy")),
        (
            "a tool that nobody has, with a command",
            ToolCall::new("run_shell", json!({"command": "./deploy.sh now"})),
        ),
        ("a command of two hundred kilobytes", stage.client.shell(&long)),
        ("a command that is a number", with(&|arguments| arguments[key] = json!(7))),
        ("a command that is a list", with(&|arguments| arguments[key] = json!(["./deploy.sh", "now"]))),
        ("two commands", with(&|arguments| arguments["script"] = json!("ls"))),
        ("a command with a NUL", stage.client.shell("./deploy.sh now\0")),
        ("no command", with(&|arguments| *arguments = json!({}))),
    ];
    attempts.extend(C::OTHER_SPELLINGS.iter().map(|name| ("another spelling", renamed(&plain, name))));
    let attempts: Vec<Attempt> = attempts
        .into_iter()
        .map(|(name, call)| Attempt::one_of(format!("{name} ({})", call.name), call, refused.to_vec()))
        .collect();
    stage.tries(&attempts).await;
    assert_eq!(stage.deployed(), [""; 0]);
}

async fn of_parallel_calls_each_is_judged(client: impl Seat) {
    let stage = Stage::new(client);
    let shell = |command: &str| stage.client.shell(command);
    let calls = [
        shell("echo one > one"),
        shell("./deploy.sh now"),
        stage.client.read(&stage.path("notes.txt")),
        shell("sh -c './deploy.sh now'"),
        stage.client.write(&stage.path(ABILITY), "x\n"),
        shell("echo two > two"),
    ];
    let server = ModelServer::start(vec![Turn::calls(calls), Turn::text("done")]).unwrap();
    let outcome = stage.run(stage.launch("do it all at once", &server)).await;
    let turns = server.turns();
    let told: Vec<&str> = turns[1].new_results().iter().map(|result| result.text.as_str()).collect();
    assert_eq!(told.len(), 6, "{outcome:#?}");
    let denied: Vec<bool> = told.iter().map(|text| tells_of(text, &[RESERVED[0], PROTECTION[0]])).collect();
    assert_eq!(denied.iter().filter(|denied| **denied).count(), 3, "{told:#?}");
    assert_eq!((stage.read("one").as_deref(), stage.read("two").as_deref()), (Some("one\n"), Some("two\n")));
    assert!(stage.read(ABILITY).unwrap().starts_with("description"));
    assert_eq!(stage.deployed(), [""; 0]);
}

async fn a_sub_agent_is_held_as_its_parent_is(client: impl Seat) {
    let stage = Stage::new(client);
    let (script, _) =
        delegating(&stage.client, &["./deploy.sh now", "env ./deploy.sh now", "echo hi > made"]);
    let server = ModelServer::start(Script::function(script)).unwrap();
    let outcome = stage.run(stage.launch("delegate it", &server)).await;
    let turns = server.turns();
    let told: Vec<bool> = turns
        .iter()
        .filter(|request| !request.tells("delegate it"))
        .filter_map(|request| Some(tells_of(&request.new_results().first()?.text, RESERVED)))
        .collect();
    assert_eq!(told, [true, true, false], "{outcome:#?}");
    assert_eq!(stage.deployed(), [""; 0]);
    assert_eq!(stage.read("made").as_deref(), Some("hi\n"), "{outcome:#?}");
}

async fn a_tool_of_another_server_is_no_way_round<C: Seat>(client: C) {
    let stage = Stage::bare(client);
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/other_server.mjs");
    C::add_server(&stage, "other", &["node", program, stage.root().to_str().unwrap()]);
    stage.install();
    let other = |tool: &str, arguments| stage.client.tool("other", tool, arguments);
    let attempts = [
        Attempt::new(
            "a command that is harmless",
            other("run", json!({"command": "echo I ran"})),
            &["I ran"],
        ),
        Attempt::new("the protected one", other("run", json!({"command": "./deploy.sh now"})), RESERVED),
        Attempt::new("wrapped", other("run", json!({"command": "sh -c './deploy.sh now'"})), RESERVED),
    ];
    stage.tries(&attempts).await;
    assert_eq!(stage.deployed(), [""; 0]);
    // A tool that says nothing of what it does is seen by its name alone: `protects: ["mcp__other__*"]`, or a run.
    let server = ModelServer::start(vec![Turn::call(other("ship", json!({}))), Turn::text("done")]).unwrap();
    stage.run(stage.launch("ship it", &server)).await;
    assert_eq!(stage.deployed(), ["./deploy.sh by another server"]);
}

crate::in_each_client! {
    what_is_not_protected_goes_through
    a_protected_command_is_denied_by_every_door
    what_keeps_the_protection_is_not_the_agents_to_change
    a_strange_call_of_a_shell_does_not_run_it
    of_parallel_calls_each_is_judged
    a_sub_agent_is_held_as_its_parent_is
    a_tool_of_another_server_is_no_way_round
}
