//! In and out again: whatever a user's files hold, they are the same bytes afterwards, and work in between.
#![expect(clippy::disallowed_methods, reason = "these tests write the files that are edited")]

use abide_clients::inspect::{Gate, inspect};
use abide_clients::{Client, Places, Scope, Server, Target, plan};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A machine of its own: a project and a home.
struct Machine {
    folder: TempDir,
    places: Places,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for name in ["project", "home"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        let home = path.join("home");
        let places = Places {
            root: path.join("project"),
            config_home: Some(home.join(".config")),
            state_home: Some(path.join("state")),
            home: Some(home),
            claude_home: None,
            codex_home: None,
        };
        Self { folder, places }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn target(&self, client: Client, scope: Scope) -> Target<'_> {
        Target { client, scope, binary: Path::new("/opt/my bin/abide"), places: &self.places, server: None }
    }

    /// Returns every file and folder, with what it holds and who may do what; not what abide remembers.
    fn files(&self) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().join("project"), self.folder.path().join("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path.clone(), (mode, fs::read(&path).ok()));
            }
        }
        found
    }

    fn install(&self, client: Client, scope: Scope) -> Result<usize, abide_clients::Error> {
        let plan = plan::install(self.target(client, scope))?;
        plan.apply()?;
        Ok(plan.changes.len())
    }

    fn uninstall(&self, client: Client, scope: Scope) {
        plan::uninstall(self.target(client, scope)).unwrap().apply().unwrap();
    }
}

/// Every file that is edited, from the folder of the machine.
fn edited(client: Client, scope: Scope) -> &'static [&'static str] {
    match (client, scope) {
        (Client::Claude, Scope::Project) => &["project/.claude/settings.json", "project/.mcp.json"],
        (Client::Claude, Scope::User) => &["home/.claude/settings.json", "home/.claude.json"],
        (Client::OpenCode, Scope::Project) => &["project/opencode.json"],
        (Client::OpenCode, Scope::User) => &["home/.config/opencode/opencode.jsonc"],
        (Client::Codex, Scope::Project) => {
            &["project/.codex/hooks.json", "project/.codex/config.toml", "home/.codex/config.toml"]
        }
        (Client::Codex, Scope::User) => &["home/.codex/hooks.json", "home/.codex/config.toml"],
    }
}

fn everywhere() -> impl Iterator<Item = (Client, Scope)> {
    Client::ALL.into_iter().flat_map(|client| Scope::ALL.map(|scope| (client, scope)))
}

const NASTY_JSON: &[&str] = &[
    "",
    "\n",
    "// nothing but a comment",
    "{}",
    "{ }",
    "{\n}\n",
    "{\"a\":1}",
    "{\r\n\t\"a\": 1\r\n}\r\n",
    "{\n  \"a\": 1, // one\n  /* two */ \"b\": [1, 2,], // three\n}",
    "\u{feff}{\n    \"ü\": \"漢 \\u00e9 \\\" {\"\n}",
    "{\n  \"hooks\": {},\n  \"mcpServers\": {},\n  \"mcp\": {},\n  \"env\": {}\n}\n",
    "{\n  \"hooks\": { \"PreToolUse\": [], \"Stop\": [\n  ] }\n}\n",
    "{\n  \"env\": { \"TOKEN\": \"x\", \"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"3\" },\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"mine.sh\" }] } // mine\n    ],\n    \"Notification\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"abide hook claude\" }] }]\n  },\n  \"mcpServers\": { \"other\": { \"command\": \"x\", \"args\": [\"mcp\"] } },\n  \"mcp\": {\n    \"other\": { \"type\": \"local\", \"command\": [\"x\", \"mcp\"] },\n  },\n}\n",
];

const NASTY_TOML: &[&str] = &[
    "",
    "\n\n",
    "# nothing but a comment",
    "model = \"x\" # mine\n",
    "model = 'x'\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\nargs = [ \"mcp\", ]",
    "\u{feff}[hooks.state.\"/elsewhere/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\"\n\n# after\n",
    "[projects.\"/a b/ü\"]\ntrust_level = \"trusted\"\n[[x]]\ny = \"\"\"\n[mcp_servers.abide]\n\"\"\"\n",
    "[hooks]\n[hooks.state]\n[mcp_servers]\n",
    "[features]",
    "[features] # mine\r\nunified_exec_tty = true\r\n",
    "[features]\nunified_exec_tty = false\n\n[x]\n",
    "[features]\n# mine\nhooks = true\n[other]\na = 1\n",
];

