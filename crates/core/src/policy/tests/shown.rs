//! What an index shows for a call is enough: the verdict is that over everything.

use super::*;
use proptest::prelude::*;

/// Returns a situation as an index tells it for a call: with what [`Sought`] asks for, and nothing else.
pub(super) fn shown(situation: &Situation, call: &ToolCall, files: &dyn Files) -> Situation {
    let sought = Sought::by(call, &situation.place, files);
    let named = |reserved: &Reserved| {
        let name = name_of_reserved(&reserved.pattern);
        name.zip(sought.names()).is_none_or(|(name, names)| names.contains(&name))
    };
    let reserved = situation.reserved.iter().enumerate();
    // The first is always shown, so that it is known whether there is any.
    let reserved = reserved.filter(|(place, reserved)| *place == 0 || named(reserved));
    let guarded = situation.guarded.iter();
    let guarded =
        guarded.filter(|guarded| folder_of_guarded(&guarded.path).is_none_or(|folder| sought.is_in(&folder)));
    Situation {
        reserved: reserved.map(|(_, reserved)| reserved.clone()).collect(),
        guarded: guarded.cloned().collect(),
        ..situation.clone()
    }
}

/// A project in which much is reserved and guarded, in every way that can be written.
fn crowded(session: Session) -> Situation {
    let patterns = [
        "Bash(first *)",
        "Bash(git push *)",
        "Bash(git:*)",
        "Bash(./deploy.sh *)",
        "Bash(deploy.sh)",
        "Bash(scripts/release/now.sh --yes)",
        "Bash(~/bin/ship *)",
        "Bash(/usr/bin/kubectl apply *)",
        "Bash(* --force)",
        "Bash(g*t tag *)",
        "Bash(make deploy)",
        "Bash(npm run deploy:*)",
        "Bash(CARGO publish)",
        "Bash(é *)",
        "Bash(ship.exe *)",
        "shell(terraform apply *)",
        "Bash(cp *)",
        "Bash(python3 deploy.py)",
        "Write(infra/*)",
        "Edit(src/secret.rs)",
        "WebFetch(https://registry.example.com/*)",
        "mcp__prod__*",
        "Read(keys/*)",
    ];
    let guarded = [
        ("/", Role::Script),
        ("/project/.abide/abilities/deploy", Role::Reservation),
        ("/project/.abide/abilities/one.yaml", Role::Definition),
        ("/project/.abide/abilities/Two.yaml", Role::Reservation),
        ("/project/.abide/state", Role::State),
        ("/project/.claude", Role::Settings),
        ("/home/ada/.claude.json", Role::Settings),
        ("/home/ada/.config/abide/trust", Role::State),
        ("/project/src/scripts/run.sh", Role::Script),
        ("/var", Role::State),
        ("/project/é/x", Role::State),
    ];
    Situation {
        session,
        reserved: patterns
            .iter()
            .map(|pattern| Reserved {
                ability: "deploy".into(),
                pattern: Protect::parse(pattern).unwrap(),
                root: "/project".into(),
                standing: Standing::Current,
            })
            .collect(),
        // Whatever touches the root touches all: it would hide what else is found.
        guarded: guarded
            .iter()
            .skip(1)
            .map(|(path, role)| Guarded { path: (*path).to_owned(), role: *role })
            .collect(),
        ..free()
    }
}

fn sessions() -> Vec<Session> {
    let own = |level, grants| running("deploy", level, step(StepType::Agent, grants)).session;
    vec![
        Session::Free,
        own(Enforcement::Strict, Grants::Own),
        own(Enforcement::Strict, only(&["Bash(git *)", "Bash(cargo *)", "Write"])),
        own(Enforcement::Loose, only(&["Read"])),
        Session::Unreadable { level: Some(Enforcement::Loose), why: "lost".to_owned() },
    ]
}

/// Links lead from here into what is guarded and reserved.
struct Linked;

impl Files for Linked {
    fn real(&self, path: &str) -> Option<String> {
        let path = path.replace("/./", "/");
        let led = [
            ("/project/d", "/project/deploy.sh"),
            ("/project/link", "/project/.abide/abilities"),
            ("/project/deploy.sh", "/project/scripts/real.sh"),
            ("/project/v", "/var/lib"),
        ];
        let found = led.iter().find_map(|(from, to)| {
            let rest = path.strip_prefix(from)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        });
        Some(found.unwrap_or(path))
    }
}

