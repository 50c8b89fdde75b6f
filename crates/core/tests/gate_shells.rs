//! The gate against real shells: whatever a shell takes for a reserved command, the gate does too.
//!
//! Random scripts are run in a project whose `./deploy.sh` and `git push` leave a mark. Where the mark appears, the
//! verdict about that very text must have been a denial.
#![expect(
    clippy::disallowed_methods,
    reason = "what a shell makes of a script can only be learnt from the shell; processes and files are the test"
)]
#![cfg(unix)]

use abide_core::definition::Protect;
use abide_core::policy::{
    AgentRights, Arguments, Client, NoLinks, Place, Reserved, Seat, Session, Situation, Standing, ToolCall,
    Verdict, verdict,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// How many scripts each shell runs.
const SCRIPTS: u64 = 1_500;

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Simple commands, most of which run something reserved.
const COMMANDS: &[&str] = &[
    "./deploy.sh",
    "./deploy.sh a b",
    "sh deploy.sh",
    "sh ./deploy.sh",
    "git push",
    "git -C . push",
    "git --no-pager push",
    "\"./dep\"loy.sh",
    "g\"\"it push",
    "\\git pu\\sh",
    "$'\\x2e/deploy.sh'",
    "$X",
    "$X a",
    "\"$X\"",
    "${X} b",
    "$Y push",
    "git $Z",
    "$Y $Z",
    "$X$Y$Z",
    "./$W.sh",
    "$Q",
    "\"$@\"",
    "$1 $2",
    "${A[@]}",
    "\"${A[@]}\"",
    "${X:-./deploy.sh}",
    "${NONE:-./deploy.sh}",
    "${NONE:-git} push",
    "${X#x}",
    "${X%y}",
    "${!V}",
    "./dep*.sh",
    "./d?ploy.sh",
    "./[d]eploy.sh",
    "./[!x]eploy.sh",
    "./{deploy,x}.sh",
    "{git,push}",
    "{./deploy.sh,a}",
    "$PWD/deploy.sh",
    "$(pwd)/deploy.sh",
    "`pwd`/deploy.sh",
    "~+/deploy.sh",
    "src/../deploy.sh",
    "../project/deploy.sh",
    ". ./deploy.sh",
    "eval $X",
    "eval \"$Q\"",
    "eval git push",
    "eval 'git' 'push'",
    "sh -c \"$Q\"",
    "sh -c '$0' ./deploy.sh",
    "sh -c '\"$@\"' x git push",
    "echo \"$Q\" | sh",
    "echo ./deploy.sh | xargs",
    "echo ./deploy.sh | xargs -I{} {}",
    "echo push | xargs git",
    "echo a | xargs ./deploy.sh",
    "find . -name deploy.sh -exec {} ';'",
    "find src -maxdepth 0 -exec git push ';'",
    "env ./deploy.sh",
    "env A=1 git push",
    "A=1 git push",
    "X=ls $X",
    "command git push",
    "exec ./deploy.sh",
    "timeout 5 ./deploy.sh",
    "nice git push",
    "nohup ./deploy.sh",
    "trap ./deploy.sh EXIT",
    "ls",
    "true",
    "false",
    "echo git push",
    "echo './deploy.sh'",
    "echo \"git push; ./deploy.sh\"",
    "cat deploy.sh",
    "test -n \"$X\"",
    "git status",
    "cd src",
    "cd ..",
    "cd nowhere",
    "cd src && ../deploy.sh",
    "cd src; ./deploy.sh",
    "cd ../project",
    "X=./deploy.sh",
    "X=ls",
    "X='git push'",
    "X=$(echo ./deploy.sh)",
    "Y=git",
    "Z=push",
    "W=deploy",
    "V=X",
    "Q='git push'",
    "Q='X=./deploy.sh; $X'",
    "X+=y",
    "X=x$X",
    "A=(git push)",
    "A=(./deploy.sh)",
    "A[0]=./deploy.sh",
    "set -- git push",
    "set -- ./deploy.sh",
    "export X=./deploy.sh",
    "read X <<E\n./deploy.sh\nE\n",
    "IFS=,",
    "X=git,push",
    "alias ls=./deploy.sh",
    "unset X",
    "echo $((1+1))",
    "echo ${#X}",
    "echo \"${X:-$(./deploy.sh)}\"",
    "echo $(( $(git push; echo 1) ))",
    "X='a[$(./deploy.sh)]'; echo $((X))",
    "((git push))",
    "( (git push) )",
    "$( (./deploy.sh) )",
    "[[ -n $(./deploy.sh) ]]",
    "cat <<E\n$(./deploy.sh)\nE\n",
    "cat <<'E'\n$(./deploy.sh)\nE\n",
    "sh <<E\ngit push\nE\n",
    "sh <<'E'\n./deploy.sh\nE\n",
    "sh < deploy.sh",
    "bash <<< 'git push'",
    "# git push\n",
    "ls # \\\ngit push",
    "echo a\\\n git push",
    "g\\\nit push",
    "echo '\n./deploy.sh\n'",
    "echo \"\n./deploy.sh\n\"",
    "echo \"`git push`\"",
    "echo `echo \\`git push\\``",
    "echo \"$(echo \"$(./deploy.sh)\")\"",
    "echo '$(./deploy.sh)'",
    "echo \"\\$(./deploy.sh)\"",
    "echo \\$(./deploy.sh)",
    "echo ${X:-'a}b'} git push",
    "echo \"${X:-'}\" ; git push ; echo \"'}\"",
    "awk 'BEGIN { system(\"./deploy.sh\") }'",
    "sed -n '1e ./deploy.sh' deploy.sh",
    "sed 's/.*/.\\/deploy.sh/e' deploy.sh",
];

/// Ways to put one or two commands together; nothing loops without an end, nothing runs in the background.
const SHAPES: &[&str] = &[
    "1; 2",
    "1\n2",
    "1 && 2",
    "1 || 2",
    "1 | 2",
    "(1\n)",
    "{ 1\n}",
    "( 1\n); 2",
    "if 1\nthen 2\nfi",
    "if 1\nthen :; else 2\nfi",
    "for X in ./deploy.sh ls; do 1\ndone",
    "for i in 1 2; do 1\n2\ndone",
    "case a in a) 1\n;; *) 2\n;; esac",
    "case a in (b) 1\n;; (a) 2\nesac",
    "F() { 1\n}; 2\nF a",
    "F() { 1\n}; F git push",
    "F() ( 1\n); F ./deploy.sh",
    "echo $(1\n)",
    "echo \"$(1\n)\"",
    "X=$(1\n); 2",
    "! 1",
    "1 2>&1",
    "1 > out",
    "> out 1",
    "1;2;1",
    "(1\n) | (2\n)",
    "{ 1\n} && 2",
    "true && { 1\n} || 2",
    "[ -n a ] && 1",
];

fn script(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.below(4) == 0 {
        return dice.one_of(COMMANDS).to_owned();
    }
    let shape = dice.one_of(SHAPES);
    let (first, second) = (script(dice, depth - 1), script(dice, depth - 1));
    let mut text = String::new();
    for character in shape.chars() {
        match character {
            // The digits of `2>&1` and of items stay.
            '1' if !text.ends_with(['&', 'n', ' ']) || text.ends_with("; ") || starts(&text) => {
                text.push_str(&first);
            }
            '2' if text.is_empty() || starts(&text) || text.ends_with(';') => text.push_str(&second),
            // A name of its own, or a function could call itself without an end.
            'F' => text.push_str(["f0", "f1", "f2", "f3"][depth.min(3)]),
            _ => text.push(character),
        }
    }
    text
}

/// Returns whether a command can begin here.
fn starts(text: &str) -> bool {
    let before = text.trim_end_matches([' ', '\n']);
    before.is_empty()
        || before.ends_with([';', '(', '{', '|', ')'])
        || before.ends_with("&&")
        || text.ends_with('\n')
        || ["if", "then", "else", "do", "!", "out"].iter().any(|word| before.ends_with(word))
}

/// Breaks a script a little, so that quotes and keywords stand where nobody expects them.
fn mutated(script: String, dice: &mut Dice) -> String {
    if dice.below(3) > 0 {
        return script;
    }
    let at = dice.below(script.chars().count() + 1);
    let cut = script.char_indices().nth(at).map_or(script.len(), |(cut, _)| cut);
    let (head, tail) = script.split_at(cut);
    let piece = dice.one_of(&[
        "'", "\"", "\\", " ", "\n", ";", "(", ")", "{", "}", "#", "$", "`", "''", "\\\n", "$X", "!",
    ]);
    format!("{head}{piece}{tail}")
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs scripts one after the other, each in a subshell of its own, and returns those that left a mark.
///
/// The scripts are random, so they must not reach anything: they remove nothing, write only `out`, send no signals and
/// leave nothing running. Keep it so.
fn marked(shell: &str, scripts: &[String]) -> (Vec<usize>, String) {
    let folder = std::env::temp_dir().join(format!("abide-gate-{shell}-{}", std::process::id()));
    let (project, bin) = (folder.join("project"), folder.join("bin"));
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(&bin).unwrap();
    let mark = folder.join("mark").to_str().unwrap().to_owned();
    executable(&project.join("deploy.sh"), &format!("#!/bin/sh\n: >> {mark}\n"));
    let git = "while :; do case \"$1\" in -C|-c) shift 2;; -*) shift;; *) break;; esac; done";
    executable(&bin.join("git"), &format!("#!/bin/sh\n{git}\n[ \"$1\" = push ] && : >> {mark}\n"));
    for (index, script) in scripts.iter().enumerate() {
        fs::write(folder.join(index.to_string()), script).unwrap();
    }
    let driver = format!(
        "i=0; while [ $i -lt {} ]; do ( trap - EXIT; set --; cd project; . ../$i ) </dev/null >/dev/null 2>&1; \
         if [ -e mark ]; then echo $i; rm -f mark; fi; i=$((i + 1)); done",
        scripts.len()
    );
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = Command::new("timeout")
        .args(["-s", "KILL", "100", shell])
        .env_clear()
        .env("PATH", path)
        .env("HOME", &project)
        .env("LC_ALL", "C")
        .args(["-c", &driver])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{shell} did not get through its scripts: {:?}", output.status);
    let root = project.to_str().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    (String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().unwrap()).collect(), root)
}

fn situation(root: &str) -> Situation {
    let reserved = |pattern: &str| Reserved {
        ability: "deploy".into(),
        pattern: Protect::parse(pattern).unwrap(),
        root: root.into(),
        standing: Standing::Current,
    };
    Situation {
        place: Place { root: root.to_owned(), cwd: root.to_owned(), home: Some(root.to_owned()) },
        session: Session::Free,
        seat: Seat::Main,
        agent: AgentRights::Any { except: Vec::new() },
        reserved: vec![reserved("Bash(./deploy.sh *)"), reserved("Bash(git push *)")],
        guarded: Vec::new(),
        processes: Vec::new(),
    }
}

fn is_denied(situation: &Situation, command: &str) -> bool {
    let arguments = Arguments { command: Some(command.to_owned()), ..Arguments::default() };
    let call = ToolCall { client: Client::ClaudeCode, name: "Bash".to_owned(), arguments };
    matches!(verdict(situation, &call, &NoLinks), Verdict::Deny { .. })
}

#[test]
fn what_a_shell_runs_the_gate_has_denied() {
    for (shell, seed) in [("bash", 1_u64), ("dash", 2)] {
        let mut scripts: Vec<String> = COMMANDS.iter().map(|command| (*command).to_owned()).collect();
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..SCRIPTS {
            let depth = 1 + dice.below(3);
            let script = script(&mut dice, depth);
            scripts.push(mutated(script, &mut dice));
        }
        let (marks, root) = marked(shell, &scripts);
        let situation = situation(&root);
        let open: Vec<&String> = marks
            .iter()
            .map(|index| &scripts[*index])
            .filter(|script| !is_denied(&situation, script))
            .collect();
        assert!(open.is_empty(), "{shell} ran {} reserved commands that were allowed: {open:#?}", open.len());
        let denied = scripts.iter().filter(|script| is_denied(&situation, script)).count();
        // Enough ran to mean something, and the gate did not simply deny everything.
        assert!(marks.len() * 4 > scripts.len(), "{shell}: only {} of {} ran", marks.len(), scripts.len());
        assert!(denied < scripts.len(), "{shell}: everything is denied");
    }
}