fn texts(file: &str) -> &'static [&'static str] {
    if file.contains(".toml") { NASTY_TOML } else { NASTY_JSON }
}

#[test]
fn nothing_is_left_where_nothing_was() {
    for (client, scope) in everywhere() {
        let machine = Machine::new();
        let before = machine.files();
        assert!(machine.install(client, scope).unwrap() >= 2);
        assert_eq!(inspect(&machine.target(client, scope)).unwrap(), Gate::Installed);
        assert_eq!(machine.install(client, scope).unwrap(), 0, "{client:?} {scope:?}: nothing is left to do");
        machine.uninstall(client, scope);
        assert_eq!(machine.files(), before, "{client:?} {scope:?}");
        assert_eq!(inspect(&machine.target(client, scope)).unwrap(), Gate::Absent);
    }
}

#[test]
fn nasty_files_are_the_same_bytes_afterwards() {
    for (client, scope) in everywhere() {
        for file in edited(client, scope) {
            for text in texts(file) {
                let machine = Machine::new();
                machine.write(file, text);
                fs::set_permissions(machine.folder.path().join(file), fs::Permissions::from_mode(0o640))
                    .unwrap();
                let before = machine.files();
                machine.install(client, scope).unwrap();
                let during = machine.files();
                let (mode, _) = &during[&machine.folder.path().join(file)];
                assert_eq!(mode & 0o777, 0o640, "its rights are kept");
                assert_eq!(
                    inspect(&machine.target(client, scope)).unwrap(),
                    Gate::Installed,
                    "{file}: {text:?}"
                );
                assert_eq!(machine.install(client, scope).unwrap(), 0, "{file}: {text:?}");
                assert_eq!(machine.files(), during);
                machine.uninstall(client, scope);
                assert_eq!(machine.files(), before, "{client:?} {scope:?} {file}: {text:?}");
            }
        }
    }
}

#[test]
fn a_new_path_takes_the_place_of_the_old_one() {
    for (client, scope) in everywhere() {
        for file in edited(client, scope) {
            for text in texts(file) {
                let machine = Machine::new();
                machine.write(file, text);
                let before = machine.files();
                machine.install(client, scope).unwrap();
                let newer = Target { binary: Path::new("/opt/2/abide"), ..machine.target(client, scope) };
                let Gate::Different { program, .. } = inspect(&newer).unwrap() else { panic!("{file}") };
                assert_eq!(program.as_deref(), Some(Path::new("/opt/my bin/abide")), "{client:?}");
                plan::install(newer).unwrap().apply().unwrap();
                assert_eq!(inspect(&newer).unwrap(), Gate::Installed);
                let all: Vec<u8> =
                    machine.files().into_values().filter_map(|(_, bytes)| bytes).flatten().collect();
                assert!(
                    !String::from_utf8_lossy(&all).contains("/opt/my bin"),
                    "nothing of the old one is left"
                );
                plan::uninstall(newer).unwrap().apply().unwrap();
                assert_eq!(machine.files(), before, "{file}: {text:?}");
            }
        }
    }
}

#[test]
fn without_a_record_what_is_ours_is_found_by_its_shape() {
    for (client, scope) in everywhere() {
        for file in edited(client, scope) {
            for text in texts(file) {
                let machine = Machine::new();
                machine.write(file, text);
                machine.install(client, scope).unwrap();
                fs::remove_dir_all(machine.folder.path().join("state")).unwrap();
                assert_eq!(machine.install(client, scope).unwrap(), 0, "it is still there");
                machine.uninstall(client, scope);
                assert_eq!(inspect(&machine.target(client, scope)).unwrap(), Gate::Absent);
                let left = fs::read_to_string(machine.folder.path().join(file)).unwrap();
                assert!(!left.contains("/opt/my bin"), "{left}");
                for word in [
                    "mine",
                    "one",
                    "two",
                    "three",
                    "other",
                    "TOKEN",
                    "漢",
                    "after",
                    "nothing but",
                    "elsewhere",
                ] {
                    assert_eq!(left.matches(word).count(), text.matches(word).count(), "{word}: {left}");
                }
            }
        }
    }
}

