//! What a shell line writes: the words that may name a file or folder that is changed, and how far down.

use super::glob::{is_known, is_unknown};
use super::guard::Reach;
use super::path::name_of;
use super::shell::{Command, Line, Origin, Program, only_reads, program, takes_trees};
use std::borrow::Cow;

/// Whether a command changes what is below a folder that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trees {
    /// It changes what it names.
    No,
    /// Nobody knows: it is taken to change what is below a folder of abide or of a client, and of no other.
    Held,
    /// It does.
    All,
}

impl Trees {
    /// Returns whether it changes what is below a folder, which may be one of abide or of a client.
    pub(super) fn reaches(self, held: bool) -> bool {
        match self {
            Self::No => false,
            Self::Held => held,
            Self::All => true,
        }
    }
}

type Words<'l> = Vec<(Cow<'l, str>, Reach<'l>)>;

/// Returns every word of a line that may name a file that is written.
pub(super) fn written(line: &Line) -> impl Iterator<Item = (Cow<'_, str>, Reach<'_>)> {
    let redirected = line.writes.iter().map(|(word, folders)| {
        let reach = Reach { folders, trees: Trees::No, unknown: true, names: Vec::new() };
        (Cow::Borrowed(word.as_str()), reach)
    });
    let commands =
        || line.commands.iter().filter(|command| matches!(command.origin, Origin::Runs | Origin::Task));
    let fed = commands().any(takes_what_it_is_fed);
    redirected.chain(commands().flat_map(move |command| arguments(command, fed)))
}

/// Returns the words of a command that another command of the line may be given to change: `ls x | xargs rm`, `rm $(ls x)`.
fn fed_to_others<'l>(command: &'l Command, name: &str) -> Words<'l> {
    let words = &command.words[1..];
    let trees = if program(name) == Program::Find { Trees::All } else { Trees::No };
    let names = if trees == Trees::All { named_by_find(words) } else { Vec::new() };
    let reach = || Reach { folders: &command.folders, trees, unknown: false, names: names.clone() };
    words
        .iter()
        .flat_map(|word| word.split_whitespace())
        .filter(|word| !word.starts_with('-') && !names.contains(word))
        .map(|word| (Cow::Borrowed(word), reach()))
        .collect()
}

/// Returns whether a command changes files whose names it is given by another one.
fn takes_what_it_is_fed(command: &Command) -> bool {
    let Some(first) = command.words.first().filter(|first| is_known(first)) else { return false };
    let name = name_of(first).to_ascii_lowercase();
    let words = &command.words[1..];
    match program(&name) {
        Program::Wrapper(wrapper) if matches!(wrapper.name, "xargs" | "gxargs" | "parallel") => {
            !words.iter().any(|word| only_reads(name_of(word)))
        }
        Program::Sed if !in_place(words) => false,
        Program::Inert | Program::Sed => {
            !only_reads(&name) && name != "abide" && words.iter().any(|word| is_unknown(word))
        }
        Program::Interpreter(_) => in_place(words) && words.iter().any(|word| is_unknown(word)),
        _ => false,
    }
}

