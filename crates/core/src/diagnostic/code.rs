//! The list of everything that can be wrong, one code each.
//!
//! A code is never reused or given another meaning: users search for it, silence it in CI and link to it.

use std::fmt;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The definition cannot be used.
    Error,
    /// The definition works, but probably not as meant.
    Warning,
}

impl Severity {
    /// Returns the word that starts a rendered diagnostic.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($name:ident = $id:literal, $severity:ident, $title:literal;)+) => {
        /// The identity of a rule that a definition can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)+
        }

        impl Code {
            /// Every code, in order of its number.
            pub const ALL: &[Code] = &[$(Code::$name),+];

            /// Returns the code as users see it, such as `E0302`.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id),+ }
            }

            /// Returns how bad this problem is.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity),+ }
            }

            /// Returns the rule in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            /// Returns the page that `abide explain` shows: why the rule exists, an example that breaks it
            /// and one that keeps it, as Markdown.
            pub fn page(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("pages/", $id, ".md"))),+ }
            }
        }
    };
}

codes! {
    // 01: the file
    Unreadable = "E0101", Error, "the file cannot be read";
    TooLarge = "E0102", Error, "the file is larger than abide reads";
    Encoding = "E0103", Error, "the file is not UTF-8 text";
    BadYaml = "E0104", Error, "the file is not valid YAML";
    TooComplex = "E0105", Error, "the file is nested too deeply or expands too far";
    DuplicateKey = "E0106", Error, "a key is given twice in one mapping";
    Documents = "E0107", Error, "the file is empty or holds several documents";
    Tag = "E0108", Error, "a YAML tag asks for a type that abide does not build";
    NoFrontmatter = "E0109", Error, "the file has no frontmatter that can be read";
    // 02: shape
    UnknownKey = "E0201", Error, "a key is not known here";
    WrongType = "E0202", Error, "a value has the wrong type";
    MissingKey = "E0203", Error, "a required key is missing";
    BadChoice = "E0204", Error, "a value is not one of the allowed words";
    BadName = "E0205", Error, "a name is not formed as names are";
    BadDuration = "E0206", Error, "a duration cannot be understood";
    BadRegex = "E0207", Error, "a regular expression cannot be used";
    OutOfRange = "E0208", Error, "a number or a length is out of range";
    MisplacedKey = "E0209", Error, "a key belongs to another type of step";
    UnknownStepType = "E0210", Error, "the type of a step cannot be told";
    Empty = "E0211", Error, "a list or a text must not be empty";
    UnquotedTemplate = "W0212", Warning, "a template stands without quotes";
    BadSchema = "E0213", Error, "a JSON Schema cannot be used";
    BadPath = "E0214", Error, "a path leads out of the project";
    UselessKey = "W0215", Warning, "a key has no effect here";
    // 03: the graph
    DuplicateStep = "E0301", Error, "two steps have the same id";
    UnknownNeed = "E0302", Error, "a step needs a step that does not exist";
    Cycle = "E0303", Error, "steps wait for each other in a circle";
    // 04: inputs
    BadDefault = "E0401", Error, "a default breaks the rules of its own input";
    RuleMismatch = "E0402", Error, "a rule does not fit the type of its input";
    ImpossibleRule = "E0403", Error, "no value can satisfy the rules of an input";
    SecretNotText = "E0404", Error, "a secret input is not a string";
    // 05: templates and expressions
    BadTemplate = "E0501", Error, "a template or an expression cannot be parsed";
    UnknownVariable = "E0502", Error, "a template or an expression names something unknown";
    UnknownField = "E0503", Error, "a value has no such field";
    TypeMismatch = "E0504", Error, "the types in an expression do not fit together";
    NotBoolean = "E0505", Error, "a condition is not a boolean";
    UnsafePlaceholder = "E0506", Error, "a placeholder stands where no value is safe";
    Reinterpreted = "W0507", Warning, "a value reaches a command that runs text as code";
    RawPlaceholder = "W0508", Warning, "a value is pasted into a script as code";
    NeverTrue = "W0509", Warning, "a comparison can never be true";
    NotAList = "E0510", Error, "a step is asked to repeat over something that is not a list";
    MayBeMissing = "W0511", Warning, "a value that may be missing is used";
    // 06: references
    UnknownAgent = "E0601", Error, "an agent is not defined";
    UnknownSkill = "E0602", Error, "a skill is not found";
    UnknownWorkflow = "E0603", Error, "an ability that a step calls is not found";
    WorkflowCycle = "E0604", Error, "abilities call each other in a circle";
    WorkflowInputs = "E0605", Error, "a called ability does not take these inputs";
    UnknownSecret = "E0606", Error, "a secret has no source";
    UnattachedAgent = "W0607", Warning, "an ability is attached to an agent that is not defined";
    WorkflowTooDeep = "E0608", Error, "abilities call each other too deeply";
    // 07: approvals
    UnreachableOption = "E0701", Error, "an option can never be chosen";
    // 08: protects
    UnmatchablePattern = "E0801", Error, "a `protects` pattern can never match";
    // 09: finding files
    Shadowed = "W0901", Warning, "another file of the same name wins";
    DuplicateAbility = "E0902", Error, "two files of one folder define the same ability";
    ScanStopped = "W0903", Warning, "a folder holds more than abide looks at";
    MissingFolder = "W0904", Warning, "a configured folder does not exist";
    // 10: configuration
    BadOverride = "E1001", Error, "an environment variable overrides the configuration with a bad value";
    ProjectKey = "E1002", Error, "a project says where a key comes from or goes";
    ProjectWeb = "E1003", Error, "a project says what of the network may be reached";
    ProjectWebhook = "E1004", Error, "a project names a webhook";
    // 11: skills
    SkillRepaired = "W1101", Warning, "the frontmatter of a skill had to be repaired";
    SkillStandard = "W1102", Warning, "a skill does not keep to the standard";
    SkillUnavailable = "W1103", Warning, "a skill lacks something that it requires";
    SkillUntrusted = "W1104", Warning, "a skill of the project may not run commands yet";
    // 12: capabilities
    DuplicateTool = "E1201", Error, "two tools of a capability have the same name";
    BadCapability = "E1202", Error, "a capability cannot be offered as it is described";
}

impl Code {
    /// Finds a code by what a user types: `E0302`, `e302` or `302`.
    pub fn find(text: &str) -> Option<Self> {
        let number = |text: &str| -> Option<u32> {
            text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).parse().ok()
        };
        let wanted = number(text.trim())?;
        Self::ALL.iter().copied().find(|code| number(code.id()) == Some(wanted))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_ordered_and_carry_their_severity() {
        let numbers: Vec<&str> = Code::ALL.iter().map(|code| &code.id()[1..]).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        for code in Code::ALL {
            let letter = if code.severity() == Severity::Error { 'E' } else { 'W' };
            assert!(code.id().starts_with(letter), "{code}");
        }
    }

    #[test]
    fn a_page_starts_with_its_code_and_title_and_explains_them() {
        for code in Code::ALL {
            let (first, rest) = code.page().split_once("\n\n").unwrap();
            assert_eq!(first, format!("# {code}: {}", code.title()));
            assert!(rest.len() > 200, "{code}");
        }
    }

    #[test]
    fn a_code_is_found_however_it_is_typed() {
        for text in ["E0302", "e0302", "302", " E302 "] {
            assert_eq!(Code::find(text), Some(Code::UnknownNeed), "{text}");
        }
        assert_eq!(Code::find("E9999"), None);
        assert_eq!(Code::find("needs"), None);
    }
}