#[test]
fn what_a_user_changed_since_is_kept() {
    let machine = Machine::new();
    machine.write("project/.claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
    machine.install(Client::Claude, Scope::Project).unwrap();
    let path = machine.places.root.join(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"model\": \"x\",", "\"model\": \"y\", // new")).unwrap();
    // It is put right again when something of ours was changed, and comes out all the same.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"block\"", "\"ignore\"", 1)).unwrap();
    assert_eq!(machine.install(Client::Claude, Scope::Project).unwrap(), 1);
    machine.uninstall(Client::Claude, Scope::Project);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"model\": \"y\" // new\n}\n");
}

#[test]
fn a_file_that_cannot_be_edited_is_untouched_and_so_is_everything_else() {
    for (client, scope) in everywhere() {
        for file in edited(client, scope) {
            let bad: &[&str] = if file.contains(".toml") {
                &[
                    "a = ",
                    "mcp_servers = {}\nhooks = {}\n",
                    "[mcp_servers.abide]\nurl = \"x\"\n[hooks]\nstate = 1\n",
                ]
            } else {
                &[
                    "{",
                    "[]",
                    "{\"hooks\": 1, \"mcp\": 1, \"mcpServers\": []}",
                    "{\"hooks\":{\"PreToolUse\":{}},\"mcp\":{\"abide\":{}},\"mcpServers\":{\"abide\":{}}}",
                ]
            };
            for text in bad {
                let machine = Machine::new();
                machine.write(file, text);
                let before = machine.files();
                let error = machine.install(client, scope).unwrap_err().to_string();
                assert!(error.contains(file), "{error}");
                assert_eq!(machine.files(), before, "{file}: {text:?}");
            }
        }
    }
}

#[test]
fn a_file_behind_a_link_is_changed_and_the_link_stays() {
    let machine = Machine::new();
    machine.write("home/dotfiles/settings.json", "{}\n");
    fs::create_dir(machine.places.root.join(".claude")).unwrap();
    let link = machine.places.root.join(".claude/settings.json");
    std::os::unix::fs::symlink("../../home/dotfiles/settings.json", &link).unwrap();
    machine.install(Client::Claude, Scope::Project).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        fs::read_to_string(machine.folder.path().join("home/dotfiles/settings.json"))
            .unwrap()
            .contains("PreToolUse")
    );
    machine.uninstall(Client::Claude, Scope::Project);
    assert_eq!(fs::read_to_string(&link).unwrap(), "{}\n");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_link_to_nothing_a_folder_and_a_plugin_of_the_users_are_refused() {
    let machine = Machine::new();
    std::os::unix::fs::symlink("nowhere", machine.places.root.join(".mcp.json")).unwrap();
    let error = machine.install(Client::Claude, Scope::Project).unwrap_err().to_string();
    assert!(error.ends_with(".mcp.json is a link to nothing"), "{error}");
    fs::create_dir_all(machine.places.root.join("opencode.json")).unwrap();
    let error = machine.install(Client::OpenCode, Scope::Project).unwrap_err().to_string();
    assert!(error.ends_with("opencode.json is not a regular file"), "{error}");
    machine.write("home/.config/opencode/plugins/abide.js", "export const Mine = 1\n");
    let error = machine.install(Client::OpenCode, Scope::User).unwrap_err().to_string();
    assert!(error.contains("abide.js: `the file` is already there"), "{error}");
}

#[test]
fn a_file_that_changes_under_our_hands_is_not_overwritten() {
    let machine = Machine::new();
    machine.write("home/.claude.json", "{}\n");
    let plan = plan::install(machine.target(Client::Claude, Scope::User)).unwrap();
    machine.write("home/.claude.json", "{ \"new\": 1 }\n");
    let error = plan.apply().unwrap_err().to_string();
    assert!(error.contains("was changed by somebody else"), "{error}");
    assert_eq!(
        fs::read_to_string(machine.folder.path().join("home/.claude.json")).unwrap(),
        "{ \"new\": 1 }\n"
    );
}

