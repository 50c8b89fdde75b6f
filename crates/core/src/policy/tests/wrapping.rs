//! Commands made from a known intent by random wrapping, so that a test knows what they do without reading them.

/// A small generator of random numbers: the same seed gives the same commands.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    pub(super) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Runs what `deploy` reserves.
    Deploy,
    /// Answers an approval.
    Approve,
    /// Changes the definition or a script of an ability.
    ChangeDefinition,
    /// Changes abide's state, or the settings that put the gate in place.
    ChangeState,
    /// Writes into a folder that only a run may write into.
    WriteReserved,
    /// Changes a file of the project.
    Change,
    /// Only looks.
    Look,
}

/// A command with what it does.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) intent: Intent,
    pub(super) command: String,
    /// Whether all of it can be followed, so that a harmless one must not be denied.
    pub(super) plain: bool,
}

/// Makes a command with an intent.
pub(super) fn make(intent: Intent, dice: &mut Dice) -> Made {
    let words: Vec<String> = words(intent, dice).iter().map(|word| spelled(word, dice)).collect();
    let mut plain = intent != Intent::WriteReserved;
    let mut command = words.join(" ");
    for _ in 0..dice.below(3) {
        command = launched(&command, dice);
    }
    let run = matches!(intent, Intent::Deploy | Intent::Approve);
    for _ in 0..dice.below(4) {
        command = if run && dice.chance(30) {
            plain = false;
            told(&command, dice)
        } else {
            enclosed(&command, dice, &mut plain)
        };
    }
    Made { intent, command, plain }
}

/// Returns the words of a simple command with an intent.
pub(super) fn words(intent: Intent, dice: &mut Dice) -> &'static [&'static str] {
    match intent {
        Intent::Deploy => dice.one_of(&[
            &["./deploy.sh"][..],
            &["./deploy.sh", "production"],
            &["/project/deploy.sh", "x"],
            &["src/../deploy.sh"],
            &["sh", "deploy.sh"],
            &["bash", "-x", "./deploy.sh", "y"],
            &["git", "push"],
            &["git", "push", "origin", "main"],
            &["git", "-C", ".", "push"],
            &["git", "--no-pager", "push"],
            &["/usr/bin/git", "push"],
        ]),
        Intent::Approve => dice.one_of(&[
            &["abide", "approve", "0192f0c1"][..],
            &["abide", "reject", "0192f0c1", "--reason", "x"],
            &["/usr/local/bin/abide", "approve", "x"],
            &["abide", "--json", "cancel", "x"],
        ]),
        Intent::ChangeDefinition => dice.one_of(&[
            &["rm", "-rf", ".abide"][..],
            &["sed", "-i", "s/a/b/", ".abide/abilities/deploy/ability.yaml"],
            &["tee", "/project/.abide/abilities/deploy/scripts/x.sh"],
            &["truncate", "-s", "0", ".abide/abilities/deploy/ability.yaml"],
        ]),
        Intent::ChangeState => dice.one_of(&[
            &["rm", "-r", "/home/ada/.local/share/abide"][..],
            &["touch", "/home/ada/.local/share/abide/runs.db"],
            &["cp", "x", "src/../.claude/settings.json"],
            &["sqlite3", "/home/ada/.local/share/abide/runs.db", "delete from events"],
        ]),
        Intent::WriteReserved => dice.one_of(&[
            &["touch", "infra/x"][..],
            &["tee", "/project/infra/a/b"],
            &["cp", "-r", "a", "infra"],
            &["mv", "a", "infra"],
            &["rm", "-rf", "infra"],
            &["tar", "xf", "x", "-C", "infra"],
            &["git", "checkout", "x", "--", "infra"],
            &["sed", "w infra/x", "f"],
            &["gawk", "-i", "inplace", "1", "infra/x"],
            &["sed", "-i", "s/a/b/", "src/../infra/x"],
            &["dd", "if=x", "of=infra/x"],
        ]),
        Intent::Change => dice.one_of(&[
            &["touch", "src/x"][..],
            &["cargo", "build"],
            &["mkdir", "-p", "a/b"],
            &["npm", "run", "build"],
            &["./build.sh"],
            &["git", "commit", "-m", "x"],
            &["sed", "-i", "s/a/b/", "src/x"],
        ]),
        Intent::Look => dice.one_of(&[
            &["ls", "-la"][..],
            &["cat", "deploy.sh"],
            &["git", "status"],
            &["grep", "-r", "deploy", "."],
            &["echo", "git", "push"],
            &["find", ".", "-name", "x"],
        ]),
    }
}

