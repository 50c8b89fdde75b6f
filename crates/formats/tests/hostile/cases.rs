//! Files that somebody wrote to hurt: each grows with the size that is asked for.

use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::{ability, agent, config, text};
use std::fmt::Write as _;

/// One kind of hostile file.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Builds the file, of about this many bytes.
    pub(crate) make: fn(usize) -> String,
    /// The error that must be among the problems, or `None` when the file is fine.
    pub(crate) error: Option<Code>,
    pub(crate) format: Format,
}

/// The reader that the file is for.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Ability,
    Config,
    Agent,
}

/// Returns the problems that the reader finds, as abide would: through every door.
pub(crate) fn problems(format: Format, source: &str) -> Vec<Diagnostic> {
    let source = match text::decode(source.as_bytes()) {
        Ok(source) => source,
        Err(problem) => return vec![*problem],
    };
    match format {
        Format::Ability => ability::read(source, "hostile").problems,
        Format::Config => config::read(source).problems,
        Format::Agent => agent::read(source, "hostile").problems,
    }
}

const fn ability(name: &'static str, error: Option<Code>, make: fn(usize) -> String) -> Case {
    Case { name, make, error, format: Format::Ability }
}

const HEAD: &str = "description: d\n";
const ONE_STEP: &str = "description: d\nsteps:\n  - id: a\n    run: x\n";

/// Repeats a text up to a size.
fn fill(head: &str, unit: &str, size: usize, tail: &str) -> String {
    let mut out = String::with_capacity(size + head.len() + tail.len() + unit.len());
    out.push_str(head);
    for _ in 0..size / unit.len() {
        out.push_str(unit);
    }
    out.push_str(tail);
    out
}

/// Writes numbered pieces up to a size.
fn numbered(head: &str, size: usize, tail: &str, mut piece: impl FnMut(&mut String, usize)) -> String {
    let mut out = String::from(head);
    for index in 0.. {
        if out.len() >= size {
            break;
        }
        piece(&mut out, index);
    }
    out.push_str(tail);
    out
}

macro_rules! put {
    (($out:expr, $($format:tt)+)) => {
        $out.push_str(&format!($($format)+))
    };
}

macro_rules! pieces {
    ($head:expr, $size:expr, $tail:expr, $index:ident => $($format:tt)+) => {
        numbered($head, $size, $tail, |out, $index| {
            let _ = write!(out, $($format)+);
        })
    };
}

fn steps(size: usize, piece: impl FnMut(&mut String, usize)) -> String {
    numbered("description: d\nsteps:\n", size, "", piece)
}