#[test]
fn two_projects_share_the_users_file_and_leave_it_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let machine = Machine::new();
        machine.write("home/.codex/config.toml", "# mine\nmodel = \"x\"");
        let other = Places {
            root: machine.folder.path().canonicalize().unwrap().join("home"),
            ..machine.places.clone()
        };
        let target = machine.target(Client::Codex, Scope::Project);
        let targets = [target, Target { places: &other, ..target }];
        for target in targets {
            plan::install(target).unwrap().apply().unwrap();
        }
        for at in order {
            assert_eq!(inspect(&targets[at]).unwrap(), Gate::Installed);
            plan::uninstall(targets[at]).unwrap().apply().unwrap();
            assert_eq!(inspect(&targets[at]).unwrap(), Gate::Absent);
        }
        let left = fs::read_to_string(machine.folder.path().join("home/.codex/config.toml")).unwrap();
        assert_eq!(left.trim_end(), "# mine\nmodel = \"x\"", "{order:?}");
    }
}

/// Returns a server with the file that has its key.
fn at(url: &str) -> Server {
    Server { url: url.to_owned(), key_file: Some("/home/ada/a \"key\"".to_owned()) }
}

#[test]
fn a_server_goes_in_stays_and_comes_out() {
    let (first, second) = (at("https://one.example"), at("https://two.example"));
    for (client, scope) in everywhere() {
        for file in edited(client, scope) {
            for text in texts(file) {
                let machine = Machine::new();
                machine.write(file, text);
                let before = machine.files();
                let plain = machine.target(client, scope);
                let (told, other) =
                    (Target { server: Some(&first), ..plain }, Target { server: Some(&second), ..plain });
                plan::install(told).unwrap().apply().unwrap();
                let during = machine.files();
                assert_eq!(inspect(&plain).unwrap(), Gate::Installed, "{file}: {text:?}");
                assert!(plan::install(told).unwrap().changes.is_empty(), "{file}: {text:?}");
                // Nobody names the server the next time: it stays, and that is said.
                let again = plan::install(plain).unwrap();
                assert!(again.changes.is_empty(), "{again:?}");
                assert!(again.notes.iter().any(|note| note.contains(&first.url)), "{:?}", again.notes);
                let newer = Target { binary: Path::new("/opt/2/abide"), ..plain };
                plan::install(newer).unwrap().apply().unwrap();
                assert!(plan::install(Target { server: Some(&first), ..newer }).unwrap().changes.is_empty());
                plan::install(plain).unwrap().apply().unwrap();
                assert_eq!(machine.files(), during, "{file}: {text:?}");
                assert_eq!(plan::install(other).unwrap().changes.len(), 1, "one file has the server");
                plan::install(other).unwrap().apply().unwrap();
                let all: Vec<u8> =
                    machine.files().into_values().filter_map(|(_, bytes)| bytes).flatten().collect();
                let all = String::from_utf8_lossy(&all);
                assert!(all.contains(&second.url) && !all.contains(&first.url), "{all}");
                machine.uninstall(client, scope);
                assert_eq!(machine.files(), before, "{client:?} {scope:?} {file}: {text:?}");
            }
        }
    }
}

#[test]
fn a_server_that_was_written_by_hand_is_abides_and_keeps_its_variables() {
    let arguments = r#""command": "abide", "args": ["mcp", "--server", "https://one.example"]"#;
    for (client, file, text) in [
        (
            Client::OpenCode,
            "project/opencode.json",
            r#"{ "mcp": { "abide": { "type": "local", "command": ["abide", "mcp", "--server", "https://one.example"], "environment": { "ABIDE_KEY_FILE": "/k" } } } }"#.to_owned(),
        ),
        (
            Client::Claude,
            "project/.mcp.json",
            format!(r#"{{ "mcpServers": {{ "abide": {{ {arguments}, "env": {{ "ABIDE_KEY_FILE": "/k" }} }} }} }}"#),
        ),
        (
            Client::Codex,
            "project/.codex/config.toml",
            "[mcp_servers.abide]\ncommand = \"abide\"\nargs = [\"mcp\", \"--server\", \"https://one.example\"]\n\n[mcp_servers.abide.env]\nABIDE_KEY_FILE = \"/k\"\n".to_owned(),
        ),
    ] {
        let machine = Machine::new();
        machine.write(file, &text);
        let target = machine.target(client, Scope::Project);
        assert!(matches!(inspect(&target).unwrap(), Gate::Different { .. }), "{client:?}: it lacks the hooks");
        machine.install(client, Scope::Project).unwrap();
        assert_eq!(inspect(&target).unwrap(), Gate::Installed, "{client:?}");
        assert_eq!(machine.install(client, Scope::Project).unwrap(), 0, "{client:?}");
        let path = machine.folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        for word in ["/opt/my bin/abide", "--server", "https://one.example", "ABIDE_KEY_FILE", "/k"] {
            assert_eq!(text.matches(word).count(), 1, "{word}: {text}");
        }
        // What somebody asks for by name takes the place of all of it.
        let other = at("https://two.example");
        plan::install(Target { server: Some(&other), ..target }).unwrap().apply().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("one.example") && !text.contains("ABIDE_KEY_FILE"), "{text}");
        machine.uninstall(client, Scope::Project);
        assert_eq!(inspect(&target).unwrap(), Gate::Absent);
        let left = fs::read_to_string(&path).unwrap_or_default();
        assert!(!left.contains("abide"), "{left}");
    }
}

