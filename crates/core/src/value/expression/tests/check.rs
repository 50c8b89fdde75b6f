//! What is known to be wrong before anything runs.

use super::super::{Expression, Fields, RecordType, Scope, Type};
use super::{parsed, scope};
use crate::diagnostic::{Code, Diagnostic};
use std::sync::Arc;

/// Writes a diagnostic as `code underlined | message | label | help | fix`, without what is not there.
fn shown(text: &str, problem: &Diagnostic) -> String {
    let at = &text[problem.at.unwrap().range()];
    let fix = problem.fix.as_ref().map(|fix| format!("{} → {}", &text[fix.at.range()], fix.text));
    let extras = [problem.label.clone(), problem.help.clone(), fix];
    let parts = [format!("{} {at}", problem.code), problem.message.clone()];
    parts.into_iter().chain(extras.into_iter().flatten()).collect::<Vec<_>>().join(" | ")
}

fn problems(text: &str) -> Vec<String> {
    parsed(text).check(&scope()).problems.iter().map(|problem| shown(text, problem)).collect()
}

#[test]
fn a_sound_expression_has_a_type_and_no_problems() {
    for (text, ty) in [
        ("inputs.environment == 'production' && inputs.replicas > 1.5", "a boolean"),
        ("inputs.replicas + 1", "an integer"),
        ("inputs.replicas + inputs.ratio", "a number"),
        ("inputs.replicas % 2", "an integer"),
        ("-inputs.ratio", "a number"),
        ("inputs.version + inputs.environment", "a string"),
        ("inputs.regions + ['ap']", "a list of strings"),
        ("[1, 2.5]", "a list of numbers"),
        ("[]", "a list"),
        ("[[1], [2]]", "a list of lists"),
        ("[inputs, inputs]", "a list of mappings"),
        ("[true]", "a list of booleans"),
        ("[1][0]", "an integer"),
        ("null", "nothing"),
        ("inputs", "a mapping"),
        ("inputs['version']", "a string"),
        ("[inputs][0]['version']", "a string"),
        ("inputs.regions[0].upper()", "a string"),
        ("size(inputs) + size(inputs.regions) + inputs.version.size()", "an integer"),
        ("inputs.force ? 1 : 2", "an integer"),
        ("inputs.force ? 1 : 'a'", "anything"),
        ("inputs.force ? inputs.environment : 'none'", "a string"),
        ("inputs.force ? null : 1", "an integer"),
        ("inputs.reason == null || inputs.reason == 'x' || inputs.reason.size() > 1", "a boolean"),
        ("has(inputs.reason)", "a boolean"),
        ("'version' in inputs && 'eu' in inputs.regions && inputs.regions.contains('eu')", "a boolean"),
        ("inputs.environment in ['production', 'staging']", "a boolean"),
        ("steps.get-diff.status != 'failed'", "a boolean"),
        ("steps.build.output.anything[0]['x'].y + 1", "anything"),
        ("steps.build.output == 1 || steps.build.output > 'a' || 1 in steps.build.output", "a boolean"),
        ("steps.build.output && !steps.build.output", "a boolean"),
        ("steps.build.output.contains(1) && steps.build.output[inputs.replicas] == 1", "a boolean"),
        ("int(inputs.version) + int(double('1'))", "an integer"),
        ("string(inputs)", "a string"),
    ] {
        assert_eq!(problems(text), Vec::<String>::new(), "{text}");
        assert_eq!(parsed(text).check(&scope()).ty.to_string(), ty, "{text}");
    }
}

