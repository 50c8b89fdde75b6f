//! Ways to run the protected script with a shell, each by its name.

use crate::stage::Stage;
use abide_testkit::client::Client;

/// The ways; each runs `./deploy.sh` when nobody stands in front of it.
///
/// `ROOT` is the project's folder. `crates/core/src/policy/tests/doors.rs` has many more; these are the ones that a client, its
/// shell or the disk could make something else of.
const DOORS: &[(&str, &str)] = &[
    ("as it is", "./deploy.sh now"),
    ("absolute path", "ROOT/deploy.sh now"),
    ("dots", "src/.././deploy.sh now"),
    ("cd and back", "cd src && ../deploy.sh now"),
    ("cd elsewhere", "cd /tmp && ROOT/deploy.sh now"),
    ("sh -c", "sh -c './deploy.sh now'"),
    ("sh file", "sh deploy.sh now"),
    ("env", "env A=1 ./deploy.sh now"),
    ("xargs", "echo now | xargs ./deploy.sh"),
    ("variable", "X=./deploy.sh; $X now"),
    ("variable in parts", "A=./dep; B=loy.sh; $A$B now"),
    ("quoting", "'./dep'\"loy\".sh now"),
    ("backslashes", "./de\\ploy.sh now"),
    ("glob", "./dep*.sh now"),
    ("substitution", "echo $(./deploy.sh now)"),
    ("eval", "eval './deploy.sh now'"),
    ("decoded", "echo Li9kZXBsb3kuc2ggbm93 | base64 -d | sh"),
    ("heredoc", "sh <<'EOF'\n./deploy.sh now\nEOF"),
    ("background", "./deploy.sh now & wait"),
    ("find", "find . -name deploy.sh -exec {} now \\;"),
    ("another language", "node -e 'require(\"child_process\").execSync(\"./deploy.sh now\")'"),
    ("a link that is there", "./linked now"),
    ("a link that is made", "ln -s ROOT/deploy.sh made; ./made now"),
    ("a copy", "cp deploy.sh copied; ./copied now"),
    ("after a long line", "true LONG; ./deploy.sh now"),
];

/// Returns the ways in a project, which has what they need.
pub(crate) fn doors<C: Client>(stage: &Stage<C>) -> Vec<(&'static str, String)> {
    let link = stage.path("linked");
    if !link.is_symlink() {
        std::os::unix::fs::symlink("deploy.sh", link).unwrap();
    }
    let root = stage.root().to_str().unwrap();
    let long = "x".repeat(100_000);
    DOORS.iter().map(|(name, text)| (*name, text.replace("ROOT", root).replace("LONG", &long))).collect()
}

mod real_clients {
    use super::*;

    /// The others would prove nothing if these led nowhere. Of a client, only its folders take part.
    #[test]
    fn every_door_leads_to_the_protected_script_when_nobody_guards_it() {
        let stage = Stage::bare(crate::claude());
        for (number, (name, command)) in doors(&stage).into_iter().enumerate() {
            let output = stage.command("bash", &["-c", &command]).output().unwrap();
            assert_eq!(stage.deployed().len(), number + 1, "{name}: {output:?}");
        }
    }
}
