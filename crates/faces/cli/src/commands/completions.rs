//! `abide completions SHELL`
//!
//! What clap writes knows commands and options. Which skills there are is asked when somebody completes, so that only
//! those are offered that can be used then.

use crate::args::{Arguments, CompletionsArguments};
use crate::session::Session;
use crate::{Exit, Failure};
use clap::CommandFactory as _;
use clap_complete::Shell;

pub(crate) fn completions(
    session: &mut Session<'_>,
    arguments: &CompletionsArguments,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "abide", &mut script);
    let script = with_skills(arguments.shell, String::from_utf8_lossy(&script).into_owned());
    if session.json {
        session.print_json(&serde_json::json!({ "shell": arguments.shell.to_string(), "script": script }))?;
    } else {
        session.print(&script)?;
    }
    Ok(Exit::Done)
}

/// Adds the names of skills, for the shells that have a way to ask for them.
///
/// A name is the project's, which may be anybody's: it is compared and inserted as text, and no shell expands it.
fn with_skills(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + BASH,
        Shell::Zsh => {
            let asking = script.replace("-- The skill:_default", "-- The skill:_abide_skills");
            // Before what runs the completion, at the end of the file.
            match asking.rfind("\nif [ \"$funcstack[1]\"") {
                Some(end) => format!("{}{ZSH}{}", &asking[..end], &asking[end..]),
                None => asking + ZSH,
            }
        }
        Shell::Fish => script + FISH,
        _ => script,
    }
}

const BASH: &str = r#"
_abide_or_skills() {
    local typed=${COMP_WORDS[COMP_CWORD]} name
    if ((COMP_CWORD >= 3)) && [[ ${COMP_WORDS[COMP_CWORD - 2]} == skill && $typed != -* ]]; then
        case ${COMP_WORDS[COMP_CWORD - 1]} in
        show | validate | trust | untrust | expand | run)
            COMPREPLY=()
            while IFS= read -r name; do
                [[ $name == "$typed"* ]] && COMPREPLY+=("$name")
            done < <("${COMP_WORDS[0]}" skill list --names 2>/dev/null)
            return 0
            ;;
        esac
    fi
    _abide "$@"
}

complete -F _abide_or_skills -o bashdefault -o default abide
"#;

const ZSH: &str = r#"
_abide_skills() {
    local -a names
    names=("${(@f)$(abide skill list --names 2>/dev/null)}")
    compadd -a names
}
"#;

const FISH: &str = r#"
complete -c abide -n "__fish_seen_subcommand_from skill; and __fish_seen_subcommand_from show validate trust untrust expand run" -f -a "(abide skill list --names 2>/dev/null)"
"#;