#[test]
fn every_problem_names_its_place_and_its_remedy() {
    for (text, told) in [
        // Names.
        (
            "inptus.version",
            "E0502 inptus | `inptus` is not known here | did you mean `inputs`? | known here are `input`, `inputs`, `steps` | inptus → inputs",
        ),
        (
            "inputs.version == production",
            "E0502 production | `production` is not known here | known here are `input`, `inputs`, `steps`; text stands in quotes: \"production\"",
        ),
        (
            "inputs.force == True",
            "E0502 True | `True` is not known here | did you mean `true`? | known here are `input`, `inputs`, `steps` | True → true",
        ),
        ("count-1 == 2", "E0502 count-1 | `count-1` is not known here | write spaces around `-` to subtract"),
        (
            "inputs.verison",
            "E0503 verison | `inputs` has no field `verison` | did you mean `version`? | it has `environment`, `force`, `odd name`, `ratio`, `reason`, `regions`, `replicas`, `token`, `version` | verison → version",
        ),
        (
            "inputs['od name']",
            "E0503 od name | `inputs` has no field `od name` | did you mean `odd name`? | it has `environment`, `force`, `odd name`, `ratio`, `reason`, `regions`, `replicas`, `token`, `version` | od name → odd name",
        ),
        (
            "inputs.replicas-1",
            "E0503 replicas-1 | `inputs` has no field `replicas-1` | did you mean `replicas`? | write spaces around `-` to subtract | replicas-1 → replicas",
        ),
        (
            "steps.get-dif.output",
            "E0503 get-dif | `steps` has no field `get-dif` | did you mean `get-diff`? | it has `build`, `get-diff` | get-dif → get-diff",
        ),
        (
            "has(steps.build.outptu)",
            "E0503 outptu | `steps.build` has no field `outptu` | did you mean `output`? | it has `output`, `status` | outptu → output",
        ),
        (
            "[inputs][0].nothing",
            "E0503 nothing | `[inputs][0]` has no field `nothing` | it has `environment`, `force`, `odd name`, `ratio`, `reason`, `regions`, `replicas`, `token`, `version`",
        ),
        ("inputs.version.major", "E0504 major | `inputs.version` is a string and has no field `major`"),
        (
            "inputs.version.size == 1",
            "E0504 size | `inputs.version` is a string and has no field `size` | call the method: `size()`",
        ),
        (
            "inputs.regions.first",
            "E0504 first | `inputs.regions` is a list and has no field `first` | take an item with an index, as in `[0]`",
        ),
        // Indices.
        (
            "steps[inputs.version].output",
            "E0504 inputs.version | steps are named, not computed | write the name itself, as in `steps.name`",
        ),
        (
            "steps.build['out' + 'put']",
            "E0504 'out' + 'put' | the fields of `steps.build` are named, not computed | write the name itself, as in `steps.build.name`",
        ),
        ("inputs[0]", "E0504 0 | a mapping is indexed by a string, not by an integer"),
        (
            "inputs.regions[inputs.version]",
            "E0504 inputs.version | a list is indexed by an integer, not by a string",
        ),
        ("inputs.version[0]", "E0504 0 | `inputs.version` is a string and has no items"),
        ("steps.build.output[true]", "E0504 true | an index is an integer or a string, not a boolean"),
        // Equality.
        (
            "inputs.replicas == '3'",
            "E0504 '3' | `inputs.replicas` is an integer and `'3'` is a string: they are never equal | leave out the quotes: `3`",
        ),
        (
            "'0.5' == inputs.ratio",
            "E0504 inputs.ratio | `'0.5'` is a string and `inputs.ratio` is a number: they are never equal | leave out the quotes: `0.5`",
        ),
        (
            "inputs.force == 'true'",
            "E0504 'true' | `inputs.force` is a boolean and `'true'` is a string: they are never equal | leave out the quotes: `true`",
        ),
        (
            "inputs.version == null",
            "E0504 null | `inputs.version` is a string and `null` is nothing: they are never equal",
        ),
        (
            "inputs.regions == [1]",
            "E0504 [1] | `inputs.regions` is a list of strings and `[1]` is a list of integers: they are never equal",
        ),
        (
            "inputs.environment == 'prodution'",
            "W0509 'prodution' | `inputs.environment` is never `prodution` | did you mean `production`? | it is one of `production`, `staging` | prodution → production",
        ),
        (
            "inputs.environment != 'test'",
            "W0509 'test' | `inputs.environment` is never `test`, so this is always true | it is one of `production`, `staging`",
        ),
        (
            "('stagin') == inputs.environment",
            "W0509 ('stagin') | `inputs.environment` is never `stagin` | did you mean `staging`? | it is one of `production`, `staging`",
        ),
        (
            "inputs.environment in ['production', 'live']",
            "W0509 'live' | `inputs.environment` is never `live` | it is one of `production`, `staging`",
        ),
        (
            "inputs.environment == steps.build.status",
            "W0509 steps.build.status | `inputs.environment` is never `steps.build.status` | one is of `production`, `staging`, the other of `completed`, `failed`, `skipped`",
        ),
        // Other comparisons.
        (
            "inputs.replicas < '3'",
            "E0504 '3' | `<` compares numbers or strings, not an integer with a string",
        ),
        (
            "inputs.force > 1",
            "E0504 inputs.force | `>` compares numbers or strings, not a boolean with an integer",
        ),
        ("1 in inputs.regions", "E0504 1 | `1` is an integer, which is never in a list of strings"),
        ("1 in inputs", "E0504 1 | the fields of a mapping are strings, not an integer"),
        (
            "'v' in inputs.version",
            "E0504 inputs.version | `in` looks into a list or a mapping, not into a string | use `inputs.version.contains('v')`",
        ),
        ("1 in 2", "E0504 2 | `in` looks into a list or a mapping, not into an integer"),
        // Operators.
        (
            "inputs.version && inputs.force",
            "E0504 inputs.version | `&&` needs a boolean, and `inputs.version` is a string | compare it, as in `inputs.version != \"\"`",
        ),
        (
            "inputs.force || inputs.replicas",
            "E0504 inputs.replicas | `||` needs a boolean, and `inputs.replicas` is an integer | compare it, as in `inputs.replicas > 0`",
        ),
        (
            "!inputs.regions",
            "E0504 inputs.regions | `!` needs a boolean, and `inputs.regions` is a list of strings | ask for its size, as in `size(inputs.regions) > 0`",
        ),
        ("inputs ? 1 : 2", "E0504 inputs | `?:` needs a boolean, and `inputs` is a mapping"),
        ("-inputs.version", "E0504 inputs.version | `-` needs a number, and `inputs.version` is a string"),
        (
            "inputs.version + 1",
            "E0504 1 | `+` does not take a string and an integer | make both text with `string(…)`",
        ),
        ("inputs.force * 2", "E0504 2 | `*` does not take a boolean and an integer"),
        ("inputs.ratio % 2", "E0504 2 | `%` needs two integers, not a number and an integer"),
        // Functions.
        (
            "size(inputs.replicas)",
            "E0504 size(inputs.replicas) | `size` needs a string, a list or a mapping, and `inputs.replicas` is an integer",
        ),
        (
            "int(inputs.force)",
            "E0504 int(inputs.force) | `int` needs a string or a number, and `inputs.force` is a boolean",
        ),
        (
            "inputs.replicas.contains('3')",
            "E0504 .contains('3') | `contains` needs a string or a list, and `inputs.replicas` is an integer",
        ),
        ("inputs.version.contains(1)", "E0504 1 | `contains` looks for a string, not for an integer"),
        ("inputs.regions.contains(1)", "E0504 1 | a list of strings never contains an integer"),
        (
            "inputs.version.trim().lower().startsWith(null)",
            "E0504 null | `startsWith` looks for a string, not for nothing",
        ),
        (
            "inputs.version.matches('[a')",
            "E0207 '[a' | the regular expression cannot be used: unclosed character class | abide matches in linear time: no look-around, no back-references",
        ),
    ] {
        assert_eq!(problems(text), [told], "{text}");
    }
}

