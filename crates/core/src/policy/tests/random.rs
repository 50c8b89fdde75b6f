//! Random sequences of tool calls against an independent model of what is forbidden.
//!
//! The model never looks at a command: it knows what each does because it was made to do that. It keeps its own
//! idea of the run, as a table of a few lines, and says what must not be allowed.

use super::wrapping::{Dice, Intent, make, words};
use super::*;

/// How many sequences are played.
const SEQUENCES: u64 = 100_000;

/// What the model knows of the session.
#[derive(Debug, Clone, Copy)]
struct Model {
    run: Option<ModelRun>,
    readable: bool,
}

#[derive(Debug, Clone, Copy)]
struct ModelRun {
    own: bool,
    level: Enforcement,
    step_type: StepType,
    grants: ModelGrants,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ModelGrants {
    Own,
    Shell,
    Reading,
    Nothing,
}

/// A call with what the model must know about it.
#[derive(Debug)]
struct Move {
    call: ToolCall,
    /// What it does; of several things, each.
    does: Vec<Does>,
    plain: bool,
}

#[derive(Debug, Clone, Copy)]
enum Does {
    Shell(Intent),
    Edit(Intent),
    /// It is told to a tool that nobody knows.
    Told(Intent),
    Read,
    Unknown,
    Start,
    Cancel,
    Status,
}

impl Model {
    fn situation(self) -> Situation {
        let session = match self.run {
            _ if !self.readable => Session::Unreadable { level: None, why: "lost".to_owned() },
            None => Session::Free,
            Some(run) => {
                let grants = match run.grants {
                    ModelGrants::Own => Grants::Own,
                    ModelGrants::Shell => only(&["Bash"]),
                    ModelGrants::Reading => only(&["Read"]),
                    ModelGrants::Nothing => only(&[]),
                };
                let ability = if run.own { "deploy" } else { "build" };
                return running(ability, run.level, step(run.step_type, grants));
            }
        };
        Situation { session, ..free() }
    }

    /// Says whether a call must not be made.
    fn forbids(self, does: Does) -> bool {
        if matches!(does, Does::Status) {
            return false;
        }
        // What is forbidden always.
        let intent = match does {
            Does::Shell(intent) | Does::Edit(intent) | Does::Told(intent) => Some(intent),
            _ => None,
        };
        if matches!(intent, Some(Intent::Approve | Intent::ChangeState)) || !self.readable {
            return true;
        }
        let Some(run) = self.run else {
            return matches!(intent, Some(Intent::Deploy | Intent::WriteReserved));
        };
        if matches!(intent, Some(Intent::ChangeDefinition)) {
            return true;
        }
        let works = matches!(run.step_type, StepType::Agent | StepType::Skill);
        let loose = run.level == Enforcement::Loose;
        if matches!(intent, Some(Intent::Deploy)) {
            return !(run.own && (loose || (works && run.grants == ModelGrants::Shell)));
        }
        // No ability whose run this could be reserves that.
        if matches!(intent, Some(Intent::WriteReserved)) {
            return true;
        }
        let granted = works
            && match run.grants {
                ModelGrants::Own => true,
                ModelGrants::Shell => matches!(does, Does::Shell(_)),
                ModelGrants::Reading => matches!(does, Does::Read),
                ModelGrants::Nothing => false,
            };
        match does {
            Does::Start => true,
            Does::Cancel => !loose,
            _ if granted || loose => false,
            Does::Read | Does::Shell(Intent::Look) => run.level == Enforcement::Strict,
            _ => true,
        }
    }
}

fn shell_call(client: Client, command: &str) -> ToolCall {
    let name = if client == Client::OpenCode { "bash" } else { "Bash" };
    ToolCall::read(client, name, &map(&[("command", text(command))]))
}

fn random_move(dice: &mut Dice) -> Move {
    let client = dice.one_of(&[Client::ClaudeCode, Client::OpenCode, Client::Codex]);
    let claude = |name: &str, arguments: &Value| ToolCall::read(Client::ClaudeCode, name, arguments);
    let single = |call, does| Move { call, does: vec![does], plain: true };
    match dice.below(24) {
        0 => single(claude("Read", &map(&[("file_path", text("src/x"))])), Does::Read),
        1 => {
            let (path, intent) = dice.one_of(&[
                ("src/x", Intent::Change),
                (".abide/abilities/deploy/ability.yaml", Intent::ChangeDefinition),
                ("/PROJECT/.claude/../.abide/abilities/deploy/scripts/x", Intent::ChangeDefinition),
                ("~/.local/share/abide/runs.db", Intent::ChangeState),
                (".claude/settings.json", Intent::ChangeState),
            ]);
            let name = dice.one_of(&["Write", "Edit", "MultiEdit"]);
            single(claude(name, &map(&[("file_path", text(path))])), Does::Edit(intent))
        }
        2 => {
            let name =
                dice.one_of(&["mcp__x__y", "read", "bash", "ReadFile", "", "mcp__abide_x__ability_status"]);
            single(claude(name, &map(&[("x", text("y"))])), Does::Unknown)
        }
        3 => {
            let name = dice.one_of(&[
                ("mcp__abide__ability_status", Does::Status),
                ("mcp__abide__ability_list", Does::Status),
            ]);
            single(claude(name.0, &map(&[])), name.1)
        }
        4 => single(claude("mcp__abide__ability_run", &map(&[("ability", text("build"))])), Does::Start),
        5 => single(claude("mcp__abide__ability_cancel", &map(&[])), Does::Cancel),
        6 => {
            let made: Vec<_> = (0..=dice.below(3)).map(|_| make(random_intent(dice), dice)).collect();
            let calls = made.iter().map(|made| {
                map(&[("tool", text("bash")), ("parameters", map(&[("command", text(&made.command))]))])
            });
            let calls = Value::List(calls.collect());
            Move {
                call: ToolCall::read(Client::OpenCode, "batch", &map(&[("tool_calls", calls)])),
                does: made.iter().map(|made| Does::Shell(made.intent)).collect(),
                plain: made.iter().all(|made| made.plain),
            }
        }
        7..=9 => {
            let intent = dice.one_of(&[Intent::Deploy, Intent::Deploy, Intent::Approve]);
            let name = dice.one_of(&["mcp__sh__run", "mcp__x__y", "bash", "run_terminal_cmd"]);
            Move {
                call: claude(name, &told(words(intent, dice), dice)),
                does: vec![Does::Told(intent)],
                plain: false,
            }
        }
        10 => {
            let path = dice.one_of(&["infra/a", "/project/infra/a", "src/../infra/a", "./INFRA/a"]);
            let key = dice.one_of(&["path", "relative_path", "target_file", "dest", "x"]);
            let arguments = map(&[(key, text(path)), ("content", text("y"))]);
            let call = claude("mcp__fs__write", &arguments);
            Move { call, does: vec![Does::Told(Intent::WriteReserved)], plain: false }
        }
        _ => {
            let made = make(random_intent(dice), dice);
            Move {
                call: shell_call(client, &made.command),
                does: vec![Does::Shell(made.intent)],
                plain: made.plain,
            }
        }
    }
}

/// Tells a command to a tool in one of the ways in which tools are told commands.
fn told(words: &[&str], dice: &mut Dice) -> Value {
    let (first, rest) = words.split_first().unwrap();
    let list = |words: &[&str]| Value::List(words.iter().map(|word| text(word)).collect());
    let line = text(&words.join(" "));
    let key = dice.one_of(&["command", "cmd", "input", "exec", "command_line", "x", "text", "shell"]);
    let inner = match dice.below(8) {
        0 => map(&[(key, line), ("cwd", text("/project"))]),
        1 => map(&[(key, text(first)), ("args", list(rest))]),
        2 => map(&[("arguments", list(rest)), ("program", text(first))]),
        3 => map(&[("bin", text(first)), ("rest", text(&rest.join(" ")))]),
        4 => map(&[("argv", list(words))]),
        5 => map(&[("commands", Value::List(vec![text("ls"), line]))]),
        6 => map(&[("steps", Value::List(vec![map(&[(key, line)])]))]),
        _ => map(&[("env", map(&[("HOOK", line)]))]),
    };
    match dice.below(3) {
        0 => map(&[("params", inner)]),
        1 => map(&[("a", Value::List(vec![Value::List(vec![inner])]))]),
        _ => inner,
    }
}

fn random_intent(dice: &mut Dice) -> Intent {
    dice.one_of(&[
        Intent::Deploy,
        Intent::Deploy,
        Intent::Approve,
        Intent::ChangeDefinition,
        Intent::ChangeState,
        Intent::WriteReserved,
        Intent::Change,
        Intent::Look,
    ])
}

fn random_run(dice: &mut Dice) -> Option<ModelRun> {
    let run = ModelRun {
        own: dice.chance(50),
        level: dice.one_of(Enforcement::ALL),
        step_type: dice.one_of(StepType::ALL),
        grants: dice.one_of(&[
            ModelGrants::Own,
            ModelGrants::Shell,
            ModelGrants::Reading,
            ModelGrants::Nothing,
        ]),
    };
    dice.chance(60).then_some(run)
}

/// What was seen, to be sure that the test tested something.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    calls: u64,
    forbidden: u64,
    allowed: u64,
}

