//! What a search engine returned: JSON of any common shape, or a page with links.

use serde_json::{Value, json};
use url::Url;

/// How many results are told.
const MOST: usize = 20;
/// How much of a title or a snippet is told, in characters.
const LONGEST: usize = 400;
/// How deep JSON is looked into.
const DEEPEST: usize = 12;

/// Returns the results in an answer.
pub(super) fn read(text: &str, from: &str) -> Vec<Value> {
    let mut results = Vec::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => in_json(&value, 0, &mut results),
        Err(_) => in_markdown(text, from, &mut results),
    }
    results
}

fn add(results: &mut Vec<Value>, url: &str, title: &str, snippet: &str) {
    let Ok(url) = Url::parse(url) else { return };
    let known = results.iter().any(|result| result["url"] == url.as_str());
    if !matches!(url.scheme(), "http" | "https") || known || results.len() >= MOST {
        return;
    }
    let short = |text: &str| -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect()
    };
    results.push(json!({ "url": url.as_str(), "title": short(title), "snippet": short(snippet) }));
}

fn in_json(value: &Value, depth: usize, results: &mut Vec<Value>) {
    if depth > DEEPEST || results.len() >= MOST {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| in_json(item, depth + 1, results)),
        Value::Object(fields) => {
            let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str());
            let url = text(&["url", "link", "href"]);
            let title = text(&["title", "name", "heading"]);
            if let (Some(url), Some(title)) = (url, title) {
                let snippet = text(&["snippet", "description", "content", "abstract", "text"]);
                add(results, url, title, snippet.unwrap_or_default());
                return;
            }
            fields.values().for_each(|value| in_json(value, depth + 1, results));
        }
        _ => {}
    }
}

/// Takes the links that lead away from the page.
fn in_markdown(text: &str, from: &str, results: &mut Vec<Value>) {
    let host = Url::parse(from).ok().and_then(|url| url.host_str().map(str::to_owned));
    let mut rest = text;
    while let Some(open) = rest.find("](") {
        let title = rest[..open].rsplit('[').next().unwrap_or_default();
        let after = &rest[open + 2..];
        let end = after.find([')', ' ', '\n']).unwrap_or(after.len());
        let url = &after[..end];
        let elsewhere = Url::parse(url).is_ok_and(|url| url.host_str().map(str::to_owned) != host);
        if elsewhere && !title.trim().is_empty() {
            let line =
                after[end..].lines().find(|line| line.chars().filter(|one| one.is_alphabetic()).count() > 20);
            add(results, url, title, line.unwrap_or_default());
        }
        rest = &after[end..];
        if results.len() >= MOST {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_in_json_of_many_shapes() {
        let text = r#"{ "web": { "results": [
            { "title": "One", "url": "https://a.example/1", "description": "first  page" },
            { "name": "Two", "link": "https://b.example/", "snippet": "s" },
            { "title": "Bad", "url": "javascript:alert(1)" },
            { "title": "One again", "url": "https://a.example/1" } ] } }"#;
        assert_eq!(
            read(text, "https://search.example/"),
            [
                json!({ "url": "https://a.example/1", "title": "One", "snippet": "first page" }),
                json!({ "url": "https://b.example/", "title": "Two", "snippet": "s" }),
            ]
        );
    }

    #[test]
    fn results_are_the_links_of_a_page_that_lead_elsewhere() {
        let text = "[Home](https://search.example/) [One](https://a.example/1)\n\nA long enough snippet of text here\n\n[](https://c.example) [Two](https://b.example/x \"t\")";
        let found = read(text, "https://search.example/?q=x");
        let urls: Vec<&str> = found.iter().filter_map(|result| result["url"].as_str()).collect();
        assert_eq!(urls, ["https://a.example/1", "https://b.example/x"]);
        assert_eq!(found[0]["snippet"], "A long enough snippet of text here");
        assert_eq!(read(&"[x](https://a.example/y) ".repeat(1000), "").len(), 1);
        assert_eq!(read("](((((", ""), Vec::<Value>::new());
    }
}