const WORDS: &[&str] = &[
    "git",
    "GIT",
    "git.exe",
    "push",
    "tag",
    "--force",
    "./deploy.sh",
    "deploy.sh",
    "deploy",
    "sh",
    "bash",
    "-c",
    "'git push'",
    "make",
    "npm",
    "run",
    "cargo",
    "publish",
    "test",
    "cp",
    "mv",
    "rm",
    "-rf",
    "tee",
    "sed",
    "-i",
    "./d",
    "d",
    "link",
    "link/one.yaml",
    "v/x",
    ".",
    "..",
    "/",
    "~",
    "src",
    "src/scripts",
    "../project",
    "$X",
    "$(ls)",
    "*",
    "*.yaml",
    "X=1",
    "env",
    "sudo",
    "xargs",
    "find",
    "-delete",
    "-exec",
    "\\;",
    "cd",
    ".abide",
    ".abide/abilities",
    ".abide/abilities/two.yaml",
    "/var/lib",
    "~/bin/ship",
    "ship",
    "ship.EXE",
    "é",
    "é/x",
    "terraform",
    "apply",
    "kubectl",
    "/usr/bin/kubectl",
    "python3",
    "deploy.py",
    "scripts/real.sh",
    "echo",
    "",
    "--output=.claude/x",
    "of=/var/x",
    "ln",
    "-s",
    "tar",
    "scripts/release/now.sh",
    "--yes",
    "infra/a",
    "cat",
];
const JOINTS: &[&str] = &[" ", " ", " ", " ", " ; ", " && ", " | ", " > ", "\n", " & "];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_an_index_shows_for_a_line_is_enough(
        words in prop::collection::vec((prop::sample::select(WORDS), prop::sample::select(JOINTS)), 1..8),
    ) {
        let line: String = words.iter().flat_map(|(word, joint)| [*word, *joint]).collect();
        for session in sessions() {
            let situation = crowded(session);
            for files in [&NoLinks as &dyn Files, &Linked] {
                let _ = judge_on(&situation, &bash(&line), files);
            }
        }
    }

}

proptest! {
    // Each is every form of arguments, in every client and session.
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_an_index_shows_for_other_tools_is_enough(
        name in prop::sample::select(&["Read", "Write", "Edit", "apply_patch", "mcp__prod__x", "mcp__x__y", "x", "WebFetch", "batch"][..]),
        key in prop::sample::select(&["path", "file_path", "command", "url", "input", "cmd"][..]),
        first in prop::sample::select(WORDS),
        second in prop::sample::select(WORDS),
    ) {
        let inner = map(&[(key, text(&format!("{first} {second}")))]);
        let plain = map(&[(key, text(first))]);
        let calls = Value::List(vec![
            map(&[("tool", text("bash")), ("parameters", map(&[("command", text(first))]))]),
            map(&[("tool", text("write")), ("parameters", map(&[("filePath", text(second))]))]),
        ]);
        let nested = map(&[("tool_calls", calls)]);
        for arguments in [inner, plain, nested, Value::Null] {
            for client in Client::ALL {
                let call = ToolCall::read(*client, name, &arguments);
                for session in sessions() {
                    let _ = judge_on(&crowded(session), &call, &Linked);
                }
            }
        }
    }
}

#[test]
fn everyday_calls_are_shown_next_to_nothing() {
    let situation = crowded(Session::Free);
    let counts = |call: &ToolCall| {
        let shown = shown(&situation, call, &NoLinks);
        (shown.reserved.len(), shown.guarded.len())
    };
    // The first, and the nine that no name tells apart.
    let unnamed =
        situation.reserved.iter().filter(|one| name_of_reserved(&one.pattern).is_none()).count() + 1;
    assert_eq!(unnamed, 10);
    assert_eq!(
        counts(&bash("terraform plan -out x")),
        (unnamed + 1, 2),
        "what lies in the project's root, and in `/`"
    );
    assert_eq!(counts(&bash("ls -la src")).0, unnamed);
    let all = (situation.reserved.len(), situation.guarded.len());
    assert_eq!(counts(&bash("./build.sh $X")).0, all.0, "a path could lead anywhere");
    assert_eq!(counts(&bash("touch $X")).1, all.1, "nobody knows what is written");
    assert_eq!(counts(&bash("eval \"$X\"")), all);
}