#[test]
fn all_problems_are_reported_in_one_go() {
    let text = "inptus.a == 1 && inputs.replicas == '3' || steps.x.y";
    let codes: Vec<Code> = parsed(text).check(&scope()).problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::UnknownVariable, Code::TypeMismatch, Code::UnknownField]);
}

#[test]
fn a_condition_must_be_a_boolean() {
    let told = |text: &str| -> Vec<String> {
        parsed(text).check_condition(&scope()).iter().map(|problem| shown(text, problem)).collect()
    };
    assert_eq!(told("inputs.force"), Vec::<String>::new());
    assert_eq!(told("steps.build.output"), Vec::<String>::new());
    assert_eq!(
        told("inputs.environment"),
        ["E0505 inputs.environment | a condition is true or false, and `inputs.environment` is a string \
          | compare it, as in `inputs.environment != \"\"`"]
    );
    assert_eq!(told("null"), ["E0505 null | a condition is true or false, and `null` is nothing"]);
}

#[test]
fn a_scope_without_names_says_so() {
    let problems = parsed("a").check(&Fields::default()).problems;
    assert_eq!(problems[0].help.as_deref(), Some("no names are known here; text stands in quotes: \"a\""));
    let empty = Fields::from_iter([("inputs", Type::record::<&str>([]))]);
    assert_eq!(parsed("inputs.a").check(&empty).problems[0].help.as_deref(), Some("it has none"));
}

#[test]
fn a_fix_never_makes_an_expression_that_does_not_parse() {
    let text = "inputs.oddname";
    let problem = &parsed(text).check(&scope()).problems[0];
    assert_eq!(problem.label.as_deref(), Some("did you mean `odd name`?"));
    assert_eq!(problem.fix, None);
}

#[test]
fn a_record_with_many_fields_is_looked_up_and_not_listed() {
    #[derive(Debug)]
    struct Steps(Vec<String>);
    impl RecordType for Steps {
        fn field(&self, name: &str) -> Option<Type> {
            self.0.binary_search_by(|known| known.as_str().cmp(name)).is_ok().then_some(Type::Text)
        }
        fn noun(&self) -> &'static str {
            "step"
        }
        fn names(&self) -> Vec<&str> {
            self.0.iter().map(String::as_str).collect()
        }
    }
    struct Run(Arc<Steps>);
    impl Scope for Run {
        fn root(&self, name: &str) -> Option<Type> {
            (name == "steps").then(|| Type::Record(self.0.clone()))
        }
        fn roots(&self) -> Vec<&str> {
            vec!["steps"]
        }
    }
    let run = Run(Arc::new(Steps((0..10_000).map(|number| format!("step{number:05}")).collect())));
    assert!(parsed("steps.step09999 == 'a'").check(&run).problems.is_empty());
    let problem = &parsed("steps.step1000 == 'a'").check(&run).problems[0];
    assert_eq!(problem.message, "`steps` has no step `step1000`");
    assert_eq!(problem.label.as_deref(), Some("did you mean `step01000`?"));
    assert_eq!(problem.help, None);
}

#[test]
fn spans_of_problems_point_into_the_file() {
    let expression = Expression::parse("inputs.x", 40).unwrap();
    assert_eq!(expression.check(&scope()).problems[0].at.unwrap().range(), 47..48);
}