/// Plays sequences; the session goes on from call to call, as allowed calls change it.
fn play(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut dice = Dice::new(seed + 1);
        let mut model = Model { run: random_run(&mut dice), readable: !dice.chance(3) };
        for _ in 0..=dice.below(3) {
            let Move { call, does, plain } = random_move(&mut dice);
            let found = judge(&model.situation(), &call);
            let forbidden = does.iter().any(|does| model.forbids(*does));
            seen.calls += 1;
            seen.forbidden += u64::from(forbidden);
            seen.allowed += u64::from(found.is_allowed());
            assert!(
                !(forbidden && found.is_allowed()),
                "forbidden and allowed, seed {seed}: {does:?} {call:#?}\n{model:?}\n{found:?}"
            );
            // The other side: a session without a run can do what nobody reserved.
            if model.run.is_none() && plain && !forbidden {
                assert!(found.is_allowed(), "harmless and denied, seed {seed}: {call:#?}\n{found:?}");
            }
            match does[0] {
                Does::Start if found.is_allowed() => model.run = random_run(&mut dice),
                Does::Cancel if found.is_allowed() => model.run = None,
                _ if dice.chance(20) => {
                    if let Some(run) = &mut model.run {
                        run.step_type = dice.one_of(StepType::ALL);
                    }
                }
                _ => {}
            }
        }
    }
    seen
}

#[test]
fn no_random_sequence_of_calls_gets_through_what_is_forbidden() {
    let half = SEQUENCES / 2;
    let other = std::thread::spawn(move || play(half..SEQUENCES));
    let one = play(0..half);
    let other = other.join().expect("the other half holds too");
    let seen = Seen {
        calls: one.calls + other.calls,
        forbidden: one.forbidden + other.forbidden,
        allowed: one.allowed + other.allowed,
    };
    // Enough of both kinds, or the test says nothing.
    assert!(seen.forbidden > SEQUENCES / 2 && seen.allowed > SEQUENCES / 10, "{seen:?}");
}