/// Files that are hard to parse.
pub(crate) static PARSING: &[Case] = &[
    // Bytes and white space.
    ability("comments", None, |size| fill(ONE_STEP, "# a comment\n", size, "")),
    ability("empty lines", None, |size| fill(ONE_STEP, "\n", size, "")),
    ability("spaces", None, |size| fill(ONE_STEP, " ", size, "\n")),
    ability(
        "carriage returns",
        None,
        |size| pieces!("description: d\r\nsteps:\r\n", size, "", i => "- id: s{i}\r\n  run: |\r\n    a\r\n    b\r\n"),
    ),
    ability("directives", Some(Code::BadYaml), |size| fill("", "%YAML 1.2\n", size, "")),
    ability("documents", Some(Code::Documents), |size| fill(ONE_STEP, "---\n", size, "")),
    ability("document ends", None, |size| fill(ONE_STEP, "...\n", size, "")),
    ability(
        "tags",
        Some(Code::Tag),
        |size| pieces!("description: d\nsteps:\n", size, "", i => "- id: s{i}\n  run: !x y\n"),
    ),
    // Nesting.
    ability("flow lists", Some(Code::TooComplex), |size| fill("a: ", "[", size, "")),
    ability("flow mappings", Some(Code::TooComplex), |size| fill("a: ", "{", size, "")),
    ability("flow pairs", Some(Code::TooComplex), |size| fill("a: ", "[a: ", size, "")),
    ability("dashes", Some(Code::TooComplex), |size| fill("", "- ", size, "x")),
    ability("question marks", Some(Code::TooComplex), |size| fill("", "? ", size, "x")),
    ability("closers", Some(Code::BadYaml), |size| fill("a: [", "]", size, "")),
    ability("indented mappings", Some(Code::TooComplex), |size| {
        let mut indent = String::new();
        numbered("", size, "", |out, _| {
            out.push_str(&indent);
            out.push_str("a:\n");
            indent.push(' ');
        })
    }),
    ability("siblings at the deepest level", Some(Code::UnknownKey), |size| {
        fill(&format!("a: {}", "[".repeat(60)), "[],", size, &"]".repeat(60))
    }),
    ability("braces in a template", Some(Code::UnknownKey), |size| {
        fill(&format!("a: {}", "{".repeat(40)), "x y ", size, &"}".repeat(40))
    }),
    // Aliases and merges.
    ability("aliases of a list", Some(Code::TooComplex), |size| {
        fill("a: &a [x, x, x, x, x, x, x, x, x, x]\nb: [", "*a ,", size.max(400_000), "]")
    }),
    ability("aliases of a text", Some(Code::TooComplex), |size| {
        let size = size.max(20_000);
        let long = format!("a: &a \"\\t{}\"\nb: [", "x".repeat(size / 2));
        fill(&long, "*a ,", size / 2, "]")
    }),
    ability(
        "an alias of everything in the next",
        Some(Code::TooComplex),
        |size| pieces!("a0: &a0 [x]\n", size, "", i => "a{}: &a{} [*a{i}]\n", i + 1, i + 1),
    ),
    ability("anchors inside each other", None, |size| {
        let head = format!(
            "{ONE_STEP}inputs: {{ a: {{ type: array, default: {}",
            (0..40).fold(String::new(), |out, i| format!("{out}&a{i} ["))
        );
        // Every level is kept once more for its anchor, which counts against the bound.
        fill(&head, "x,", size.min(10_000), &format!("{}}} }}\n", "]".repeat(40)))
    }),
    ability("merges of many keys", Some(Code::UnknownKey), |size| {
        let base = pieces!("base: &b\n", size / 2, "", i => "  k{i}: 1\n");
        pieces!(&base, size, "  <<: *b\n", i => "{}  m{i}: 1\n", if i == 0 { "use:\n" } else { "" })
    }),
    ability("merges of many mappings", Some(Code::UnknownKey), |size| {
        let base = pieces!("list:\n", size / 2, "use: { <<: [", i => "- &b{i} {{ k{i}: 1 }}\n");
        let count = base.matches('&').count();
        (0..count).fold(base, |out, i| out + &format!("*b{i} ,")) + "] }\n"
    }),
    // Keys.
    ability(
        "unknown keys",
        Some(Code::UnknownKey),
        |size| pieces!(ONE_STEP, size, "", i => "descripton{i}: 1\n"),
    ),
    ability("duplicate keys", Some(Code::DuplicateKey), |size| fill(ONE_STEP, "version: 1\n", size, "")),
    ability("unknown keys of steps", Some(Code::UnknownKey), |size| {
        steps(size, |out, i| put!((out, "- id: s{i}\n  run: x\n  tymeout: 1\n  neds: a\n")))
    }),
    ability("misplaced keys", Some(Code::MisplacedKey), |size| {
        steps(size, |out, i| put!((out, "- id: s{i}\n  run: x\n  skill: x\n  type: script\n")))
    }),
    ability("a long key", Some(Code::BadYaml), |size| fill("", "k", size, ": 1\n")),
    ability("a long quoted key", Some(Code::UnknownKey), |size| {
        fill(&format!("{ONE_STEP}? \""), "k", size, "\"\n: 1\n")
    }),
    ability(
        "keys that are lists",
        Some(Code::WrongType),
        |size| pieces!(ONE_STEP, size, "", i => "? [{i}]\n: x\n"),
    ),
    ability(
        "environment variables",
        None,
        |size| pieces!(&format!("{ONE_STEP}    env:\n"), size, "", i => "      V{i}: x\n"),
    ),
    // Scalars.
    ability("a long plain text", None, |size| {
        fill("steps: [{id: a, run: x}]\ndescription: ", "word ", size, "\n")
    }),
    ability("a long quoted text", None, |size| {
        fill("steps: [{id: a, run: x}]\ndescription: \"", "\\u00e9\\n ", size, "\"\n")
    }),
    ability("a long folded text", None, |size| {
        fill("steps: [{id: a, run: x}]\ndescription: >\n", "  one\n\n    two\n", size, "")
    }),
    ability("a long word where a choice stands", Some(Code::BadChoice), |size| {
        fill(&format!("{ONE_STEP}settings: {{ on_failure: "), "stop", size, " }\n")
    }),
    ability("a long name", Some(Code::BadName), |size| fill("name: ", "n", size, &format!("\n{ONE_STEP}"))),
    ability("a long duration", Some(Code::BadDuration), |size| {
        fill(&format!("{ONE_STEP}    timeout: "), "1s", size, "\n")
    }),
    ability("a long number", None, |size| fill("steps: [{id: a, run: x}]\ndescription: ", "9", size, "\n")),
];

