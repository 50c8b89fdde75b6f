//! What comes out of a line: the commands, with `…` for what is not known.

use super::*;

fn shown(text: &str) -> String {
    let place = Place { root: "/p".to_owned(), cwd: "/p".to_owned(), home: Some("/h".to_owned()) };
    let line = read(text, &place, None);
    let word = |word: &String| word.replace([ANY, MANY], "…");
    let mut found: Vec<String> = line
        .commands
        .iter()
        .filter(|command| command.origin != Origin::Mentioned)
        .map(|command| {
            let folders: Vec<&str> =
                command.folders.iter().map(|folder| folder.as_deref().unwrap_or("?")).collect();
            let here = if folders == ["/p"] { String::new() } else { format!("[{}] ", folders.join(" ")) };
            format!("{here}{}", command.words.iter().map(word).collect::<Vec<_>>().join(" "))
        })
        .collect();
    found.extend(line.writes.iter().map(|(target, _)| format!("> {}", word(target))));
    found.extend(line.blind.iter().map(|blind| format!("blind: {blind}")));
    found.join("; ")
}

#[test]
fn a_line_comes_apart_into_its_commands() {
    for (line, expected) in [
        ("a b | c && d; e & f", "a b; c; d; e; f"),
        ("a 'b c' \"d\"e\\ f", "a b c de f"),
        ("a > x 2>&1 < y >> z", "a; > x; > z"),
        ("a $X \"$Y\" *.c", "a … … ….c"),
        ("X=1; Y=$X; a $Y ${Y}b", "a 1 1b"),
        ("X='b c'; a $X \"$X\"", "a b c b c"),
        ("a $(b `c`) d", "c; b …; a … d"),
        ("(a; b) && { c; }", "a; b; c"),
        ("if a; then b; elif c; then d; else e; fi; f", "a; b; c; d; e; f"),
        ("for x in 1 2; do a $x; done", "a 1; a 2"),
        ("case $x in a|b) c;; (d) e;& *) f; esac; g", "c; e; f; g"),
        ("f() { a; }; f", "a; f"),
        ("sh -c 'a; b'", "sh -c a; b; a; b"),
        ("sh <<E\na\nE\nb", "sh; a; b"),
        ("cat <<E | a\nb $(c)\nE", "cat; a; c"),
        ("env X=1 timeout 5 a", "env X=1 timeout 5 a; timeout 5 a; a"),
        ("xargs -I{} a {} b", "xargs -I{} a {} b; a … b …"),
        ("cd x && a", "cd x; [/p/x] a"),
        ("cd x; a", "cd x; [/p/x /p] a"),
        ("cd x && a || b", "cd x; [/p/x] a; [/p/x /p] b"),
        ("(cd x && a); b", "cd x; [/p/x] a; b"),
        ("cd $x && a", "cd …; [?] a"),
        ("while a; do cd x; done; b", "[/p ?] a; [/p ?] cd x; [/p/x ? /p] b"),
        ("echo $((1 + (2 * 3)))", "echo …"),
        ("a # b; c", "a"),
        ("[[ a < b && $(c) ]] && d", "c; d"),
        ("~/a ~+/b", "/h/a …/b"),
        ("~+/deploy.sh ~ada", "…/deploy.sh …"),
        ("! time a", "a"),
        ("a <(b) >(c)", "b; c; a … …"),
        ("sh ./x a", "sh ./x a; ./x a"),
        (". x", ". x; ./x"),
        ("git -c alias.l='log -1' l", "git -c alias.l=log -1 l; git log -1"),
        ("echo a | sh", "echo a; sh; blind: `sh` takes what it runs from its input"),
        ("a (b", "blind: the command cannot be taken apart (a `(` in the middle of a command)"),
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}
