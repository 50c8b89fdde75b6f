//! What a user is told: every code that reading or checking one file can produce, with its place and words.
//!
//! Each case is one file with several problems, all of which are reported at once.

use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::{ability, agent, bundle, config};
use std::collections::BTreeSet;

/// A file and what is said about it.
struct Case {
    read: fn(&str) -> Vec<Diagnostic>,
    source: &'static str,
    problems: &'static [&'static str],
}

fn ability(source: &str) -> Vec<Diagnostic> {
    ability::read(source, "test").problems
}

fn config(source: &str) -> Vec<Diagnostic> {
    config::read(source).problems
}

fn agent(source: &str) -> Vec<Diagnostic> {
    agent::read(source, "test").problems
}

fn capability(source: &str) -> Vec<Diagnostic> {
    bundle::read(source, "test").problems
}

#[rustfmt::skip]
static CASES: &[Case] = &[
    // The YAML itself.
    Case {
        read: ability,
        source: r"a: b: c
",
        problems: &[
            r"E0104 1:5 this is not valid YAML: mapping values are not allowed in this context",
        ],
    },
    Case {
        read: ability,
        source: r"a: [1
b: 2
",
        problems: &[
            r"E0104 2:2 this is not valid YAML: illegal placement of ':' indicator",
        ],
    },
    Case {
        read: ability,
        source: "a:\n\tb: 1\n",
        problems: &[
            r"E0104 2:2 this is not valid YAML: tabs disallowed within this context (block indentation)",
        ],
    },
    Case {
        read: ability,
        source: r"a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        problems: &[
            r"E0105 1:68 values are nested more than 64 levels deep",
        ],
    },
    Case {
        read: ability,
        source: r"description: d
steps:
- {id: a, run: x}
---
b: 1
",
        problems: &[
            r"E0107 4:1 the file holds a second YAML document",
        ],
    },
    Case {
        read: ability,
        source: "",
        problems: &[
            r"E0107 file the file is empty",
        ],
    },
    Case {
        read: ability,
        source: r"a: &a [*a ]
",
        problems: &[
            r"E0105 1:8 this alias stands inside the value that it names",
        ],
    },
    Case {
        read: ability,
        source: r"description: !!set x
steps: [{id: a, run: x}]
description: e
? [k]
: v
",
        problems: &[
            r"E0108 1:20 the tag `!!set` is not allowed here",
            r"E0106 3:1 `description` is given twice ← the second one",
            r"E0202 4:3 a key must be a word, not a list",
        ],
    },
    // The root.
    Case {
        read: ability,
        source: r"nam: Deploy
descripton: d
step: []
",
        problems: &[
            r"E0201 1:1 `nam` is not a key of an ability ← did you mean `name`?",
            r"E0201 2:1 `descripton` is not a key of an ability ← did you mean `description`?",
            r"E0201 3:1 `step` is not a key of an ability ← did you mean `steps`?",
        ],
    },
    Case {
        read: ability,
        source: r"name: Deploy
description: ''
version: [1]
steps: []
",
        problems: &[
            r"E0205 1:7 the ability name `Deploy` must not contain 'D'",
            r"E0211 2:14 `description` is empty ← expected text",
            r"E0202 3:10 `version` takes text, not a list ← expected text",
            r"E0211 4:8 `steps` is empty ← expected a list of steps",
        ],
    },
    Case {
        read: ability,
        source: r"- a
",
        problems: &[
            r"E0202 1:1 expected a mapping (ability), found a list ← expected a mapping (ability)",
        ],
    },
    // Triggers and settings.
    Case {
        read: ability,
        source: r"description: d
steps:
- {id: a, run: x}
triggers: { keywords: ship, patterns: ['(x', 'a{'] }
settings: { timeout: 5, parallel: yes, max_parallel: 0, enforcement: hard, on_failure: rety, plan_approvals: true }
",
        problems: &[
            r"E0202 4:23 `keywords` takes a list of words and phrases, not a string ← expected a list of words and phrases",
            r"E0207 4:41 this regular expression cannot be used: unclosed group",
            r"E0207 4:48 this regular expression cannot be used: unclosed counted repetition",
            r"E0206 5:22 `5` has no unit ← did you mean `5s` or `5m`?",
            r"E0202 5:35 `parallel` takes `true` or `false`, not `yes` ← did you mean `true`?",
            r"E0208 5:54 `max_parallel` is 0, which is out of range ← expected 1 to 256",
            r"E0204 5:70 `hard` is not a value of `enforcement`",
            r"E0204 5:88 `rety` is not a value of `on_failure` ← did you mean `retry`?",
            r"E0201 5:94 `plan_approvals` is not a key of `settings` ← did you mean `plan_approval`?",
        ],
    },
    // Inputs.
    Case {
        read: ability,
        source: r"description: d
steps: [{id: a, run: x}]
inputs:
  1st: {}
  a: { type: text }
  b: { type: integer, pattern: x, default: y }
  c: { min: 5, max: 1, type: number }
  d: { enum: [x, y, x], default: z }
  e: { type: integer, min: 3, default: 1 }
  f: { minLength: 9, maxLength: 2 }
  g: { pattern: '^v', default: x, secret: true }
  h: { enum: [a, bb], maxLength: 1 }
  i: { type: array, secret: true }
",
        problems: &[
            r"E0205 4:3 the input name `1st` must start with a letter",
            r"E0204 5:14 `text` is not a value of `type`",
            r"E0402 6:32 `pattern` does not fit input `b`, which is an integer",
            r"E0403 7:21 no number is at least 5 and at most 1",
            r#"E0403 8:21 "x" is listed twice"#,
            r"E0401 9:40 the default 1 of `e` breaks its own rule: it must be at least 3",
            r"E0403 10:33 nothing has at least 9 and at most 2 characters",
            r"E0401 11:32 the default of `g` breaks its own rule: it must match `^v`",
            r#"E0403 12:18 "bb" can never be given for `h`: it must have at most 1 character"#,
            r"E0404 13:29 input `i` is a list, and only a string can be secret",
        ],
    },
    // Steps.
    Case {
        read: ability,
        source: r"description: d
steps:
- x
- { id: 1st, run: x }
- { id: a, run: x, tymeout: 5m }
- { id: b, run: x, skill: y }
- { id: c, type: scrpt }
- { id: d }
- { id: e, prompt: ok? }
- { id: f, type: approval, prompt: ok?, run: x }
- { id: g, run: x, max_parallel: 2 }
- { id: h, run: ' ', env: { 1A: x, B: [x], C: { secret: '' } } }
- { id: i, agent: x }
",
        problems: &[
            r"E0202 3:3 a step is a mapping, not a string ← expected `id` and `run`, `agent`, `skill`, `workflow`, or `prompt` and `options`",
            r"E0205 4:9 the step id `1st` must start with a letter",
            r"E0201 5:20 `tymeout` is not a key of a script step ← did you mean `timeout`?",
            r"E0210 6:27 this step has both `run` and `skill`, so its type cannot be told",
            r"E0210 7:18 `scrpt` is not a type of step ← did you mean `script`?",
            r"E0210 8:5 nothing tells what this step does",
            r"E0210 9:5 nothing tells what this step does",
            r"E0209 10:41 `run` does not belong here: it is a key of script steps, and this is an approval step",
            r"E0209 11:20 `max_parallel` of a step needs `for_each`",
            r"E0211 12:17 `run` is empty ← expected text",
            r"E0205 12:29 `1A` cannot be the name of an environment variable",
            r"E0202 12:39 `env` takes text, not a list ← expected text",
            r"E0205 12:57 the secret name is empty",
            r"E0203 13:5 an agent step needs `prompt` ← `prompt` is missing here",
        ],
    },
    Case {
        read: ability,
        source: r"description: d
steps:
- { id: a, run: x, timeout: 1.5h, max_retries: 101, retry_delay: 1m1m }
- { id: b, run: x, for_each: [] }
- { id: c, run: x, for_each: a b }
- { id: d, agent: a, prompt: p, runner: gpt, output_schema: { type: strin }, validation: { exit_code: 300, json_schema: { required: x, $ref: 'http://x' } } }
- { id: e, skill: s, inputs: { a b: 1 }, repeat: { max: 3 } }
",
        problems: &[
            r"E0206 3:29 `1.5h` is not a duration",
            r"E0208 3:48 `max_retries` is 101, which is out of range ← expected 0 to 100",
            r"E0206 3:66 `1m1m` does not go from large units to small ones",
            r"E0211 4:30 `for_each` has no items",
            r"E0510 5:30 `for_each` takes a list, or one placeholder that yields a list",
            r"E0204 6:41 `gpt` is not a value of `runner`",
            r"E0213 6:69 `strin` is not a type of JSON Schema ← did you mean `string`?",
            r"E0208 6:103 `exit_code` is 300, which is out of range ← expected 0 to 255",
            r"E0213 6:133 `required` takes a list of property names",
            r"E0205 7:32 the input name `a b` must not contain ' '",
            r"E0203 7:52 `repeat` needs `until` ← `until` is missing here",
        ],
    },
    // The graph.
    Case {
        read: ability,
        source: r"description: d
steps:
- { id: a, run: x, needs: [b, bild] }
- { id: b, run: 'echo {{ steps.c.output }}' }
- { id: c, run: x, when: steps.a.exit_code == 0 }
- { id: build, run: x, needs: build }
- { id: build, run: x }
",
        problems: &[
            r"E0303 3:28 these steps wait for each other: a → b → c → a ← `a` needs `b`",
            r"E0302 3:31 step `a` needs `bild`, which is not a step ← did you mean `build`?",
            r"E0303 6:31 step `build` waits for itself",
            r"E0301 7:9 a step `build` exists already",
        ],
    },
    // Templates and conditions.
    Case {
        read: ability,
        source: r#"description: d
inputs: { version: { enum: [v1, v2], required: true }, n: { type: integer } }
steps:
- id: a
  run: |
    echo {{ inputs.verson }} {{ }}
    echo {{ input.x }
- { id: b, run: 'echo {{ inptus.version }} {{ steps.a.outpt }} {{ inputs.n.x }} {{ item }}' }
- { id: c, run: x, when: inputs.version }
- { id: d, run: x, when: inputs.version == 'v3' }
- { id: e, run: x, when: inputs.n == 'one' && inputs.version = 'v1' }
- { id: f, run: x, when: inputs.n + 'a' > 3 }
- { id: g, run: x, for_each: '{{ inputs.version }}' }
- { id: h, agent: a, prompt: {{ inputs.version }} }
- { id: i, run: x, when: "input.matches('(')" }
"#,
        problems: &[
            r"E0501 6:30 the placeholder is empty",
            r"E0501 7:10 `{{` has no `}}`",
            r"E0502 8:26 `inptus` is not known here ← did you mean `inputs`?",
            r"E0503 8:55 `steps.a` has no field `outpt` ← did you mean `output`?",
            r"E0504 8:76 `inputs.n` is an integer and has no field `x`",
            r"E0502 8:84 `item` is not known here",
            r"E0505 9:26 a condition is true or false, and `inputs.version` is a string",
            r"W0509 10:44 `inputs.version` is never `v3` ← did you mean `v1`?",
            r"E0501 11:62 use `==` to compare",
            r"E0504 12:37 `+` does not take an integer and a string",
            r"E0510 13:30 `for_each` takes a list, and this is a string",
            r"W0212 14:30 this template stands without quotes ← YAML reads `{{` as a mapping inside a mapping",
            r"E0207 15:41 the regular expression cannot be used: unclosed group",
        ],
    },
    // Approvals, protects and keys without effect.
    Case {
        read: ability,
        source: r"description: d
steps:
- { id: a, prompt: ok?, options: [{ label: Go }] }
- { id: b, prompt: ok?, options: [{ label: Yes }, { label: yes, value: other }, { label: No, value: 'yes' }, { labl: x }] }
- { id: c, prompt: ok?, options: [{ label: No, value: rejected }, { label: Never, value: rejected }] }
- { id: d, run: x, max_retries: 2 }
settings: { max_parallel: 2 }
compatible_agents: [a]
exclusive_agent: b
protects: ['Bash(a | b)', 'Bash( x)', git push]
",
        problems: &[
            r"E0701 3:44 `Go` is the only option, so nobody can say no",
            r"E0701 4:60 two options are labelled `yes`",
            r"E0701 4:101 the answer `yes` is already given by `Yes`",
            r"E0201 4:112 `labl` is not a key of an option ← did you mean `label`?",
            r"E0701 5:55 every option rejects, so nobody can say yes",
            r"E0701 5:90 the answer `rejected` is already given by `No`",
            r"W0215 6:33 `max_retries` has no effect without `on_failure: retry`",
            r"W0215 7:27 `max_parallel` has no effect without `parallel: true`",
            r"W0215 8:21 `compatible_agents` has no effect beside `exclusive_agent`",
            r"E0801 10:12 `a | b` spans several commands at `|`; each command of a line is compared on its own",
            r#"E0801 10:27 the pattern " x" starts or ends with white space, which commands are compared without"#,
            r"E0801 10:39 `git push` is not of the form `Tool` or `Tool(pattern)`",
        ],
    },
    // The configuration.
    Case {
        read: config,
        source: r"abilities: { enabled: maybe, directories: [''] }
skils: {}
agents: { a: { abilities: Deploy } }
secrets: { t: {}, u: { env: A, file: b } }
",
        problems: &[
            r"E0202 1:23 `enabled` takes `true` or `false`, not `maybe` ← expected `true` or `false`",
            r"E0211 1:44 `directories` is empty ← expected text",
            r"E0201 2:1 `skils` is not a key of the configuration ← did you mean `skills`?",
            r"E0205 3:27 the ability name `Deploy` must not contain 'D'",
            r"E0203 4:12 the secret `t` has no source",
            r"E0203 4:19 the secret `u` has more than one source",
        ],
    },
    // Agent profiles.
    Case {
        read: agent,
        source: r"no frontmatter
",
        problems: &[
            r"E0109 file the file has no frontmatter",
        ],
    },
    Case {
        read: agent,
        source: r"---
name: a b
tools: { write: maybe }
permission: { bash: { 'rm *': never } }
abilities: [Deploy]
color: red
---
body
",
        problems: &[
            r"E0205 2:7 the agent name `a b` must not contain ' '",
            r"E0202 3:17 `tools` takes `true` or `false`, not `maybe` ← expected `true` or `false`",
            r"E0204 4:31 `never` is not a value of `permission`",
            r"E0205 5:13 the ability name `Deploy` must not contain 'D'",
        ],
    },
    Case {
        read: agent,
        source: r"---
description: use when: x
model: [a]
---
",
        problems: &[
            r"E0202 3:8 `model` takes text, not a list ← expected text",
        ],
    },
    // Scripts.
    Case {
        read: ability,
        source: r"description: x
inputs: { n: { type: integer, default: 1 }, channel: {} }
steps:
  - { id: a, run: 'echo $(( {{inputs.n}} + 1 ))', cwd: ../other }
  - { id: b, run: 'sh -c {{inputs.n}}' }
  - { id: c, run: 'echo {{inputs.n | raw}}' }
  - { id: d, run: 'echo {{inputs.channel}}' }
",
        problems: &[
            r"E0506 4:29 the placeholder stands in shell arithmetic, which runs commands that a value contains",
            r"E0214 4:56 step `a` would run in `../other`, outside the project",
            r"W0507 5:26 the value becomes part of a program that another interpreter reads",
            r"W0508 6:25 the value is inserted as shell text, so it can run any command",
            r"W0511 7:25 `inputs.channel` may be missing, and would stand here as `null`",
        ],
    },
    // Capabilities.
    Case {
        read: capability,
        source: r"description: x
depends_on: [Web]
tools:
  - { name: find, description: x, command: ['{{arguments.a}}'] }
  - { name: find, description: x, run: x, comand: y }
  - { name: bash, description: x, run: 'echo {{arguments.a | raw}}', arguments: { properties: { a: { type: string } }, required: [a] } }
",
        problems: &[
            r"E0205 2:14 `Web` names no capability",
            r"E0506 4:45 which program runs would be up to the caller",
            r"E0503 4:58 `arguments` has no field `a`",
            r"E1201 5:13 there are two tools `find`",
            r"E0201 5:43 `comand` is not a key of a tool ← did you mean `command`?",
            r"E1202 6:13 `bash` is the name of a tool that comes with abide",
            r"E0506 6:46 `| raw` would run what a model wrote as code",
            r"W0508 6:46 the value is inserted as shell text, so it can run any command",
        ],
    },
];

