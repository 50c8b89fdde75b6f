//! What suggests an ability, and what only mentions its words.

use super::*;
use crate::definition::Pattern;
use crate::source::{Span, Spanned};

fn triggers(keywords: &[&str], patterns: &[&str]) -> Triggers {
    let spanned = |text: &&str| Spanned::new((*text).to_owned(), Span::default());
    Triggers {
        keywords: keywords.iter().map(spanned).collect(),
        patterns: patterns
            .iter()
            .map(|pattern| Spanned::new(Pattern::parse(pattern).unwrap(), Span::default()))
            .collect(),
    }
}

fn deploy() -> Triggers {
    triggers(&["deploy", "ship it", "release to production"], &[])
}

fn suggests(message: &str) -> bool {
    !detect(message, [("deploy", &deploy())]).suggestions.is_empty()
}

#[test]
fn a_request_suggests_the_ability() {
    for message in [
        "deploy",
        "Deploy v1.2.3",
        "please DEPLOY to staging.",
        "Can you deploy v1.2.3?",
        "could you please deploy this?",
        "Tests are green, deploy!",
        "run the deploy",
        "do the deploy, please",
        "ok — ship   it",
        "Let's ship it!",
        "fix the bug and then release to production",
        "I don't care about the warning, deploy",
        "deploy (staging)",
        "deploy, then tell me",
    ] {
        assert!(suggests(message), "{message}");
    }
}

#[test]
fn a_mention_in_passing_does_not() {
    for message in [
        "",
        "our relationship is fine",
        "redeploy",
        "deployment",
        "the deployed version",
        "fix deploy.sh",
        "look at pre-deploy and deploy-keys",
        "edit scripts/deploy and deploy_all",
        "don't deploy",
        "Do not deploy yet.",
        "never deploy on fridays",
        "build it without deploy",
        "please fix this but do not deploy",
        "how does deploy work?",
        "what does the deploy script do",
        "Why did deploy fail?",
        "did you deploy yesterday?",
        "explain deploy to me",
        "the deploy failed",
        "after the last deploy things broke",
        "rename `deploy` to `release`",
        "the button says \"deploy\"",
        "```\ndeploy\n```",
        "> deploy\nwhat do you think of this quote",
        "ship the parcel, it is heavy",
        "ship `x` it",
        "“ship it” is a slogan",
    ] {
        assert!(!suggests(message), "{message}");
    }
}

#[test]
fn the_best_match_wins_and_says_why() {
    let (deploy, production) = (deploy(), triggers(&["deploy to production"], &[]));
    let (version, ship) = (triggers(&[], &[r"deploy.*v\d+"]), triggers(&["ship it"], &[]));
    let all = [("deploy", &deploy), ("production", &production), ("version", &version), ("ship", &ship)];
    let names = |message: &str| -> Vec<String> {
        detect(message, all)
            .suggestions
            .iter()
            .map(|found| format!("{}: {}", found.ability, found.reason))
            .collect()
    };
    assert_eq!(
        names("deploy to production v1"),
        [
            "version: the message matches `deploy.*v\\d+`",
            "production: the message says `deploy to production`",
            "deploy: the message says `deploy`",
        ]
    );
    assert_eq!(names("ship it"), ["deploy: the message says `ship it`", "ship: the message says `ship it`"]);
    assert_eq!(names("do not deploy v1 please"), [""; 0]);
}

#[test]
fn the_score_says_what_wins() {
    let (words, pattern) = (triggers(&["ship it now", "ship it"], &[]), triggers(&[], &["ship"]));
    let detection = detect("ship it now", [("words", &words), ("pattern", &pattern)]);
    let scores: Vec<(&str, usize)> =
        detection.suggestions.iter().map(|found| (found.ability.as_str(), found.score)).collect();
    assert_eq!(scores, [("pattern", 10_004), ("words", 311)]);
    assert_eq!(detection.best(|_| true).map(|best| best.ability.as_str()), Some("pattern"));
    assert_eq!(detection.best(|name| name != "pattern").map(|best| best.ability.as_str()), Some("words"));
    assert_eq!(detection.best(|_| false), None);
}

#[test]
fn what_is_passed_over_says_why() {
    let deploy = deploy();
    let why =
        |message: &str| detect(message, [("deploy", &deploy)]).passed_over.first().map(|found| found.mention);
    assert_eq!(why("don't deploy"), Some(Mention::Negated));
    assert_eq!(why("how does deploy work?"), Some(Mention::Question));
    assert_eq!(why("the deploy failed"), Some(Mention::Noun));
    assert_eq!(why("deploy it"), None);
    assert_eq!(why("hello"), None);
}

#[test]
fn words_of_every_language_are_whole() {
    let triggers = triggers(&["überprüfen", "發布"], &["(?i)ausliefern"]);
    let suggests = |message: &str| !detect(message, [("x", &triggers)]).suggestions.is_empty();
    assert!(suggests("Bitte ÜBERPRÜFEN!"));
    assert!(suggests("請 發布 。"));
    assert!(suggests("Jetzt Ausliefern"));
    assert!(!suggests("Überprüfendes"));
}

#[test]
fn an_ability_is_suggested_once_in_ten_seconds() {
    let at = |seconds: i64| Timestamp(seconds * 1_000);
    assert!(may_suggest(None, at(0)));
    assert!(!may_suggest(Some(at(100)), at(100)));
    assert!(!may_suggest(Some(at(100)), at(109)));
    assert!(may_suggest(Some(at(100)), at(110)));
    assert!(may_suggest(Some(at(100)), at(50)), "a clock that went back does not silence it");
}

#[test]
fn any_message_is_answered() {
    let deploy = deploy();
    for message in
        ["`".repeat(100_000), "deploy ".repeat(50_000), "“".repeat(9_999), "\u{0}…\n".repeat(9_999)]
    {
        let _ = detect(&message, [("deploy", &deploy)]);
    }
}

#[test]
fn a_pattern_is_not_compiled_again_for_every_sentence() {
    // More patterns than are kept compiled: one compilation for each sentence would take minutes.
    let patterns: Vec<String> = (0..50).map(|number| format!("ship.*v{number}$")).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let many = triggers(&["deploy"], &patterns);
    assert_eq!(detect(&"a b.\n".repeat(4_000), [("deploy", &many)]), Detection::default());
}
