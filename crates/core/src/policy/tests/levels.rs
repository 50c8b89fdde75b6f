//! The table of the gate: level × type of step × kind of tool.

use super::*;

/// A call of each kind; the shell command changes something, and another one only reads.
fn calls() -> Vec<(ToolKind, ToolCall)> {
    let claude = |name: &str, arguments: Value| ToolCall::read(Client::ClaudeCode, name, &arguments);
    let own = |tool: OwnTool| claude(&format!("mcp__abide__{}", tool.word()), map(&[("ability", text("x"))]));
    let nested = map(&[("tool", text("bash")), ("parameters", map(&[("command", text("touch x"))]))]);
    let batch = map(&[("tool_calls", Value::List(vec![nested]))]);
    let mut calls = vec![
        (ToolKind::Read, claude("Read", map(&[("file_path", text("src/a.rs"))]))),
        (ToolKind::Search, claude("Grep", map(&[("pattern", text("x"))]))),
        (ToolKind::Edit, claude("Edit", map(&[("file_path", text("src/a.rs"))]))),
        (ToolKind::Execute, bash("touch x")),
        (ToolKind::Network, claude("WebFetch", map(&[("url", text("https://example.com"))]))),
        (ToolKind::Agent, claude("Task", map(&[("prompt", text("do it"))]))),
        (ToolKind::AskUser, claude("AskUserQuestion", map(&[]))),
        (ToolKind::Plan, claude("TodoWrite", map(&[]))),
        (ToolKind::Batch, ToolCall::read(Client::OpenCode, "batch", &batch)),
        (ToolKind::Other, claude("mcp__other__thing", map(&[]))),
    ];
    for kind in ToolKind::ALL {
        if let ToolKind::Own(tool) = kind {
            calls.push((*kind, own(*tool)));
        }
    }
    calls
}