/// Returns the arguments of a command that it may write.
fn arguments(command: &Command, fed: bool) -> Words<'_> {
    let first = &command.words[0];
    let name = if is_known(first) { name_of(first).to_ascii_lowercase() } else { String::new() };
    let words = &command.words[1..];
    let has =
        |options: &[&str]| words.iter().any(|word| options.iter().any(|option| word.starts_with(option)));
    let reach = |trees, unknown| Reach { folders: &command.folders, trees, unknown, names: Vec::new() };
    let known = program(&name);
    let (trees, unknown) = match known {
        // What these run was taken out of them and is looked at by itself.
        Program::Wrapper(_)
        | Program::Shell
        | Program::Eval
        | Program::Source
        | Program::Folder
        | Program::Declare
        | Program::Receive
        | Program::Alias
        | Program::Trap => return Vec::new(),
        Program::Awk if !awk_in_place(words) => return Vec::new(),
        Program::Sed if !in_place(words) => return Vec::new(),
        Program::Find if !has(&["-delete", "-fprint", "-fls"]) => {
            return if fed || starts_a_writer(words) { fed_to_others(command, &name) } else { Vec::new() };
        }
        Program::Git => return git(command),
        _ if only_reads(&name) => {
            return if fed { fed_to_others(command, &name) } else { Vec::new() };
        }
        _ if name == "abide" => return Vec::new(),
        _ if removes(&name, words) => (Trees::All, true),
        // Only the last one is written.
        _ if matches!(name.as_str(), "cp" | "install" | "rsync" | "scp" | "link") => {
            return copied(command, &name);
        }
        _ if takes_trees(&name) => (Trees::All, true),
        _ => {
            let writes = matches!(name.as_str(), "tee" | "dd" | "truncate" | "sed" | "patch" | "touch")
                || known == Program::Awk;
            (if known == Program::Unknown || packs(&name) { Trees::Held } else { Trees::No }, writes)
        }
    };
    let mut found: Words<'_> = Vec::new();
    for word in words {
        found.push((Cow::Borrowed(word), reach(trees, unknown)));
        // `--output=FILE`, `of=FILE`, `-oFILE`
        if let Some((_, value)) = word.split_once('=') {
            found.push((Cow::Borrowed(value), reach(trees, unknown)));
        } else if word.starts_with('-')
            && !word.starts_with("--")
            && word.len() > 2
            && word.is_char_boundary(2)
        {
            found.push((Cow::Borrowed(&word[2..]), reach(trees, false)));
        }
    }
    for folder in unpacked_into(&name, words) {
        found.push((Cow::Borrowed(folder), reach(Trees::All, true)));
    }
    if known == Program::Find && !words.iter().any(|word| !word.starts_with('-')) {
        found.push((Cow::Borrowed("."), reach(Trees::All, true)));
    }
    found
}

/// Returns what a command that copies writes: its target, and what comes to lie in it.
fn copied<'l>(command: &'l Command, name: &str) -> Words<'l> {
    let words = &command.words[1..];
    let reach = |trees| Reach { folders: &command.folders, trees, unknown: true, names: Vec::new() };
    let short = |letters: &[char]| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    let long = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let recursive = match name {
        "cp" => short(&['r', 'R', 'a']) || long(&["--recursive", "--archive"]),
        "rsync" => short(&['r', 'a', 'd']) || long(&["--recursive", "--archive", "--dirs", "--delete"]),
        "scp" => short(&['r']),
        _ => false,
    };
    let plain: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    // `-rt FOLDER` too; to `rsync` and `scp` the letter says something else.
    let names_target = |option: &str| {
        let cluster = option.starts_with('-') && !option.starts_with("--") && option.ends_with('t');
        option == "--target-directory" || cluster && matches!(name, "cp" | "install")
    };
    let pairs = words.iter().zip(words.iter().skip(1));
    let named: Vec<&str> = words
        .iter()
        .filter_map(|word| word.strip_prefix("--target-directory="))
        .chain(pairs.filter(|(option, _)| names_target(option)).map(|(_, word)| word.as_str()))
        .collect();
    let targets: Vec<&str> =
        if named.is_empty() { plain.last().copied().into_iter().collect() } else { named };
    let onto = name == "cp" && (short(&['T']) || long(&["--no-target-directory"]));
    let mut found: Words<'l> = Vec::new();
    for target in targets {
        found.push((Cow::Borrowed(target), reach(Trees::No)));
        for source in plain.iter().filter(|source| recursive && **source != target) {
            let last = name_of(source);
            let holds_all = onto
                || matches!(last, "." | ".." | "")
                || !is_known(last)
                || name == "rsync" && source.ends_with('/');
            if holds_all {
                found.push((Cow::Borrowed(target), reach(Trees::All)));
            } else {
                found.push((
                    Cow::Owned(format!("{}/{last}", target.trim_end_matches('/'))),
                    reach(Trees::All),
                ));
            }
        }
    }
    found
}

/// Returns whether a program takes away what it is given, or what its options say that it takes away.
fn removes(name: &str, words: &[String]) -> bool {
    let short = |letter: char| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let long = |option: &str| words.iter().any(|word| word.starts_with(option));
    match name {
        "rimraf" | "trash" | "trash-put" | "gvfs-trash" | "srm" | "wipe" | "rename" | "del" => true,
        "rsync" => long("--remove-source"),
        "gio" => words.iter().any(|word| matches!(word.as_str(), "trash" | "remove" | "move")),
        "tar" | "bsdtar" | "gtar" => long("--remove-f"),
        "zip" => short('m') || long("--move"),
        "gzip" | "gunzip" | "bzip2" | "xz" | "zstd" => short('r') || long("--recursive"),
        _ => false,
    }
}

