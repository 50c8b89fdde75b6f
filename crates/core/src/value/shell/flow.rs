//! Which variables a value travels through, and whether one of them is evaluated somewhere.
//!
//! `N={{inputs.n}}; echo $((N))` runs a command that hides in the value, although the placeholder itself stands
//! in a harmless place. The scanner notes two things as ranges of the script: assignments ("what stands in
//! this range flows into that variable") and sinks ("whatever stands in this range is evaluated"). Names are
//! taken from the text without regard to quoting, which errs on the side of refusing.

use super::symbol::{Symbol, begins_name, continues_name};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// A name that the script mentions, as a number.
pub(super) type Name = usize;

/// The positional parameters, all in one.
const POSITIONAL: &[u8] = b"@";

/// Variables that a shell fills with whatever passed by.
const FILLED: [&[u8]; 8] =
    [b"_", b"REPLY", b"MAPFILE", b"OPTARG", b"BASH_REMATCH", b"PWD", b"OLDPWD", b"BASH_COMMAND"];

#[derive(Debug, Clone, Copy)]
struct Mention {
    at: usize,
    name: Name,
    /// Without a `$`, so that it is a reference only where the shell does arithmetic.
    bare: bool,
    /// Inside single quotes, where nothing expands at once.
    inert: bool,
}

/// Which mentions a sink evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluates {
    /// Arithmetic: every name, with `$` or without.
    Names,
    /// Only what is expanded with `$`, wherever it is quoted.
    Expansions,
    /// Only what is expanded with `$` at once.
    ExpansionsNow,
}

/// A range of the script whose content is evaluated.
#[derive(Debug, Clone)]
pub(super) struct Sink<Kind> {
    pub(super) range: Range<usize>,
    pub(super) evaluates: Evaluates,
    pub(super) kind: Kind,
}

/// How a placeholder reaches a sink.
#[derive(Debug, Clone)]
pub(super) struct Reached<Kind> {
    pub(super) placeholder: usize,
    pub(super) kind: Kind,
    /// The variable through which it does, unless it stands there itself.
    pub(super) variable: Option<String>,
}

/// Everything that is known about where values go.
#[derive(Debug)]
pub(super) struct Flow {
    names: BTreeMap<Vec<u8>, Name>,
    mentions: Vec<Mention>,
    placeholders: Vec<usize>,
    sources: HashMap<Name, Vec<Range<usize>>>,
    filled: HashSet<Name>,
    functions: HashSet<Name>,
    calls: Vec<(Name, Range<usize>)>,
}

impl Flow {
    /// Reads all names and placeholders of a script.
    pub(super) fn new(script: &[Symbol]) -> Self {
        let mut flow = Self {
            names: BTreeMap::new(),
            mentions: Vec::new(),
            placeholders: Vec::new(),
            sources: HashMap::new(),
            filled: HashSet::new(),
            functions: HashSet::new(),
            calls: Vec::new(),
        };
        let byte = |at: usize| match script.get(at) {
            Some(Symbol::Byte(byte)) => *byte,
            _ => 0,
        };
        let mut at = 0;
        while at < script.len() {
            let start = at;
            at += 1;
            match script[start] {
                Symbol::Value | Symbol::Raw => flow.placeholders.push(start),
                Symbol::Byte(first) if begins_name(first) => {
                    while continues_name(byte(at)) {
                        at += 1;
                    }
                    let text: Vec<u8> = (start..at).map(byte).collect();
                    let name = flow.name(&text);
                    let before = |distance: usize| start.checked_sub(distance).map_or(0, byte);
                    let braced = |distance: usize| before(distance) == b'{' && before(distance + 1) == b'$';
                    let expanded =
                        before(1) == b'$' || braced(1) || (matches!(before(1), b'!' | b'#') && braced(2));
                    flow.mentions.push(Mention { at: start, name, bare: !expanded, inert: false });
                }
                Symbol::Byte(b'$') => {
                    let braced = usize::from(byte(at) == b'{');
                    let marked = usize::from(braced == 1 && matches!(byte(at + 1), b'!' | b'#'));
                    let parameter = [byte(at + braced), byte(at + braced + marked)];
                    if parameter.iter().any(|byte| matches!(byte, b'@' | b'*' | b'0'..=b'9')) {
                        let name = flow.name(POSITIONAL);
                        flow.mentions.push(Mention { at: start, name, bare: false, inert: false });
                    }
                }
                Symbol::Byte(_) | Symbol::End => {}
            }
        }
        flow
    }

