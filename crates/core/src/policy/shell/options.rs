//! Options of programs that take data: which of them run something.

use super::Blind;
use super::programs::{EXECUTING_OPTIONS, runs};
use super::reader::Reader;
use crate::policy::glob::is_known;
use crate::policy::path::name_of;

/// Returns the value of a short option that stands in a cluster, such as `-qc CODE` and `-qcCODE`, and whether it is the next word.
///
/// `valued` are the letters of the options that take a value: what follows one of them is no option.
pub(super) fn in_cluster<'w>(
    word: &'w str,
    next: Option<&'w String>,
    letter: char,
    valued: &str,
) -> Option<(Option<&'w str>, bool)> {
    let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
    let at = cluster.find(|found| found == letter || valued.contains(found))?;
    let joined = cluster[at..].strip_prefix(letter)?;
    Some(if joined.is_empty() { (next.map(String::as_str), true) } else { (Some(joined), false) })
}

/// Returns the value of a long option, which may be cut short (`--ex` for `--exec`), and whether it is the next word.
pub(super) fn long<'w>(
    word: &'w str,
    next: Option<&'w String>,
    option: &str,
) -> Option<(Option<&'w str>, bool)> {
    let (name, joined) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let fits = name.len() > 3 && name.starts_with("--") && option.starts_with(name);
    fits.then(|| joined.map_or((next.map(String::as_str), true), |joined| (Some(joined), false)))
}

impl Reader<'_> {
    /// Looks at the options with which programs that take data run others: `rg --pre COMMAND`.
    pub(super) fn inert(&mut self, words: &[String]) {
        let name = name_of(&words[0]).to_ascii_lowercase();
        match name.as_str() {
            // A name that stands for another file from now on.
            "hash" if words[1..].iter().any(|word| word.starts_with('-') && word.contains('p')) => {
                return self.world.blind(Blind::Computed(name));
            }
            // From here on variables are told to programs.
            "set" => {
                let all = |word: &String| word.starts_with('-') && word.contains('a') || word == "allexport";
                self.world.exports.found |= words[1..].iter().any(all);
            }
            "test" | "[" | "wait" => return self.subscripts(words, &["-v", "-R", "-p"]),
            _ => {}
        }
        for (at, word) in words.iter().enumerate().skip(1) {
            let (option, joined) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word.as_str(), words.get(at + 1).map(String::as_str)),
            };
            if EXECUTING_OPTIONS.contains(&option) {
                self.executed(&name, joined);
            }
        }
        let Some(options) = runs(&name) else { return };
        // `tar cIf COMMAND FILE`: letters without a dash, and their values in a row.
        let old = words.get(1).is_some_and(|word| {
            name.ends_with("tar")
                && !word.starts_with('-')
                && word.contains(|letter| options.short.contains(letter))
        });
        let manages = words[1..].iter().any(|word| options.commands.contains(&word.as_str()));
        for (at, word) in words.iter().enumerate().skip(1) {
            let next = words.get(at + 1);
            for option in options.long {
                if let Some((value, _)) = long(word, next, option) {
                    self.executed(&name, value);
                }
            }
            for letter in options.short.chars() {
                if let Some((value, _)) = in_cluster(word, next, letter, "") {
                    self.executed(&name, value);
                }
            }
            if word.starts_with(['-', '+']) && word.len() > 2 {
                self.parts(word, &[]);
            }
            if old || manages {
                self.value(word);
                self.parts(word, &words[at + 1..]);
            }
        }
    }

    fn executed(&mut self, program: &str, code: Option<&str>) {
        match code {
            Some(code) if is_known(code) => self.value(code.strip_prefix("exec=").unwrap_or(code)),
            _ => self.world.blind(Blind::Computed(program.to_owned())),
        }
    }

    /// Looks at names of variables that a builtin takes: a subscript in one is evaluated, `a[$(…)]`.
    pub(super) fn subscripts(&mut self, words: &[String], options: &[&str]) {
        for (at, word) in words.iter().enumerate().skip(1) {
            let named = options.is_empty() || options.contains(&words[at - 1].as_str());
            let joined = options.iter().any(|option| word.starts_with(option));
            if (named || joined) && super::mentions::substitutes(word) {
                self.mention(word);
            }
        }
    }
}