/// Returns whether a program unpacks, so that it may write anything below a folder that it is given.
fn packs(name: &str) -> bool {
    matches!(name, "tar" | "bsdtar" | "gtar" | "unzip" | "cpio" | "zip")
}

/// Returns the folder into which a program is told to unpack.
fn unpacked_into<'l>(name: &str, words: &'l [String]) -> Vec<&'l str> {
    let tar = matches!(name, "tar" | "bsdtar" | "gtar");
    let extracts = tar
        && words.iter().enumerate().any(|(place, word)| match word.strip_prefix("--") {
            Some(long) => matches!(long, "extract" | "get"),
            None => (place == 0 || word.starts_with('-')) && word.contains('x'),
        });
    if !extracts && name != "unzip" {
        return Vec::new();
    }
    let option = if tar { "-C" } else { "-d" };
    let after = words.iter().zip(words.iter().skip(1));
    let after = after
        .filter(|(word, _)| *word == option || *word == "--directory")
        .map(|(_, folder)| folder.as_str());
    let joined = words
        .iter()
        .filter_map(|word| word.strip_prefix("--directory=").or_else(|| word.strip_prefix(option)));
    after.chain(joined.filter(|folder| !folder.is_empty())).collect()
}

/// Returns whether what `find` starts may change the files that it finds.
fn starts_a_writer(words: &[String]) -> bool {
    let starts = |word: &&String| {
        matches!(
            word.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let Some(at) = words.iter().position(|word| starts(&word)) else { return false };
    let Some(started) = words.get(at + 1) else { return false };
    let rest = words.get(at + 2..).unwrap_or_default();
    let name = name_of(started).to_ascii_lowercase();
    // What a shell runs stands beside it.
    let stays = only_reads(&name)
        || program(&name) == Program::Shell
        || name == "sed" && !in_place(rest)
        || name == "awk" && !awk_in_place(rest);
    !stays
}

/// Returns what `find` says that the files are called.
fn named_by_find(words: &[String]) -> Vec<&str> {
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .filter(|(option, _)| matches!(option.as_str(), "-name" | "-iname"))
        .map(|(_, name)| name.as_str())
        .collect()
}

/// Returns whether `sed` is told to write the files that it reads.
pub(super) fn in_place(words: &[String]) -> bool {
    let short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('i');
    // GNU programs know an option by any beginning that no other has.
    let long = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        name.len() > 2 && "--in-place".starts_with(name)
    };
    words.iter().any(|word| short(word) || long(word) || !is_known(word) && word.starts_with('-'))
}

/// Returns whether `awk` is told to write the files that it reads.
fn awk_in_place(words: &[String]) -> bool {
    let extension = |word: &str| word.contains("inplace");
    let pairs = words.iter().zip(words.iter().skip(1));
    let apart = |(option, value): (&String, &String)| {
        (option == "-i" || option.len() > 2 && "--include".starts_with(option.as_str()))
            && (extension(value) || !is_known(value))
    };
    pairs.into_iter().any(apart)
        || words.iter().any(|word| (word.starts_with("-i") || word.starts_with("--i")) && extension(word))
}

/// Returns what a subcommand of git replaces or removes.
fn git(command: &Command) -> Words<'_> {
    let words = &command.words[1..];
    let destroys = ["checkout", "restore", "rm", "mv", "clean", "apply", "sparse-checkout"];
    let Some(at) = words.iter().position(|word| destroys.contains(&word.as_str())) else { return Vec::new() };
    let reach = || Reach { folders: &command.folders, trees: Trees::All, unknown: false, names: Vec::new() };
    let mut found: Words<'_> =
        words[at + 1..].iter().map(|word| (Cow::Borrowed(word.as_str()), reach())).collect();
    if words[at] == "clean" && !names_its_paths(&words[at + 1..]) {
        found.push((Cow::Borrowed("."), reach()));
    }
    found
}

/// Returns whether `git clean` is told what to clean: without a path it cleans all that is below.
fn names_its_paths(words: &[String]) -> bool {
    // What follows `-e` is a pattern that only looks like a path, and a word that is not known may come to nothing.
    let option = |word: &String| word.starts_with('-');
    let excludes = |word: &String| {
        word.starts_with("--e") || !word.starts_with("--") && option(word) && word.contains('e')
    };
    words.iter().all(|word| is_known(word) && !word.is_empty() && !excludes(word))
        && words.iter().any(|word| !option(word))
}