/// Spells a word in one of the ways that a shell takes for the same.
fn spelled(word: &str, dice: &mut Dice) -> String {
    if !dice.chance(40) {
        return if word.contains(' ') { format!("'{word}'") } else { word.to_owned() };
    }
    let at = dice.below(word.len());
    let (head, tail) = word.split_at(at);
    match dice.below(6) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 if !word.contains(' ') => format!("\"{head}\"{tail}"),
        3 if !word.contains(' ') => format!("{head}''{tail}"),
        4 => format!("$'{word}'"),
        5 if !word.contains(' ') => format!("{head}\\{tail}"),
        _ => format!("'{head}'\"{tail}\""),
    }
}

/// Puts a program in front that runs a simple command.
fn launched(command: &str, dice: &mut Dice) -> String {
    let before = dice.one_of(&[
        "env ",
        "env A=1 B=2 ",
        "nohup ",
        "timeout 5 ",
        "timeout -k 3 1m ",
        "nice -n 5 ",
        "setsid ",
        "stdbuf -oL ",
        "command ",
        "sudo ",
        "sudo -u root ",
        "exec ",
        "/usr/bin/env ",
        "A=1 ",
    ]);
    // An assignment can only stand first.
    if before == "A=1 " || !command.starts_with("A=1 ") {
        format!("{before}{command}")
    } else {
        command.to_owned()
    }
}

fn quoted(command: &str) -> String {
    format!("'{}'", command.replace('\'', r"'\''"))
}

fn double_quoted(command: &str) -> String {
    let mut text = String::from("\"");
    for character in command.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
    text
}

/// Puts a whole line into something that runs it.
fn enclosed(command: &str, dice: &mut Dice, plain: &mut bool) -> String {
    let end = format!("END{}", dice.below(1_000_000));
    match dice.below(27) {
        0 => format!("({command}\n)"),
        1 => format!("{{ {command}\n}}"),
        2 => format!("ls; {command}"),
        3 => format!("true && {command}"),
        4 => format!("false || {command}"),
        5 => format!("if true; then {command}\nfi"),
        6 => format!("for i in 1; do {command}\ndone"),
        7 => format!("while true; do {command}\nbreak; done"),
        8 => format!("f() {{ {command}\n}}; f"),
        9 => format!("case x in *) {command}\n;; esac"),
        10 => format!("echo $({command}\n)"),
        11 => format!("echo \"a $({command}\n) b\""),
        12 => format!("X=$({command}\n)"),
        13 => format!("sh -c {}", quoted(command)),
        14 => format!("bash -lc {}", double_quoted(command)),
        15 => format!("eval {}", quoted(command)),
        16 => format!("cd src && cd .. && {command}"),
        17 => format!("sh <<'{end}'\n{command}\n{end}"),
        18 => format!("# a comment\n{command}"),
        19 => format!("echo 'a; b' | cat; {command}"),
        20 => format!("ls & {command}"),
        21 => format!("[[ -n x ]] && {command}"),
        22 => format!("trap {} EXIT", quoted(command)),
        // These cannot be followed, and are therefore denied wherever something could be reserved.
        23 => {
            *plain = false;
            format!("V={}; eval \"$V\"", quoted(command))
        }
        24 => {
            *plain = false;
            format!("echo {} | sh", quoted(command))
        }
        25 => {
            *plain = false;
            format!("{command} | sh")
        }
        _ => {
            *plain = false;
            format!(
                "python3 -c \"import os; os.system({})\"",
                quoted(command).replace(['"', '\\', '$', '`'], "")
            )
        }
    }
}

/// Tells a whole line to a program that runs it, where no list of programs says that it does.
fn told(command: &str, dice: &mut Dice) -> String {
    let end = format!("END{}", dice.below(1_000_000));
    let text = quoted(command);
    match dice.below(20) {
        0 => format!("mytool --on-done={text}"),
        1 => format!("mytool -x{text}"),
        2 => format!("mytool done:{text}"),
        3 => format!("mytool a=b,run={text}"),
        4 => format!("mytool {text} --fast"),
        5 => format!("X_HOOK={text} mytool"),
        6 => format!("export X_HOOK={text}; mytool"),
        7 => format!("env X_HOOK={text} mytool"),
        8 => format!("ssh -o ProxyCommand={text} host true"),
        9 => format!("git rebase -x{text} main"),
        10 => format!("git rebase --exe {text} main"),
        11 => format!("git config core.pager {text}"),
        12 => format!("script -qc {text} /dev/null < /dev/null"),
        13 => format!("echo x | xargs -rI{{}} sh -c {text}"),
        14 => format!("bash /dev/fd/3 3<<'{end}'\n{command}\n{end}"),
        15 => format!("cat > t.sh <<'{end}'\n{command}\n{end}\nsh t.sh"),
        16 => format!("make -f - <<'{end}'\nall:\n\t{command}\n{end}"),
        17 => format!("mytool <<'{end}'\n{command}\n{end}"),
        18 => format!("rsync -ae {text} a h:b"),
        _ => format!("tar cf x y --checkpoint=1 --checkpoint-a=exec={text}"),
    }
}
