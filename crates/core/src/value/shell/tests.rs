//! Every context, refusal and lint in tables: `@` is a placeholder, `%` a raw one.

use super::*;
use proptest::prelude::*;

fn pieces(script: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = script;
    while let Some(at) = rest.find(['@', '%']) {
        pieces.push(Piece::Text(&rest[..at]));
        pieces.push(Piece::Placeholder { raw: rest[at..].starts_with('%') });
        rest = &rest[at + 1..];
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn rendered(script: &str, dialect: Dialect) -> String {
    match render(&pieces(script), dialect, |index| format!("V{index}"), |_| "raw text".into()) {
        Ok(script) => script,
        Err(refusals) => {
            let lines = refusals.iter().map(|refusal| format!("{}: {}", refusal.placeholder, refusal.why));
            lines.collect::<Vec<_>>().join("; ")
        }
    }
}

#[test]
fn a_placeholder_becomes_a_reference_that_fits_its_context() {
    for (script, expected) in [
        ("echo @", "echo \"${V0}\""),
        ("echo a@b @", "echo a\"${V0}\"b \"${V1}\""),
        ("echo \"a @\"", "echo \"a ${V0}\""),
        ("echo 'a @'", "echo 'a '\"${V0}\"''"),
        ("echo '\\@'", "echo '\\'\"${V0}\"''"),
        ("echo \\\\@ \"\\$@\"", "echo \\\\\"${V0}\" \"\\$${V1}\""),
        ("echo $X@ \"$X@\" $$@", "echo $X\"${V0}\" \"$X${V1}\" $$\"${V2}\""),
        ("echo x # it's @\necho @", "echo x # it's ${V0}\necho \"${V1}\""),
        ("echo a#'@", "0: the placeholder stands in shell text that is never closed"),
        ("echo a#@", "echo a#\"${V0}\""),
        ("x=\"$(echo '@' \"$(echo @)\")@\"", "x=\"$(echo ''\"${V0}\"'' \"$(echo \"${V1}\")\")${V2}\""),
        ("echo ${X:-@} \"${X:-@}\"", "echo ${X:-\"${V0}\"} \"${X:-${V1}}\""),
        ("echo ${X#@} \"${X##@}\"", "echo ${X#\"${V0}\"} \"${X##\"${V1}\"}\""),
        ("cat <<EOF\n@ '@'\nEOF\necho @", "cat <<EOF\n${V0} '${V1}'\nEOF\necho \"${V2}\""),
        (
            "cat <<'A' <<-B\n'\nA\n\t@\n\tB\necho '@'",
            "cat <<'A' <<-B\n'\nA\n\t${V0}\n\tB\necho ''\"${V1}\"''",
        ),
        ("x=$(cat <<EOF\n@\nEOF\n) y=@", "x=$(cat <<EOF\n${V0}\nEOF\n) y=\"${V1}\""),
        (
            "case @ in a) echo @;; (\"@\"|b) :;; esac; echo @",
            "case \"${V0}\" in a) echo \"${V1}\";; (\"${V2}\"|b) :;; esac; echo \"${V3}\"",
        ),
        ("echo $(case x in x) echo @;; esac) @", "echo $(case x in x) echo \"${V0}\";; esac) \"${V1}\""),
        ("if (a) then { b @; } fi >@", "if (a) then { b \"${V0}\"; } fi >\"${V1}\""),
        ("f() { echo \"$1\"; }; f @", "f() { echo \"$1\"; }; f \"${V0}\""),
        ("for x in @ b; do echo \"$x\"; done", "for x in \"${V0}\" b; do echo \"$x\"; done"),
        ("echo `date` @ $((1 + 2)) @", "echo `date` \"${V0}\" $((1 + 2)) \"${V1}\""),
        ("[ @ -gt 3 ] && n=$(expr @ + 1)", "[ \"${V0}\" -gt 3 ] && n=$(expr \"${V1}\" + 1)"),
        ("export A=@ B; : 2>&1", "export A=\"${V0}\" B; : 2>&1"),
        ("echo % @", "echo raw text \"${V1}\""),
        ("printf '-s' @ \\\n  @", "printf '-s' \"${V0}\" \\\n  \"${V1}\""),
    ] {
        assert_eq!(rendered(script, Dialect::Sh), expected, "{script}");
        assert_eq!(rendered(script, Dialect::Bash), expected, "{script}");
    }
    for (script, expected) in [
        (
            "[[ @ == \"@\" && $x =~ ^(a|b)@$ ]]; echo @",
            "[[ \"${V0}\" == \"${V1}\" && $x =~ ^(a|b)\"${V2}\"$ ]]; echo \"${V3}\"",
        ),
        (
            "a=(@ 'b@'); cat <<<@ <(echo @)",
            "a=(\"${V0}\" 'b'\"${V1}\"''); cat <<<\"${V2}\" <(echo \"${V3}\")",
        ),
        ("echo $'it\\'s'@ $\"@\" &>@", "echo $'it\\'s'\"${V0}\" $\"${V1}\" &>\"${V2}\""),
        ("for ((i=0; i<3; i++)); do echo @ $i; done", "for ((i=0; i<3; i++)); do echo \"${V0}\" $i; done"),
    ] {
        assert_eq!(rendered(script, Dialect::Bash), expected, "{script}");
    }
}

#[test]
fn what_a_shell_would_evaluate_is_refused_with_the_reason() {
    use RefusalKind as Kind;
    let carried = |variable: &str| Kind::Carried { variable: variable.into() };
    for (script, why) in [
        ("echo $@", Kind::AfterDollar),
        ("echo '$@'", Kind::AfterDollar),
        ("echo \\@", Kind::AfterBackslash),
        ("echo \"\\@\"", Kind::AfterBackslash),
        ("echo $'a@'", Kind::AnsiQuotes),
        ("echo `a @`", Kind::Backticks),
        ("echo \"${@}\"", Kind::ParameterName),
        ("echo ${x@}", Kind::ParameterName),
        ("echo ${x/@/y}", Kind::ParameterOperation),
        ("echo ${x:@}", Kind::Arithmetic),
        ("cat <<EOF\n${x:-@}\nEOF", Kind::ParameterInHeredoc),
        ("echo $((@ + 1))", Kind::Arithmetic),
        ("echo $(( $(echo @) ))", Kind::Arithmetic),
        ("echo $[@]", Kind::Arithmetic),
        ("((@))", Kind::Arithmetic),
        ("for ((i=@;;)); do :; done", Kind::Arithmetic),
        ("let x=@", Kind::Arithmetic),
        ("[[ @ -eq 1 ]]", Kind::Arithmetic),
        ("[[ 1 -lt \"@\" ]]", Kind::Arithmetic),
        ("a[@]=1", Kind::Subscript),
        ("a=([@]=1)", Kind::Subscript),
        ("echo ${a[@]}", Kind::Subscript),
        ("[[ x =~ (@) ]]", Kind::PatternParentheses),
        ("cat <<@\n", Kind::HeredocDelimiter),
        ("cat <<'EOF'\n@\nEOF", Kind::QuotedHeredoc),
        ("cat <<\\EOF\n@\nEOF", Kind::QuotedHeredoc),
        ("@=1", Kind::VariableName),
        ("for @ in a; do :; done", Kind::VariableName),
        ("export @", Kind::VariableName),
        ("export a@=1", Kind::VariableName),
        ("read @", Kind::VariableName),
        ("printf -v @ x", Kind::VariableName),
        ("[[ -v @ ]]", Kind::VariableName),
        ("declare -i x=@", Kind::ArrayDeclaration),
        ("declare -n x=@", Kind::ArrayDeclaration),
        ("declare -a x=@", Kind::ArrayDeclaration),
        ("a=(1); declare a=@", Kind::ArrayDeclaration),
        ("@() { :; }", Kind::FunctionName),
        ("function @ { :; }", Kind::FunctionName),
        ("unset @", Kind::Builtin),
        ("command -p unset @", Kind::Builtin),
        ("wait -n @", Kind::Builtin),
        ("compgen -W @", Kind::Builtin),
        ("printf @ x", Kind::OptionPosition),
        ("set @", Kind::OptionPosition),
        ("test -v @", Kind::TestOperator),
        ("[ $(echo @) ]", Kind::TestOperator),
        ("exec >&@", Kind::Descriptor),
        ("PS4=@", Kind::SpecialVariable),
        ("RANDOM=@", Kind::SpecialVariable),
        ("N=@; echo $((N + 1))", carried("N")),
        ("N=@; M=$N; [[ $M -gt 1 ]]", carried("M")),
        ("f() { echo $(($1)); }; f @", carried("@")),
        ("set -- @; echo ${a[$1]}", carried("@")),
        ("read n <<EOF\n@\nEOF\necho $((n))", carried("n")),
        ("X=@; echo ${!X}", carried("X")),
        ("declare -i x; x=@", carried("x")),
        ("declare -i x; printf -v x '-s' @", carried("x")),
        ("X=@; $X", carried("X")),
        ("echo 'a @", Kind::Unterminated),
        ("cat <<EOF\n@\n", Kind::Unterminated),
    ] {
        let analysis = analyse(&pieces(script), Dialect::Bash);
        assert_eq!(analysis.refusals, [Refusal { placeholder: 0, why }], "{script}");
    }
    for (script, expected) in [
        (
            "[ @ @ ]",
            "1: the placeholder stands beside another value in a test, so that one could be an operator",
        ),
        ("@ @", "1: the placeholder is an argument of a command that another value chooses, such as `eval`"),
        ("printf 'a@' @", "1: the placeholder is an argument of `printf` while another value is its format"),
    ] {
        assert_eq!(rendered(script, Dialect::Bash), expected, "{script}");
    }
}

#[test]
fn what_the_scanner_cannot_follow_refuses_what_comes_after_but_not_before() {
    for (script, doubt) in [
        (
            "echo @; echo $((a) (b)); echo @",
            "`((` is closed as something else; write `( (` for nested subshells",
        ),
        (
            "echo @; echo \"${x:-it's}\" @",
            "a single quote stands inside a quoted `${…}`, where shells disagree",
        ),
        ("echo @; cat <<$x\n@", "the delimiter of a here-document is not a fixed word"),
        ("echo @; alias a=b; echo @", "an alias can change how the text after it is read"),
        ("echo @; echo ${x:-<(unset @)}", "a process substitution stands inside a `${…}`"),
        ("echo @; [[ -f <(unset @) ]]", "a process substitution stands inside `[[ … ]]`"),
        ("echo @; ls ) @", "a `)` stands without its `(`"),
        ("echo @; echo \0 @", "it contains a NUL byte"),
    ] {
        let expected =
            format!("1: the shell text up to the placeholder cannot be followed for certain: {doubt}");
        assert_eq!(rendered(script, Dialect::Bash), expected, "{script}");
    }
    for script in [
        "[[ a ]]; echo @",
        "a=(1); echo @",
        "cat <<<x; echo @",
        "((1)); echo @",
        "echo <(a) @",
        "a &>b; echo @",
    ] {
        assert!(rendered(script, Dialect::Sh).contains("cannot be followed for certain"), "{script}");
        assert!(!rendered(script, Dialect::Bash).contains("cannot be followed for certain"), "{script}");
    }
}

#[test]
fn values_with_more_power_than_data_are_linted() {
    use LintKind::{CommandWord, Raw, Reinterpreted};
    for (script, expected) in [
        ("eval \"echo @\"", vec![(0, Reinterpreted)]),
        ("sh -c \"echo @\"", vec![(0, Reinterpreted)]),
        ("sh -c 'echo \"$1\"' sh @", vec![]),
        ("bash -euo pipefail -c \"@\"", vec![(0, Reinterpreted)]),
        ("bash ./script.sh @", vec![]),
        ("sudo -u bob env A=1 bash -c \"@\" @", vec![(0, Reinterpreted)]),
        ("find . -exec sh -c \"@\" \\;", vec![(0, Reinterpreted)]),
        ("xargs -n 1 sh -c \"@\"", vec![(0, Reinterpreted)]),
        ("ssh host rm @", vec![(0, Reinterpreted)]),
        ("su bob -c \"@\"", vec![(0, Reinterpreted)]),
        (". @", vec![(0, Reinterpreted)]),
        ("trap \"rm @\" EXIT", vec![(0, Reinterpreted)]),
        ("python3 -c \"@\"; python3 a.py @", vec![(0, Reinterpreted)]),
        ("perl -pe \"s/@//\" @", vec![(0, Reinterpreted)]),
        ("awk -v x=@ \"/@/\" @", vec![(1, Reinterpreted)]),
        ("sed -i -e \"s/@/x/\" -e 's/@/y/' @", vec![(0, Reinterpreted), (1, Reinterpreted)]),
        ("jq --arg x @ '.a' @", vec![]),
        ("X=@; eval \"echo $X\"", vec![(0, Reinterpreted)]),
        ("X=@; trap 'rm \"$X\"' EXIT", vec![]),
        ("PATH=@:$PATH ls", vec![(0, Reinterpreted)]),
        ("printf \"x@\"", vec![(0, Reinterpreted)]),
        ("@ --version", vec![(0, CommandWord)]),
        ("./bin/@", vec![(0, CommandWord)]),
        ("command @", vec![(0, CommandWord)]),
        ("command -v @", vec![]),
        ("echo %", vec![(0, Raw)]),
    ] {
        let analysis = analyse(&pieces(script), Dialect::Sh);
        let lints: Vec<_> = analysis.lints.iter().map(|lint| (lint.placeholder, lint.kind)).collect();
        assert_eq!((lints, analysis.refusals), (expected, vec![]), "{script}");
    }
    assert_eq!(Raw.to_string(), "the value is inserted as shell text, so it can run any command");
}

#[test]
fn a_raw_value_cannot_move_another_placeholder_into_an_unseen_context() {
    let script = pieces("echo % @");
    let with = |raw: &str| render(&script, Dialect::Bash, |_| "V".into(), |_| raw.into());
    assert_eq!(with("'a b'").unwrap(), "echo 'a b' \"${V}\"");
    assert_eq!(with("\"$(").unwrap_err(), [Refusal { placeholder: 1, why: RefusalKind::Unterminated }]);
    assert_eq!(with("; unset").unwrap_err(), [Refusal { placeholder: 1, why: RefusalKind::Builtin }]);
}

#[test]
fn every_refusal_says_what_to_do_instead() {
    for kind in [RefusalKind::AfterDollar, RefusalKind::Arithmetic, RefusalKind::Unsure("x")] {
        assert!(!kind.help().is_empty() && !kind.help().ends_with('.'));
    }
    assert!(RefusalKind::AfterDollar.help().starts_with("abide's placeholders have no `$`"));
}

#[test]
fn large_and_deep_scripts_are_read_in_one_pass() {
    for unit in [
        "$(",
        "\"$(",
        "${x:-",
        "(",
        "`",
        "\\",
        "\"@\" ",
        "x=$y; ",
        "<<A\n",
        "a[",
        "case x in ",
        "x=@ ",
        "read RANDOM; ",
        "cat <<A\nA\n",
        "echo $((x)) ",
        "x=$(x=$x) ",
        "f(){ f @; }; ",
        "eval '((' ",
        "#@\n",
        "@",
        " @",
        "for PS4 in x; do ",
    ] {
        let script = format!("$x {}", unit.repeat(1_000_000 / unit.len()));
        let _ = analyse(&pieces(&script), Dialect::Bash);
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "'",
        "\"",
        "`",
        "$",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "[[ ",
        " ]]",
        "((",
        "))",
        "<<",
        "<<-",
        "<<<",
        "EOF",
        "\n",
        "\\",
        " ",
        ";",
        ";;",
        "&",
        "|",
        "#",
        "case ",
        " in ",
        "esac",
        "for ",
        "x",
        "=",
        "@",
        "%",
        "<(",
        "$'",
        "${",
        ":-",
        "function ",
        "\t",
        "declare -i ",
        "printf ",
        "-v ",
        "eval ",
        "é",
        "\0",
        "!",
        "-eq ",
        "then ",
        "alias ",
    ]);
    prop::collection::vec(fragment, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_script_makes_the_scanner_panic(script in prop_oneof![fragments(), any::<String>()]) {
        for dialect in [Dialect::Sh, Dialect::Bash] {
            let pieces = pieces(&script);
            let analysis = analyse(&pieces, dialect);
            let placeholders = pieces.iter().filter(|piece| matches!(piece, Piece::Placeholder { .. })).count();
            prop_assert!(analysis.refusals.iter().all(|refusal| refusal.placeholder < placeholders));
            let _ = render(&pieces, dialect, |_| "V".into(), |_| "' $(".into());
        }
    }
}
