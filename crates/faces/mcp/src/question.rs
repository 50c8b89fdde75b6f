//! A question to the user of a client, in the words of MCP: a form with the options, and what was filled in.

use crate::desk::{Question, Said};
use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, PrimitiveSchemaDefinition, StringSchema,
};
use serde_json::Value;

/// The fields of the form.
const CHOICE: &str = "choice";
const COMMENT: &str = "comment";
/// How much of a message a client is given to show, in characters.
const MOST_OF_A_MESSAGE: usize = 20_000;
/// The longest comment that is kept, in characters.
const LONGEST_COMMENT: usize = 2_000;

/// Returns whether a client can show a form to its user.
pub(crate) fn can_ask(client: Option<&ClientCapabilities>) -> bool {
    // A client of before there were two kinds means forms.
    client
        .and_then(|can| can.elicitation.as_ref())
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Returns the form of a question.
pub(crate) fn form(question: &Question) -> ElicitRequest {
    let choice = EnumSchema::builder(question.options.clone()).untitled().title("Decision").build();
    let comment =
        StringSchema::new().title("Comment").description("Kept in the log of the run").max_length(2_000);
    let requested_schema = ElicitationSchema::builder()
        .required_enum_schema(CHOICE, choice)
        .property(COMMENT, PrimitiveSchemaDefinition::String(comment))
        .build_unchecked();
    let message = crate::bounds::cut(&question.message, MOST_OF_A_MESSAGE);
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Returns what a user said with a form.
pub(crate) fn said(question: &Question, result: &ElicitResult) -> Said {
    match result.action {
        ElicitationAction::Accept => {}
        // A client without a user does this by itself, so it is no "no".
        ElicitationAction::Decline => return Said::NoAnswer("the client declined to ask".to_owned()),
        ElicitationAction::Cancel => {
            return Said::NoAnswer("the question was closed without an answer".to_owned());
        }
        _ => return Said::NoAnswer("the client answered in a way that is not known".to_owned()),
    }
    let field = |name| result.content.as_ref().and_then(|content| content.get(name)).and_then(Value::as_str);
    let Some(choice) = field(CHOICE) else {
        return Said::NoAnswer("the client sent no decision".to_owned());
    };
    match question.options.iter().find(|option| *option == choice) {
        Some(option) => {
            let comment = field(COMMENT).map(str::trim).filter(|text| !text.is_empty());
            Said::Chosen {
                option: option.clone(),
                comment: comment.map(|text| text.chars().take(LONGEST_COMMENT).collect()),
            }
        }
        None => Said::NoAnswer("the client sent a decision that is not one of the options".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElicitationAction::{Accept, Cancel, Decline};
    use serde_json::json;

    fn question() -> Question {
        Question {
            message: "Deploy?".to_owned(),
            options: vec!["approve".to_owned(), "reject".to_owned()],
            within: None,
        }
    }

    #[test]
    fn a_form_offers_the_options_and_room_for_a_comment() {
        let form = serde_json::to_value(form(&question())).unwrap();
        assert_eq!(form["params"]["message"], "Deploy?");
        let schema = &form["params"]["requestedSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["choice"]["enum"], json!(["approve", "reject"]));
        assert_eq!(schema["properties"]["choice"]["type"], "string");
        assert_eq!(schema["properties"]["comment"]["type"], "string");
        assert_eq!(schema["required"], json!(["choice"]));
    }

    #[test]
    fn only_an_accepted_option_is_an_answer() {
        let with =
            |action, content: Value| said(&question(), &ElicitResult::new(action).with_content(content));
        let chosen = |option: &str, comment: Option<&str>| Said::Chosen {
            option: option.to_owned(),
            comment: comment.map(str::to_owned),
        };
        assert_eq!(with(Accept, json!({ "choice": "reject" })), chosen("reject", None));
        assert_eq!(
            with(Accept, json!({ "choice": "approve", "comment": " ok " })),
            chosen("approve", Some("ok"))
        );
        assert_eq!(with(Accept, json!({ "choice": "approve", "comment": 1 })), chosen("approve", None));
        for (action, content) in [
            (Decline, json!({ "choice": "approve" })),
            (Cancel, json!({ "choice": "approve" })),
            (Accept, json!({ "choice": "Approve" })),
            (Accept, json!({ "choice": "" })),
            (Accept, json!({ "choice": ["approve"] })),
            (Accept, json!({})),
            (Accept, json!("approve")),
        ] {
            let said = with(action.clone(), content.clone());
            assert!(matches!(said, Said::NoAnswer(_)), "{action:?} {content}: {said:?}");
        }
        let nothing = said(&question(), &ElicitResult::new(Accept));
        assert!(matches!(nothing, Said::NoAnswer(_)), "{nothing:?}");
    }
}
