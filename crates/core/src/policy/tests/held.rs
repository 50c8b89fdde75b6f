//! What keeps a protection in place without a run: nothing replaces, moves or finds its way to it.

use super::*;

/// A session without a run, whose definition of `deploy` protects something.
fn protected() -> Situation {
    let mut situation = free();
    for guarded in &mut situation.guarded {
        if guarded.role == Role::Definition {
            guarded.role = Role::Reservation;
            guarded.path = "/project/.abide/abilities/deploy".to_owned();
        }
    }
    situation
}

const G: &str = ".abide/abilities/deploy/ability.yaml";

#[test]
fn a_folder_above_a_definition_is_not_replaced_or_taken_away() {
    for command in [
        "cp -r /tmp/evil/deploy .abide/abilities/",
        "cp -r /tmp/evil/deploy .abide/abilities",
        "cp -a /tmp/evil/.abide .",
        "cp -rt .abide/abilities /tmp/evil/deploy",
        "cp -rT /tmp/e .abide",
        "cp -r /tmp/e/. .abide/abilities",
        "cp -r /tmp/$X .abide/abilities",
        "rsync -a --delete empty/ .abide/",
        "rsync -a /tmp/evil/deploy .abide/abilities/",
        "tar xf x.tar -C .abide/abilities",
        "tar -xf x.tar --directory=.abide",
        "unzip -o x.zip -d .abide",
        "tar xf x.tar -C .",
        "tar xf x.tar -C ~/.local/share",
        "rsync -a --remove-source-files .abide/abilities/deploy/ability.yaml /tmp/",
        "tar --remove-files -cf /tmp/x.tar .abide",
        "zip -rm /tmp/x.zip .abide",
        "gzip -r .abide",
        "npx rimraf .abide",
        "gio trash .abide",
        "trash-put .",
        "sometool .abide/abilities",
    ] {
        assert!(is_denied(&judge(&protected(), &bash(command))), "{command}");
    }
    for command in [
        "cp -r .abide /tmp/backup",
        "cp -r src docs /tmp/x",
        "cp -r /tmp/template/src .",
        "cp -r a b",
        "rsync -a /tmp/assets .",
        "tar cf /tmp/x.tar .",
        "tar xzf x.tgz",
        "tar czf /tmp/x.tgz -C . src",
        "tar xf x.tar -C vendor",
        "unzip x.zip -d vendor",
        "gzip notes.txt",
        "npx rimraf dist",
        "npx prettier --write .",
        "cargo build .",
    ] {
        assert_eq!(judge(&protected(), &bash(command)), Verdict::Allow, "{command}");
    }
}

#[test]
fn a_definition_is_not_edited_in_place() {
    for command in [
        "sed --in s/protects/x/",
        "sed --i=.bak s/a/b/",
        "sed -ni s/a/b/",
        "gawk -i inplace 1",
        "gawk -iinplace 1",
        "awk --include inplace 1",
        "gawk --include=inplace 1",
    ] {
        let line = format!("{command} {G}");
        assert!(is_denied(&judge(&protected(), &bash(&line))), "{line}");
    }
    for command in ["sed -n 1p", "sed --quiet 1p", "awk 1", "gawk -i lib 1"] {
        let line = format!("{command} {G}");
        assert_eq!(judge(&protected(), &bash(&line)), Verdict::Allow, "{line}");
    }
}

#[test]
fn a_definition_that_one_command_finds_is_not_changed_by_another() {
    for command in [
        "find .abide -name ability.yaml -exec rm {} +".to_owned(),
        "find . -name '*.yaml' -exec sed -i s/a/b/ {} +".to_owned(),
        "find .abide -type f -exec rm {} \\;".to_owned(),
        "find .abide -name ability.yaml | xargs rm".to_owned(),
        "find . -iname 'ability.*' -print0 | xargs -0 rm -f".to_owned(),
        "cd .abide/abilities && rm -rf *".to_owned(),
        "cd .abide/abilities; rm -rf \"$X\"".to_owned(),
        format!("rm $(echo {G})"),
        format!("rm `ls {G}`"),
        format!("perl -i -pe s/a/b/ $(ls {G})"),
        "rm $(find .abide -name ability.yaml)".to_owned(),
    ] {
        assert!(is_denied(&judge(&protected(), &bash(&command))), "{command}");
    }
    for command in [
        "find . -name '*.rs' -exec rustfmt {} +".to_owned(),
        "find . -name '*.o' -exec rm {} +".to_owned(),
        "find . -name '*.rs' | xargs rustfmt".to_owned(),
        "find .abide -type f -exec cat {} +".to_owned(),
        "find .abide -name ability.yaml | xargs wc -l".to_owned(),
        "rm -rf *".to_owned(),
        "rm \"$TMP\"".to_owned(),
        format!("cat {G} && cargo run -- \"$X\""),
    ] {
        assert_eq!(judge(&protected(), &bash(&command)), Verdict::Allow, "{command}");
    }
}

#[test]
fn a_tool_that_nobody_knows_is_held_by_whatever_it_names() {
    let call = |name: &str, arguments: Value| ToolCall::read(Client::ClaudeCode, name, &arguments);
    let one = |name: &str, key: &str, path: &str| call(name, map(&[(key, text(path))]));
    let edits = map(&[("edits", Value::List(vec![map(&[("name", text(G))])]))]);
    for denied in [
        one("mcp__fs__delete", "path", ".abide"),
        one("mcp__fs__delete", "path", "."),
        one("mcp__fs__move", "source", ".abide"),
        one("mcp__fs__put", "path", ".abide/abilities"),
        one("mcp__fs__put", "relative_path", G),
        one("mcp__fs__put", "absolute_path", "/project/.abide/abilities/deploy/ability.yaml"),
        one("mcp__fs__put", "target_file", G),
        one("mcp__fs__put", "dest", "src/../.abide/abilities/deploy/x"),
        call("mcp__fs__put", edits),
    ] {
        assert!(is_denied(&judge(&protected(), &denied)), "{denied:?}");
    }
    for allowed in [
        one("mcp__fs__list", "path", "."),
        one("mcp__fs__delete", "path", "src"),
        one("mcp__notes__add", "text", "see .abide/abilities/deploy for more"),
    ] {
        assert_eq!(judge(&protected(), &allowed), Verdict::Allow, "{allowed:?}");
    }
}

#[test]
fn nothing_is_typed_into_another_terminal_while_something_is_held() {
    for command in [
        "tmux send-keys -t 0 approved Enter",
        "tmux -L zz send approved Enter",
        "tmux paste-buffer -t 0",
        "screen -S x -X stuff 'approved\\n'",
        "zellij action write-chars approved",
        "wezterm cli send-text approved",
        "kitty @ send-text approved",
        "xdotool type approved",
    ] {
        for situation in [free(), running("build", Enforcement::Strict, step(StepType::Agent, Grants::Own))] {
            assert!(is_denied(&judge(&situation, &bash(command))), "{command}");
        }
        let nothing = Situation { reserved: Vec::new(), ..free() };
        assert_eq!(judge(&nothing, &bash(command)), Verdict::Allow, "{command}");
    }
    for command in ["tmux ls", "tmux capture-pane -p", "screen -ls"] {
        assert_eq!(judge(&free(), &bash(command)), Verdict::Allow, "{command}");
    }
}
