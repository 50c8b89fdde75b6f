//! What holds for every text.

use super::*;
use proptest::prelude::*;

/// Pieces of shell text, whole and torn; none of them begins a here-document, which could swallow what follows.
const PIECES: &[&str] = &[
    "ls", "echo", " ", " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "'", "\"", "`", "$", "$(",
    "${", "$((", "))", "}", "#", "!", "=", "X=", "A=(", "[[", "]]", "[", "]", "*", "?", "~", "if", "then",
    "fi", "for", "in", "do", "done", "while", "case", "esac", ";;", "function", "f()", "time", "cd", "src",
    "eval", "exec", ">", "out", "2>&1", "é", "\\x", "\t", "git", "status", "env", "sh", "-c", "x", "exit",
    "\\ ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn nothing_that_stands_before_a_reserved_command_hides_it(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..20),
    ) {
        let before = pieces.concat();
        // In another folder, `./deploy.sh` is another file.
        let stays = !pieces.contains(&"cd");
        for command in ["./deploy.sh", "git push"].into_iter().skip(usize::from(!stays)) {
            let text = format!("{before}\n{command}\n");
            let found = judge(&free(), &bash(&text));
            prop_assert!(is_denied(&found), "{text:?}: {found:?}");
        }
    }

    #[test]
    fn any_call_at_all_is_answered(command in ".{0,200}", name in ".{0,20}", path in ".{0,40}") {
        let arguments = map(&[("command", text(&command)), ("path", text(&path)), ("url", text(&path))]);
        for client in Client::ALL {
            for name in [name.as_str(), "Bash", "bash", "Edit", "batch", "apply_patch"] {
                let call = ToolCall::read(*client, name, &arguments);
                let _ = judge(&free(), &call);
                let strict = running("build", Enforcement::Strict, step(StepType::Script, Grants::Own));
                prop_assert!(is_denied(&judge(&strict, &call)));
            }
        }
    }

    #[test]
    fn a_normal_path_is_its_own_normal_path(path in "[./a~ \\\\-é]{0,30}") {
        let raw = path::absolute(&path, "/project", Some("/home/ada"));
        let once = path::normal(&raw, "/project");
        prop_assert_eq!(path::normal(&once, "/project"), once);
    }
}

#[test]
fn a_text_that_ends_in_a_backslash_is_answered() {
    for command in ["<<\\", "cat <<\\", "cat <<-\\", "echo \\", "a=\\", "echo \"\\", "> \\", "echo ${a\\"] {
        let call = ToolCall::read(Client::ClaudeCode, "Bash", &map(&[("command", text(command))]));
        let _ = judge(&free(), &call);
        let strict = running("build", Enforcement::Strict, step(StepType::Script, Grants::Own));
        assert!(is_denied(&judge(&strict, &call)), "{command}");
    }
}
