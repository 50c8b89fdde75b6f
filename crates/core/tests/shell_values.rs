//! Values against real shells: they come back byte for byte, and none ever runs.
#![expect(
    clippy::disallowed_methods,
    reason = "what a shell makes of a script can only be learnt from the shell; processes and files are the test"
)]
#![cfg(unix)]

mod shells;

use abide_core::value::shell::{Dialect, LintKind, analyse, render};
use proptest::prelude::*;
use shells::{SHELLS, Scripts, hostile_values, pieces_of, run_all};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

/// A way to print a value, and what the printed field must be.
struct Place {
    script: &'static str,
    /// The field, in which `@` is the value.
    field: &'static str,
    bash_only: bool,
}

const fn place(script: &'static str, field: &'static str) -> Place {
    Place { script, field, bash_only: false }
}

const fn bash(script: &'static str, field: &'static str) -> Place {
    Place { script, field, bash_only: true }
}

/// Every supported context; `@` is the placeholder, and each script prints one field with a NUL at its end.
const PLACES: &[Place] = &[
    place(r"printf '%s\0' @", "@"),
    place(r"printf '%s\0' a@b", "a@b"),
    place(r"printf '%s\0' @@", "@@"),
    place(r#"printf '%s\0' "@""#, "@"),
    place(r#"printf '%s\0' "a b@c@ d""#, "a b@c@ d"),
    place(r"printf '%s\0' '@'", "@"),
    place(r"printf '%s\0' 'a b\@$(c)@ d'", r"a b\@$(c)@ d"),
    place(r#"printf '%s\0' x"@"'@y'"#, "x@@y"),
    place(r#"printf '%s\0' "\$@\\""#, "$@\\"),
    place(r"printf '%s\0' \\@", "\\@"),
    place("X=@; printf '%s\\0' \"$X\"", "@"),
    place("X=1; printf '%s\\0' \"$X@\"", "1@"),
    place("X=1; printf '%s\\0' $X@", "1@"),
    place("export X=@; printf '%s\\0' \"$X\"", "@"),
    place("X=a:@ sh -c 'printf \"%s\\0\" \"$X\"'", "a:@"),
    place("printf '%s\\0' \"$(printf '%s.' @)\"", "@."),
    place("printf '%s\\0' \"$(printf '%s.' \"@\")\"", "@."),
    place("printf '%s\\0' \"$(printf '%s.' '@')\"", "@."),
    place("printf '%s\\0' \"$(printf '%s.' \"$(printf %s. '<@>')\")\"", "<@>.."),
    place("printf '%s\\0' \"`echo \\\"x\\\"`@\"", "x@"),
    place("printf '%s\\0' ${NONE:-@}", "@"),
    place("printf '%s\\0' ${NONE:-a' b@c'}", "a b@c"),
    place("printf '%s\\0' ${NONE:-\"a b@c\"}", "a b@c"),
    place("printf '%s\\0' \"${NONE:-@}\"", "@"),
    place("printf '%s\\0' \"${NONE-x @ y}\"", "x @ y"),
    place("printf '%s\\0' \"${NONE:-\"@\"}\"", "@"),
    place("printf '%s\\0' \"${HOME:+@}\"", "@"),
    place("unset X; : \"${X:=@}\"; printf '%s\\0' \"$X\"", "@"),
    place("X=@; printf '%s.\\0' \"${X#@}\"", "."),
    place("X=@.; printf '%s\\0' \"${X#@}\"", "."),
    place("X=.@; printf '%s\\0' \"${X%@}\"", "."),
    place("X=@.; printf '%s\\0' \"${X##\"@\"}\"", "."),
    place("X=@.; printf '%s\\0' ${X#@}", "."),
    place("{ cat; printf '\\0'; } <<EOF\na@b\nEOF", "a@b\n"),
    place("{ cat; printf '\\0'; } <<-EOF\n\t'@' \"\n\tEOF", "'@' \"\n"),
    place("{ cat; printf '\\0'; } <<EOF\n$(printf '%s.' @)\nEOF", "@.\n"),
    place("printf '%s\\0' \"$(cat <<EOF\n@.\nEOF\n)\"", "@."),
    place("cat <<A; cat <<'B'; cat <<C; printf '\\0'\n@\nA\n'.\nB\n@\nC", "@\n'.\n@\n"),
    place("case @ in *) printf '%s\\0' a@ ;; esac", "a@"),
    place("case @ in (@) printf '%s\\0' @ ;; *) echo bad ;; esac", "@"),
    place("case x@ in \"x@\") printf '%s\\0' @ ;; *) echo bad ;; esac", "@"),
    place("printf '%s\\0' \"$(case x in x) printf '%s.' @;; esac)\"", "@."),
    place("for X in @; do printf '%s\\0' \"$X\"; done", "@"),
    place("f() { printf '%s\\0' \"$1\"; }; f @", "@"),
    place("set -- @; printf '%s\\0' \"$1\"", "@"),
    place("(printf '%s\\0' @)", "@"),
    place("{ printf '%s\\0' @; }", "@"),
    place("if [ @ = @ ]; then printf '%s\\0' @; fi", "@"),
    place("[ -n x@ ] && printf '%s\\0' @ # it's @ comment", "@"),
    place("# @ 'comment\nprintf '%s\\0' @", "@"),
    place("printf '%s' @ | { cat; printf '\\0'; }", "@"),
    place("printf '%s\\0' \\\n@", "@"),
    place("printf '%s\\0' ~@'*'?[a]{a}", "~@*?[a]{a}"),
    place("printf '%s\\0' $((1 + 1))@", "2@"),
    place("printf '%s\\0' @ 2>&1", "@"),
    bash("{ cat; printf '\\0'; } <<<@", "@\n"),
    bash("{ cat; printf '\\0'; } <<<\"a @\"", "a @\n"),
    bash("b=(x @ 'y@'); printf '%s\\0' \"${b[1]}\"", "@"),
    bash("[[ @ == @ && -n x@ ]] && printf '%s\\0' @", "@"),
    bash("[[ x@ =~ ^x@$ ]] && printf '%s\\0' @", "@"),
    bash("cat <(printf '%s\\0' @)", "@"),
    bash("printf '%s\\0' $\"a@\"", "a@"),
    bash("printf '%s\\0' {a,@} | tr '\\0' '.'; printf '\\0'", "a.@."),
    bash("printf '%s\\0' $'it\\'s '@", "it's @"),
];

/// Places that a script with arrays is refused.
const WITHOUT_ARRAYS: &[Place] = &[
    bash("declare X=@; printf '%s\\0' \"$X\"", "@"),
    bash("f() { local X=@; printf '%s\\0' \"$X\"; }; f", "@"),
];

fn expected(place: &Place, value: &[u8]) -> Vec<u8> {
    let mut field = Vec::new();
    for byte in place.field.bytes() {
        match byte {
            b'@' => field.extend(value),
            other => field.push(other),
        }
    }
    field
}

fn print_everywhere(value: &[u8]) {
    for (shell, arguments, dialect) in SHELLS {
        let places: Vec<&Place> = PLACES
            .iter()
            .chain(WITHOUT_ARRAYS)
            .filter(|place| *dialect == Dialect::Bash || !place.bash_only)
            .collect();
        let mut script = String::new();
        for place in &places {
            let rendered =
                render(&pieces_of(place.script), *dialect, |_| "ABIDE_VALUE".into(), |_| String::new());
            script.push_str(&rendered.unwrap_or_else(|why| panic!("{}: {why:?}", place.script)));
            script.push('\n');
        }
        let output = Command::new(shell)
            .args(*arguments)
            .args(["-c", &script])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .env("ABIDE_VALUE", OsString::from_vec(value.to_vec()))
            .env("LC_ALL", "C")
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let fields: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
        for (index, place) in places.iter().enumerate() {
            let field = fields.get(index).copied().unwrap_or_default();
            assert!(
                field == expected(place, value),
                "{shell}: {}\nwith {:?}\nprinted {:?}\n{}",
                place.script,
                String::from_utf8_lossy(value),
                String::from_utf8_lossy(field),
                String::from_utf8_lossy(&output.stderr),
            );
        }
    }
}

#[test]
fn hostile_values_come_back_byte_for_byte_from_every_context() {
    for value in hostile_values("/nonexistent/pwned") {
        print_everywhere(value.as_bytes());
    }
    for value in
        ["", "\n", "a\n\n", "~", "-n", "--", "*", "\\", "\\\n", "'", "\"", "é ☃", "!!", "$V", "{a,b}", "\r\n"]
    {
        print_everywhere(value.as_bytes());
    }
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    let nasty = prop::sample::select(b"'\"`$(){}[]<>|&;#~*?!\\\n\t -=%aE\x01\xff\xc3".to_vec());
    prop_oneof![
        prop::collection::vec(nasty, 0..24),
        prop::collection::vec(1u8..=255, 0..40),
        any::<String>().prop_map(|text| text.replace('\0', "").into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_comes_back_byte_for_byte_from_every_context(value in values()) {
        print_everywhere(&value);
    }
}

#[test]
fn no_accepted_script_ever_runs_a_value() {
    // More with ABIDE_SCRIPTS=50000, when the scanner changes.
    let wanted = std::env::var("ABIDE_SCRIPTS").ok().and_then(|count| count.parse().ok()).unwrap_or(800);
    for (seed, (shell, arguments, dialect)) in SHELLS.iter().enumerate() {
        let mut scripts = Scripts::new(0x00ab_1de0 + seed as u64 + wanted as u64);
        let mut accepted = Vec::new();
        let mut refused = 0;
        while accepted.len() < wanted {
            let script = scripts.next();
            let pieces = pieces_of(&script);
            let analysis = analyse(&pieces, *dialect);
            let reinterpreted = analysis.lints.iter().any(|lint| lint.kind == LintKind::Reinterpreted);
            if analysis.refusals.is_empty() && !reinterpreted && pieces.len() > 1 {
                let rendered = render(
                    &pieces,
                    *dialect,
                    |index| format!("V{}", (index + accepted.len()) % 8),
                    |_| String::new(),
                );
                accepted.push((script, rendered.unwrap()));
            } else {
                refused += 1;
            }
        }
        assert!(refused > wanted, "the grammar should reach what is refused");
        run_all(shell, arguments, &accepted);
    }
}

#[test]
#[should_panic(expected = "scripts let a value run")]
fn the_harness_notices_a_value_that_runs() {
    run_all(
        "bash",
        &[],
        &[("eval".to_owned(), "eval \"$V0\"; eval \"$V1\"; let \"$V2\"; let \"$V3\"".to_owned())],
    );
}
