//! Random scripts that reach everything a shell evaluates, and nothing outside their folder.

/// Random scripts of a grammar that reaches everything a shell evaluates; the same seed gives the same ones.
pub(crate) struct Scripts {
    state: u64,
    budget: usize,
}

impl Scripts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, budget: 0 }
    }

    pub(crate) fn next(&mut self) -> String {
        self.budget = 6;
        let mut script = self.command();
        for _ in 0..self.below(3) {
            let separator = self.pick(&["; ", "\n", " && ", " | ", " # @ it's\n", "\n# \"@\n"]);
            script = format!("{script}{separator}{}", self.command());
        }
        script.push('\n');
        script
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % bound as u64).unwrap()
    }

    fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len())]
    }

    /// Fills a template: `W` word, `C` command, `E` arithmetic, `N` name of a variable.
    fn fill(&mut self, template: &str) -> String {
        let mut filled = String::new();
        for part in template.chars() {
            match part {
                'W' => filled.push_str(&self.word()),
                'C' => filled.push_str(&self.command()),
                'E' => {
                    let expression = self.pick(&[
                        "N",
                        "$N",
                        "@",
                        "N + 1",
                        "1 + 1",
                        "N[0]",
                        "\"$N\"",
                        "N << 1",
                        "$(echo @)",
                    ]);
                    filled.push_str(&self.fill(expression));
                }
                'N' => filled.push_str(self.pick(&["X", "Y", "Z", "a"])),
                other => filled.push(other),
            }
        }
        filled
    }

    #[rustfmt::skip]
    fn word(&mut self) -> String {
        let deep = [
            "$(C)", "\"$(C)\"", "`C`", "\"a `C` @\"", "<(C)", "\"$(C) @\"", "$( (C) )", "$((C))",
            "${N:-$(C)}",
        ];
        let flat = [
            "@", "@", "@", "x", "'a @ b'", "\"a @ b\"", "$N", "\"$N\"", "a@b", "${N:-@}", "\"${N:-@}\"",
            "${N#@}", "\"${N%@}\"", "${N:=@}", "\"${N:-\"@\"}\"", "\"${N:-it's}@\"", "$((E))", "\"$((E))\"",
            "$[E]", "\\@", "\\\\@", "$'a@'", "$'a\\'b'@", "$\"@\"", "${N/@/y}", "${N/x/$N}", "${a[@]}",
            "${a[E]}", "${N:E}", "${!N}", "${#N}", "{a,@}", "~@", "\"\\\"@\"", "'\\'@", "\"'\"@'\"'", "$N@",
            "\"$N@\"", "$@", "${@}", "$*", "$1", "\"$1\"", "\\'@", "#@", "a#'@'", "-v", "-@", "$_",
            "\"$((N))@\"", "=@", "a=@", "\"x\ny @\"", "1", "${N%%W}", "\"${N##W}\"", "${N:-W}",
        ];
        if self.budget > 0 && self.below(4) == 0 {
            self.budget -= 1;
            let template = self.pick(&deep);
            return self.fill(template);
        }
        let template = self.pick(&flat);
        // `W` inside a word is bounded by the budget as well.
        if template.contains('W') && self.budget == 0 {
            return "@".into();
        }
        self.budget = self.budget.saturating_sub(usize::from(template.contains('W')));
        self.fill(template)
    }

    #[rustfmt::skip]
    fn command(&mut self) -> String {
        let deep = [
            "( C )", "{ C; }", "if C; then C; fi", "case W in W) C;; *) C;; esac",
            "case W in\n(W|x) C\n;;\nesac", "for N in W W; do C; done", "f() { C; }; f W",
            "f() { echo $((E)); C; }; f W", "C | C", "C && C", "C; C",
            "while read N; do C; break; done <<EOF\nW\nEOF", "echo W | while read N; do C; done", "! C",
            "X=$(C); C", "function g { C; }; g W W", "((C))", "(C); (C)", "time C",
            "C <<EOF; C\n@ W\nEOF\n", "for ((i=0; i<1; i++)); do C; done", "(C\n) | C",
            "cat <<A - <<EOF; C\n@\nA\n$(C)\nEOF\n",
        ];
        let flat = [
            "echo W W", "N=W", "N=W", "N=W echo W", "export N=W", "declare N=W", "declare -i N=W",
            "declare -i N", "declare -n N=W", "local N=W", "readonly N=W", "declare -a N=W", "declare W",
            "typeset W=1", "export W", "unset W", "unset N", "read N <<< W", "read W", "printf W W",
            "printf '%s' W", "printf -v W x", "printf -v N '%s' W", "printf -- W W", "printf 'x@' W",
            "[ W = W ]", "[ W W ]", "[ W ]", "[ -n W ]", "[ W -eq W ]", "[ ! W W ]", "test -v W",
            "test W W W", "[[ W == W ]]", "[[ W -eq W ]]", "[[ -v W ]]", "[[ W =~ W ]]", "[[ W =~ (a|W) ]]",
            "[[ N -gt 1 ]]", "[[ ( W ) && ! W ]]", "[[ W < W ]]", "[[ -f <(C) ]]", "echo ${N:-<(C)}", "((E))", "let E", "let N=W", "N[E]=W",
            "a=(W W)", "a=([E]=W)", "a+=(W)", "set -- W W", "set W", "shift W", ": > ./W", ": >&./W",
            ": 2>&./W", ": < ./W", "cat <<EOF\nW @\nEOF\n", "cat <<'EOF'\nW\nEOF\n",
            "cat <<-EOF\n\t@ $N ${N:-@}\n\tEOF\n", "cat <<\\EOF\n$(\nEOF\n", "cat <<< W", "wait -n W",
            "wait W", "mapfile N <<< W", "getopts W N", "getopts x N W", ": ${N:=W}", ": \"${N:=@}\"", "W",
            "W W", "$N", "\"$N\" W", "command W", "command -v W", "builtin unset W", "command -p unset W",
            "trap W EXIT", "trap 'echo $((N))' EXIT", "eval 'echo $((N))'", "eval W", "PS4=W; set -x; :",
            "RANDOM=W", "OPTIND=W", "BASH_ENV=W bash -c :", "compgen -W W", "jobs W x", "hash W", "exit W",
            "cd W", "# W @", "echo '@' \"@\" @", "echo \"@\" # '@'", "for @ in x; do :; done", "@=1",
            "@() { :; }", "echo a\\\n@", "exec W", "kill -l W", "umask W", "ulimit -n W", "type W",
            "echo $N W; Y=$_; echo $((Y))", "sh -c 'echo \"$1\"' _ W", "N=W; echo $((N))",
            "N=W; [[ $N -eq 1 ]]", "N=W; echo ${!N}", "N=W; echo ${N:N}", "N=W; [ $N ]", "X=W; Y=$X; let Y",
            "alias x=W", "return W", "N=W; $N", "declare -A N=([W]=W)", "select N in W; do break; done",
            "echo W > /dev/null 2>&1", "{ echo W; } 2>/dev/null", "N+=W", "coproc W", "export N; N=W",
            "local -a N; local N=W", "a=(1); declare a=W", "echo ${N:-`echo x`}@", "test W -eq W -o W",
        ];
        if self.budget > 0 && self.below(2) == 0 {
            self.budget -= 1;
            let template = self.pick(&deep);
            return self.fill(template);
        }
        let template = self.pick(&flat);
        self.fill(template)
    }
}