#[test]
fn a_program_of_the_users_under_abides_name_is_refused() {
    for words in [&["mine", "mcp", "--server"][..], &["mine", "mcp", "--port", "1"], &["mine"]] {
        let machine = Machine::new();
        let text =
            serde_json::json!({ "mcp": { "abide": { "type": "local", "command": words } } }).to_string();
        machine.write("project/opencode.json", &text);
        let error = machine.install(Client::OpenCode, Scope::Project).unwrap_err().to_string();
        assert!(error.contains("is not abide's"), "{error}");
        assert_eq!(fs::read_to_string(machine.places.root.join("opencode.json")).unwrap(), text);
    }
}

/// Documents in which the keys that abide edits have any shape.
fn document() -> impl Strategy<Value = String> {
    let space = prop::sample::select(vec!["", " ", "\n  ", "\t", "\r\n", " // x: {\n", "/* , } */"]);
    let value =
        prop::sample::select(vec!["1", "\"ü\\\"\"", "null", "{}", "[]", "[1,]"]).prop_map(str::to_owned);
    let value = value.prop_recursive(3, 16, 3, move |inner| {
        let key = prop::sample::select(vec![
            "hooks",
            "mcp",
            "mcpServers",
            "env",
            "PreToolUse",
            "Stop",
            "command",
            "a",
        ]);
        let member = (space.clone(), key, space.clone(), inner, space.clone());
        let member = member.prop_map(|(a, key, b, value, c)| format!("{a}\"{key}\":{b}{value}{c}"));
        (prop::collection::vec(member, 0..5), prop::sample::select(vec!["", ",", "\n"])).prop_map(
            |(members, end)| {
                format!("{{{}{}}}", members.join(","), if members.is_empty() { "" } else { end })
            },
        )
    });
    (value, prop::sample::select(vec!["", "\n", " // end"])).prop_map(|(value, end)| format!("{value}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_document_comes_back_or_is_refused_untouched(text in document(), which in 0usize..6) {
        let (client, scope) = everywhere().nth(which).unwrap();
        let file = edited(client, scope)[0];
        let machine = Machine::new();
        machine.write(file, &text);
        let before = machine.files();
        if machine.install(client, scope).is_ok() {
            prop_assert_eq!(inspect(&machine.target(client, scope)).unwrap(), Gate::Installed);
            prop_assert_eq!(machine.install(client, scope).unwrap(), 0);
            machine.uninstall(client, scope);
        }
        prop_assert_eq!(machine.files(), before);
    }

    #[test]
    fn any_table_comes_back_or_is_refused_untouched(
        lines in prop::collection::vec(prop::sample::select(vec![
            "a = 1", "# ü", "", "[x]", "[mcp_servers]", "[mcp_servers.other]", "command = 'x'", "[hooks]", "[hooks.state]",
            "[[y]]", "state = {}", "[features]", "features = {}", "unified_exec_tty = true", "features.web = true",
            "s = '''\n[features]\n'''", "mcp_servers.z.a = 2", "hooks = { state = { } }", "b = '''\n[mcp_servers.abide]\n'''",
        ]), 0..7),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        last in any::<bool>(),
    ) {
        let machine = Machine::new();
        let text = lines.join(end) + if last { end } else { "" };
        machine.write("home/.codex/config.toml", &text);
        let before = machine.files();
        if machine.install(Client::Codex, Scope::User).is_ok() {
            prop_assert_eq!(inspect(&machine.target(Client::Codex, Scope::User)).unwrap(), Gate::Installed);
            prop_assert_eq!(machine.install(Client::Codex, Scope::User).unwrap(), 0);
            machine.uninstall(Client::Codex, Scope::User);
        }
        prop_assert_eq!(machine.files(), before);
    }
}