/// What the table says, written a second time by hand.
#[expect(clippy::match_same_arms, reason = "each line is one rule of the table")]
fn expected(level: Enforcement, step_type: StepType, kind: ToolKind, granted: bool) -> &'static str {
    use Enforcement::{Loose, Normal, Strict};
    let works = matches!(step_type, StepType::Agent | StepType::Skill);
    match (kind, level) {
        (ToolKind::Own(OwnTool::Status | OwnTool::List), _) => "allow",
        (ToolKind::Own(OwnTool::Run), _) => "deny",
        (ToolKind::Own(OwnTool::Submit), _) if works => "allow",
        (ToolKind::Own(OwnTool::Submit), Strict | Normal) => "deny",
        (ToolKind::Own(OwnTool::Submit), Loose) => "warn",
        (ToolKind::Own(OwnTool::Cancel), Strict) => "deny",
        (ToolKind::Own(OwnTool::Cancel), Normal) => "ask",
        (ToolKind::Own(OwnTool::Cancel), Loose) => "allow",
        (ToolKind::Own(OwnTool::Validate | OwnTool::Agent), Normal | Loose) => "allow",
        _ if works && granted => "allow",
        (_, Strict) => "deny",
        (
            ToolKind::Read | ToolKind::Search | ToolKind::Network | ToolKind::AskUser | ToolKind::Plan,
            Normal,
        ) => "allow",
        (_, Normal) => "deny",
        (_, Loose) => "warn",
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Warn { .. } => "warn",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

#[test]
fn the_table_holds_for_every_level_type_of_step_and_kind_of_tool() {
    let mut checked = 0;
    for level in Enforcement::ALL {
        for step_type in StepType::ALL {
            for (grants, granted) in [(Grants::Own, true), (only(&[]), false)] {
                for seat in [Seat::Main, Seat::Child, Seat::ChildWithRun] {
                    for (kind, call) in calls() {
                        let situation =
                            Situation { seat, ..running("build", *level, step(*step_type, grants.clone())) };
                        let found = judge(&situation, &call);
                        let wanted = expected(*level, *step_type, kind, granted);
                        assert_eq!(
                            word(&found),
                            wanted,
                            "{level:?} {step_type:?} {kind:?} {grants:?}: {found:?}"
                        );
                        checked += 1;
                    }
                }
            }
        }
    }
    assert_eq!(checked, 3 * 5 * 2 * 3 * ToolKind::ALL.len());
}

#[test]
fn without_a_run_nothing_is_held_back() {
    for (kind, call) in calls() {
        assert_eq!(judge(&free(), &call), Verdict::Allow, "{kind:?}");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_denied_unless_the_level_is_known_to_be_less_than_strict() {
    let unreadable =
        |level| Situation { session: Session::Unreadable { level, why: "no index".to_owned() }, ..free() };
    for (kind, call) in calls() {
        let always = matches!(kind, ToolKind::Own(OwnTool::Status | OwnTool::List));
        for level in [None, Some(Enforcement::Strict)] {
            assert_eq!(is_denied(&judge(&unreadable(level), &call)), !always, "{kind:?}");
        }
        let normal = judge(&unreadable(Some(Enforcement::Normal)), &call);
        let asks = kind == ToolKind::Own(OwnTool::Cancel);
        assert_eq!(is_denied(&normal), !(kind.only_reads() || always || asks), "{kind:?} {normal:?}");
        let loose = judge(&unreadable(Some(Enforcement::Loose)), &call);
        assert_eq!(loose.is_allowed(), kind != ToolKind::Own(OwnTool::Run), "{kind:?} {loose:?}");
    }
    assert_eq!(word_of_stop(&stop(&unreadable(None))), "refuse");
    assert_eq!(word_of_stop(&stop(&unreadable(Some(Enforcement::Normal)))), "warn");
}

#[test]
fn before_the_first_step_and_while_a_human_is_asked_no_tool_is_granted() {
    let mut early = running("build", Enforcement::Strict, step(StepType::Agent, Grants::Own));
    let Session::Active(active) = &mut early.session else { unreachable!() };
    active.step = None;
    assert!(is_denied(&judge(&early, &bash("ls"))));
    let mut asked = step(StepType::Agent, Grants::Own);
    asked.waits_for_human = true;
    let asked = running("build", Enforcement::Strict, asked);
    assert!(is_denied(&judge(&asked, &bash("ls"))));
    assert_eq!(word_of_stop(&stop(&asked)), "wait");
}

fn word_of_stop(verdict: &StopVerdict) -> &'static str {
    match verdict {
        StopVerdict::Allow => "allow",
        StopVerdict::Wait { .. } => "wait",
        StopVerdict::Warn { .. } => "warn",
        StopVerdict::Refuse { .. } => "refuse",
    }
}

#[test]
fn stopping_is_refused_warned_of_once_or_allowed() {
    for (level, first, second) in [
        (Enforcement::Strict, "refuse", "refuse"),
        (Enforcement::Normal, "warn", "allow"),
        (Enforcement::Loose, "allow", "allow"),
    ] {
        let mut situation = running("build", level, step(StepType::Agent, Grants::Own));
        assert_eq!(word_of_stop(&stop(&situation)), first);
        situation.seat = Seat::ChildWithRun;
        assert_eq!(word_of_stop(&stop(&situation)), first);
        situation.seat = Seat::Child;
        assert_eq!(word_of_stop(&stop(&situation)), "allow");
        situation.seat = Seat::Main;
        let Session::Active(active) = &mut situation.session else { unreachable!() };
        active.warned = true;
        assert_eq!(word_of_stop(&stop(&situation)), second);
    }
    assert_eq!(stop(&free()), StopVerdict::Allow);
}

#[test]
fn a_session_that_abide_started_stops_when_it_likes_and_has_no_say_in_the_run() {
    for level in [Enforcement::Strict, Enforcement::Normal, Enforcement::Loose] {
        let mut situation = running("build", level, step(StepType::Agent, only(&["Read"])));
        let Session::Active(active) = &mut situation.session else { unreachable!() };
        active.worker = true;
        for seat in [Seat::Main, Seat::Child] {
            situation.seat = seat;
            assert_eq!(stop(&situation), StopVerdict::Allow);
            for tool in ["ability_run", "ability_submit", "ability_cancel"] {
                let call = ToolCall::read(Client::ClaudeCode, &format!("mcp__abide__{tool}"), &map(&[]));
                assert!(is_denied(&judge(&situation, &call)), "{level:?} {tool}");
            }
            let call =
                ToolCall::read(Client::ClaudeCode, "Bash", &map(&[("command", text("abide approve"))]));
            assert!(is_denied(&judge(&situation, &call)), "{level:?}");
        }
    }
}

#[test]
fn an_agent_never_approves() {
    assert_eq!(approve(Asker::Human), Verdict::Allow);
    assert!(is_denied(&approve(Asker::Agent)));
}

#[test]
fn a_denial_says_what_why_and_what_to_do_instead() {
    let situation = running("deploy", Enforcement::Strict, step(StepType::Agent, only(&["Read"])));
    insta::assert_debug_snapshot!(judge(&situation, &bash("cargo test")), @r#"
    Deny {
        why: "`Bash` is not part of step `review`, which is active in the run of `deploy` (1 of 4 steps done, strict)",
        instead: "do step `review`: Review the build.; it grants Read. When it is done, call `ability_submit`",
    }
    "#);
    insta::assert_debug_snapshot!(judge(&free(), &bash("cd x && git push")), @r#"
    Deny {
        why: "`Bash(git push *)` is reserved for runs of the ability `deploy`",
        instead: "run the ability `deploy` with `ability_run`",
    }
    "#);
    insta::assert_debug_snapshot!(judge(&free(), &bash("python3 -c 'import os'")), @r#"
    Deny {
        why: "this could be `Bash(./deploy.sh *)`, which is reserved for runs of the ability `deploy`: `python3` is given code, which could run anything",
        instead: "if it is something else, write the command plainly, without code, variables or wildcards that decide what runs; otherwise run the ability `deploy` with `ability_run`",
    }
    "#);
    insta::assert_debug_snapshot!(stop(&situation), @r#"
    Refuse {
        why: "the run of `deploy` (1 of 4 steps done, strict) is not done, 3 of its steps are left; do step `review`: Review the build.; it grants Read. When it is done, call `ability_submit`",
    }
    "#);
}

#[test]
fn normal_lets_a_shell_command_pass_that_provably_only_reads() {
    let situation = running("build", Enforcement::Normal, step(StepType::Script, Grants::Own));
    for reads in [
        "ls -la",
        "git status && git diff | head",
        "cat a | grep b | wc -l",
        "find . -name '*.rs'",
        "sed -n '1,5p' x",
        "awk '{print $1}' x",
        "cd src && ls 2>/dev/null",
        "timeout 5 cat x",
        "bash -c 'ls | head'",
    ] {
        assert_eq!(judge(&situation, &bash(reads)), Verdict::Allow, "{reads}");
    }
    for changes in [
        "touch x",
        "ls > x",
        "git checkout x",
        "git branch -D x",
        "git diff --output=x",
        "git -c core.pager=x log",
        "find . -delete",
        "find . -exec rm {} \\;",
        "sed -i s/a/b/ x",
        "sed -ni s/a/b/p x",
        "sort -o x y",
        "./ls",
        "cat x | tee y",
        "python3 x.py",
        "$X",
        "make",
        "PATH=. ls",
        "rg --pre ./x y",
        "tree -o x",
        "uniq a b",
        "",
    ] {
        assert!(is_denied(&judge(&situation, &bash(changes))), "{changes}");
    }
}