    /// Returns the number of a name.
    pub(super) fn name(&mut self, text: &[u8]) -> Name {
        if let Some(name) = self.names.get(text) {
            return *name;
        }
        let name = self.names.len();
        self.names.insert(text.to_vec(), name);
        if FILLED.contains(&text) {
            self.filled.insert(name);
        }
        name
    }

    /// Returns where the placeholders stand.
    pub(super) fn placeholders(&self) -> &[usize] {
        &self.placeholders
    }

    /// Returns the placeholders in a range, as their indices.
    pub(super) fn placeholders_in(&self, range: &Range<usize>) -> Range<usize> {
        let index = |at: usize| self.placeholders.partition_point(|placeholder| *placeholder < at);
        index(range.start)..index(range.end)
    }

    /// Notes that what stands in a range flows into a variable.
    pub(super) fn assign(&mut self, name: Name, range: Range<usize>) {
        self.sources.entry(name).or_default().push(range);
    }

    /// Notes that a variable may hold any value of the script.
    pub(super) fn fill(&mut self, name: Name) {
        self.filled.insert(name);
    }

    /// Notes that what stands in a range becomes positional parameters.
    pub(super) fn assign_positional(&mut self, range: Range<usize>) {
        let name = self.name(POSITIONAL);
        self.assign(name, range);
    }

    /// Notes a function's name.
    pub(super) fn define(&mut self, name: &[u8]) {
        let name = self.name(name);
        self.functions.insert(name);
    }

    /// Notes that a command was called with an argument, in case it turns out to be a function.
    pub(super) fn call(&mut self, command: Name, argument: Range<usize>) {
        self.calls.push((command, argument));
    }

    /// Notes that nothing in a range expands at once.
    pub(super) fn single_quoted(&mut self, range: &Range<usize>) {
        let mentions = self.mentions_in(range);
        for mention in &mut self.mentions[mentions] {
            mention.inert = true;
        }
    }

    fn mentions_in(&self, range: &Range<usize>) -> Range<usize> {
        let index = |at: usize| self.mentions.partition_point(|mention| mention.at < at);
        index(range.start)..index(range.end)
    }

    /// Makes the arguments of functions flow into the positional parameters; to be called once, at the end.
    pub(super) fn resolve_calls(&mut self) {
        for (command, argument) in std::mem::take(&mut self.calls) {
            if self.functions.contains(&command) {
                self.assign_positional(argument);
            }
        }
    }

    /// Returns how placeholders reach sinks, the direct ways first.
    pub(super) fn reached<Kind: Clone>(&self, sinks: &[Sink<Kind>]) -> Vec<Reached<Kind>> {
        let mut reached = Vec::new();
        let mut seen: HashMap<Name, (Kind, Name)> = HashMap::new();
        let mut queue = Vec::new();
        for sink in sinks {
            let direct = self.placeholders_in(&sink.range);
            reached.extend(direct.map(|placeholder| Reached {
                placeholder,
                kind: sink.kind.clone(),
                variable: None,
            }));
            for mention in &self.mentions[self.mentions_in(&sink.range)] {
                let evaluated = match sink.evaluates {
                    Evaluates::Names => true,
                    Evaluates::Expansions => !mention.bare,
                    Evaluates::ExpansionsNow => !mention.bare && !mention.inert,
                };
                if evaluated && !seen.contains_key(&mention.name) {
                    seen.insert(mention.name, (sink.kind.clone(), mention.name));
                    queue.push(mention.name);
                }
            }
        }
        if queue.is_empty() {
            return reached;
        }
        let texts: HashMap<Name, &[u8]> =
            self.names.iter().map(|(text, name)| (*name, text.as_slice())).collect();
        let everything = 0..self.placeholders.last().map_or(0, |last| last + 1);
        while let Some(name) = queue.pop() {
            let (kind, origin) = seen[&name].clone();
            let through = |placeholder: usize| Reached {
                placeholder,
                kind: kind.clone(),
                variable: Some(String::from_utf8_lossy(texts[&origin]).into_owned()),
            };
            if self.filled.contains(&name) {
                // All of them: nothing more can be found.
                reached.extend(self.placeholders_in(&everything).map(through));
                break;
            }
            for range in self.sources.get(&name).into_iter().flatten() {
                reached.extend(self.placeholders_in(range).map(through));
                for mention in &self.mentions[self.mentions_in(range)] {
                    seen.entry(mention.name).or_insert_with(|| {
                        queue.push(mention.name);
                        (kind.clone(), origin)
                    });
                }
            }
        }
        reached
    }
}