/// Files that are easy to parse and hard to check.
pub(crate) static CHECKING: &[Case] = &[
    // Steps and what they wait for.
    ability("steps", None, |size| steps(size, |out, i| put!((out, "- {{ id: s{i}, run: x }}\n")))),
    ability("steps of the same id", Some(Code::DuplicateStep), |size| {
        steps(size, |out, _| out.push_str("- { id: a, run: x }\n"))
    }),
    ability("a chain", None, |size| {
        steps(size, |out, i| {
            put!((out, "- {{ id: s{}, run: x, needs: s{i} }}\n", i + 1));
            if i == 0 {
                out.push_str("- { id: s0, run: x }\n");
            }
        })
    }),
    ability("a chain from the end", None, |size| {
        let chain = steps(size, |out, i| put!((out, "- {{ id: s{i}, run: x, needs: s{} }}\n", i + 1)));
        let count = chain.matches("needs").count();
        chain + &format!("- {{ id: s{count}, run: x }}\n")
    }),
    ability("a circle", Some(Code::Cycle), |size| {
        let chain = steps(size, |out, i| put!((out, "- {{ id: s{i}, run: x, needs: s{} }}\n", i + 1)));
        let count = chain.matches("needs").count();
        chain + &format!("- {{ id: s{count}, run: x, needs: s0 }}\n")
    }),
    ability("many circles", Some(Code::Cycle), |size| {
        steps(size, |out, i| put!((out, "- {{ id: s{i}, run: x, needs: s{} }}\n", i ^ 1)))
    }),
    ability("everything needs everything before", None, |size| {
        let mut all = String::new();
        steps(size, |out, i| {
            put!((out, "- {{ id: s{i}, run: x, needs: [{all}] }}\n"));
            let _ = write!(all, "s{i} ,");
        })
    }),
    ability("one step needs all", None, |size| {
        let mut out = steps(size, |out, i| put!((out, "- {{ id: s{i}, run: x }}\n")));
        let count = out.matches("id:").count();
        out.push_str("- { id: last, run: x, needs: [");
        (0..count).for_each(|i| put!((out, "s{i} ,")));
        out + "] }\n"
    }),
    ability("unknown needs", Some(Code::UnknownNeed), |size| {
        let out = steps(size / 2, |out, i| put!((out, "- {{ id: step-{i:09}, run: x }}\n")));
        pieces!(&format!("{out}- {{ id: last, run: x, needs: ["), size, "] }\n", i => "stop-{i:09} ,")
    }),
    ability("steps that are not mappings", Some(Code::WrongType), |size| {
        fill("description: d\nsteps:\n", "- x\n", size, "")
    }),
    ability("steps without a type", Some(Code::UnknownStepType), |size| {
        fill("description: d\nsteps:\n", "- id: a\n", size, "")
    }),
    // Templates and conditions.
    ability("placeholders", None, |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: \"echo "), "{{input}} \\t", size, "\"\n")
    }),
    ability("placeholders in a block", None, |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: |\n"), "    echo {{ input }} {{ run.id }}\n", size, "")
    }),
    ability("placeholders in one line", None, |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: x "), "{{input}}", size, "\n")
    }),
    ability("unknown names", Some(Code::UnknownField), |size| {
        let out = steps(size / 2, |out, i| put!((out, "- {{ id: step-{i:09}, run: x }}\n")));
        fill(&format!("{out}- id: last\n  run: |\n"), "    {{ steps.stop-000000000.output }}\n", size / 2, "")
    }),
    ability("empty placeholders", Some(Code::BadTemplate), |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: x "), "{{}}", size, "\n")
    }),
    ability("open placeholders", Some(Code::BadTemplate), |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: x "), "{{ ", size, "\n")
    }),
    ability("braces", Some(Code::BadTemplate), |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: x "), "{", size, "\n")
    }),
    ability("open quotes in placeholders", Some(Code::BadTemplate), |size| {
        fill(&format!("{HEAD}steps:\n- id: a\n  run: |\n    "), "{{ \"\\\" }} ", size, "\n")
    }),
    ability("long paths", None, |size| {
        let path = format!("input{}", ".json".repeat(700)).replace("input.", "steps.a.json.");
        steps(size, |out, i| {
            put!((
                out,
                "- {{ id: {}, run: x, when: \"has({path})\" }}\n",
                if i == 0 { "a".into() } else { format!("s{i}") }
            ));
        })
        .replacen(&format!("when: \"has({path})\""), "when: \"true\"", 1)
    }),
    ability("conditions", None, |size| {
        steps(size, |out, i| {
            put!((out, "- {{ id: s{i}, run: x, when: \"input != 'a' && run.id == 'b'\" }}\n"));
        })
    }),
    ability("conditions that are no condition", Some(Code::NotBoolean), |size| {
        steps(size, |out, i| put!((out, "- {{ id: s{i}, run: x, when: input }}\n")))
    }),
    ability("comparisons with a large enum", None, |size| {
        let head =
            pieces!("description: d\ninputs: { a: { enum: [", size / 2, "] } }\nsteps:\n", i => "v{i} ,");
        pieces!(&head, size, "", i => "- {{ id: s{i}, run: x, when: \"inputs.a == 'w{i}'\" }}\n")
    }),
    ability("matches in conditions", Some(Code::TooComplex), |size| {
        let size = size.max(200_000);
        steps(size, |out, i| {
            put!((out, "- {{ id: s{i}, run: x, when: 'input.matches(r\"\\pL{{900}}{i}\")' }}\n"));
        })
    }),
    // Inputs and approvals.
    ability(
        "inputs",
        None,
        |size| pieces!("description: d\nsteps: [{id: a, run: x}]\ninputs:\n", size, "", i => "  i{i}: {{ default: x }}\n"),
    ),
    ability(
        "a large enum",
        None,
        |size| pieces!("description: d\nsteps: [{id: a, run: x}]\ninputs:\n  a:\n    enum:\n", size, "", i => "    - v{i}\n"),
    ),
    ability(
        "an enum and a pattern",
        Some(Code::ImpossibleRule),
        |size| pieces!("description: d\nsteps: [{id: a, run: x}]\ninputs:\n  a:\n    pattern: '^(\\w+\\d{3,9})*$'\n    enum:\n", size, "", i => "    - v-{i}\n"),
    ),
    ability(
        "patterns",
        Some(Code::TooComplex),
        |size| pieces!("description: d\nsteps: [{id: a, run: x}]\ninputs:\n", size.max(200_000), "", i => "  i{i}: {{ pattern: '(\\pL{{500}}){{500}}{i}', default: x }}\n"),
    ),
    ability("heavy patterns", Some(Code::TooComplex), |size| {
        let heavy = r"\pL".repeat(60);
        pieces!(&format!("{ONE_STEP}triggers:\n  patterns:\n"), size, "", i => "  - '(?i){heavy}{i}'\n")
    }),
    ability(
        "options",
        None,
        |size| pieces!("description: d\nsteps:\n- id: a\n  prompt: p\n  options:\n", size, "", i => "  - label: L{i}\n"),
    ),
    ability("options that are all the same", Some(Code::UnreachableOption), |size| {
        fill("description: d\nsteps:\n- id: a\n  prompt: p\n  options:\n", "  - label: L\n", size, "")
    }),
    ability(
        "a large schema",
        None,
        |size| pieces!("description: d\nsteps:\n- id: a\n  agent: a\n  prompt: p\n  output_schema:\n    properties:\n", size, "", i => "      p{i}: {{ type: string }}\n"),
    ),
    ability("protects", Some(Code::UnmatchablePattern), |size| {
        fill(&format!("{ONE_STEP}protects:\n"), "- Bash(a | b)\n", size, "")
    }),
    // The other formats.
    Case {
        name: "agents of the configuration",
        format: Format::Config,
        error: None,
        make: |size| pieces!("agents:\n", size, "", i => "  a{i}: {{ model: p/m }}\n"),
    },
    Case {
        name: "secrets without a source",
        format: Format::Config,
        error: Some(Code::MissingKey),
        make: |size| pieces!("secrets:\n", size, "", i => "  s{i}: {{}}\n"),
    },
    Case {
        name: "keys of other tools",
        format: Format::Agent,
        error: None,
        make: |size| pieces!("---\nname: a\n", size, "---\n", i => "foreign{i}: x\n"),
    },
    Case {
        name: "tools in one line",
        format: Format::Agent,
        error: Some(Code::TooComplex),
        make: |size| fill("---\nname: a\ntools: ", "a,", size.max(100_000), "\n---\n"),
    },
    Case {
        name: "frontmatter to repair",
        format: Format::Agent,
        error: None,
        make: |size| pieces!("---\nname: a\n", size, "---\n", i => "k{i}: a: b: c\n"),
    },
    Case {
        name: "a frontmatter that never ends",
        format: Format::Agent,
        error: Some(Code::BadYaml),
        make: |size| fill("---\na: b: c\n", "\n -- ", size, ""),
    },
];