/// Codes that need a disk, the catalog or the environment, and are tested where those are.
const ELSEWHERE: &[&str] = &["01:Unreadable", "01:TooLarge", "01:Encoding", "06", "09", "10", "11"];

fn shown(source: &str, problem: &Diagnostic) -> String {
    let place = match problem.at {
        None => "file".to_owned(),
        Some(at) => {
            let before = &source[..at.start as usize];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
            format!("{line}:{column}")
        }
    };
    let mut out = format!("{} {place} {}", problem.code, problem.message);
    if let Some(label) = &problem.label {
        out.push_str(" ← ");
        out.push_str(label);
    }
    out
}

#[test]
fn every_problem_of_a_file_is_told_at_once_with_its_place() {
    let mut wrong = Vec::new();
    for case in CASES {
        let found: Vec<String> =
            (case.read)(case.source).iter().map(|problem| shown(case.source, problem)).collect();
        if found != case.problems {
            wrong.push(format!("{}\n{found:#?}", case.source));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let told: BTreeSet<Code> =
        CASES.iter().flat_map(|case| (case.read)(case.source)).map(|problem| problem.code).collect();
    let elsewhere = |code: &Code| {
        let group = &code.id()[1..3];
        ELSEWHERE.contains(&group) || ELSEWHERE.contains(&&*format!("{group}:{code:?}"))
    };
    let untold: Vec<&Code> =
        Code::ALL.iter().filter(|code| !told.contains(code) && !elsewhere(code)).collect();
    assert!(untold.is_empty(), "no case shows {untold:?}");
}

#[test]
fn every_problem_says_what_to_do() {
    for case in CASES {
        // A type that does not fit is said whole in its message.
        let found = (case.read)(case.source).into_iter().filter(|found| found.code != Code::TypeMismatch);
        for problem in found {
            let hints = [problem.help.is_some(), problem.label.is_some(), problem.fix.is_some()];
            let told = hints.contains(&true) || !problem.related.is_empty();
            assert!(told, "only a message: {}", shown(case.source, &problem));
        }
    }
}
