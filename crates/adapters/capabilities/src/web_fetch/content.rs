//! What a body is: text or not, in which encoding, under which name, and as Markdown or plain text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html_to_markdown_rs::options::{ConversionOptions, OutputFormat};
use html_to_markdown_rs::{convert, options::PreprocessingOptions};
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap};
use url::Url;

/// How deep a page may nest before what is deeper is left out. Real pages stay far below.
const DEPTH: usize = 200;

/// The type of a body, as its header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContentType {
    /// As it was sent.
    pub(super) whole: String,
    /// `text/html`, in lower case.
    essence: String,
    charset: Option<String>,
}

impl ContentType {
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let whole = String::from_utf8_lossy(headers.get(CONTENT_TYPE)?.as_bytes()).trim().to_owned();
        let mut parts = whole.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches('"').to_owned();
            name.trim().eq_ignore_ascii_case("charset").then_some(value)
        });
        if essence.is_empty() { None } else { Some(Self { whole, essence, charset }) }
    }

    /// Tells whether such a body is text.
    pub(super) fn is_text(&self) -> bool {
        const TEXTS: [&str; 14] = [
            "json",
            "xml",
            "javascript",
            "ecmascript",
            "x-javascript",
            "x-www-form-urlencoded",
            "yaml",
            "x-yaml",
            "toml",
            "x-ndjson",
            "ndjson",
            "sql",
            "graphql",
            "x-sh",
        ];
        let Some((kind, name)) = self.essence.split_once('/') else { return false };
        kind == "text"
            || kind == "message"
            || name.ends_with("+json")
            || name.ends_with("+xml")
            || kind == "application" && TEXTS.contains(&name)
    }

    fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// Tells whether a body without a type is text, by its first bytes.
pub(super) fn looks_like_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1024)];
    !start.contains(&0)
        && match std::str::from_utf8(start) {
            Ok(_) => true,
            // A character may be cut in two at the end of what is looked at.
            Err(error) => error.error_len().is_none(),
        }
}

/// Tells whether a body is a page: by its type, or by how it starts if it has none.
pub(super) fn is_html(content_type: Option<&ContentType>, text: &str) -> bool {
    match content_type {
        Some(content_type) => content_type.is_html(),
        None => {
            let start = text.trim_start().get(..14).unwrap_or_default().to_ascii_lowercase();
            start.starts_with("<!doctype html") || start.starts_with("<html")
        }
    }
}

/// Decodes a body: by its byte order mark, its header, what the page says, or what it looks like, in that order.
pub(super) fn decode(bytes: &[u8], content_type: Option<&ContentType>) -> String {
    let named = content_type.and_then(|content_type| content_type.charset.clone());
    let declared = named.or_else(|| {
        content_type
            .is_none_or(|content_type| content_type.is_html() || content_type.essence.contains("xml"))
            .then(|| declared(bytes))
            .flatten()
    });
    let encoding = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = encoding.unwrap_or_else(|| if is_utf8(bytes) { UTF_8 } else { WINDOWS_1252 });
    // A byte order mark wins over all of them.
    let (text, ..) = encoding.decode(bytes);
    text.into_owned()
}

/// Tells whether bytes are UTF-8, the last character of which may be cut.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Returns the encoding that a page names in its first bytes: `<meta charset=…>` or `<?xml encoding=…?>`.
fn declared(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let mark = if start.trim_start().starts_with("<?xml") { "encoding=" } else { "charset=" };
    let value = start.split_once(mark)?.1.trim_start().trim_start_matches(['"', '\'']);
    let label: String =
        value.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_:.".contains(*c)).collect();
    (!label.is_empty()).then_some(label)
}

/// Returns the name of what was fetched: as the server calls it, or as its URL ends.
pub(super) fn filename(headers: &HeaderMap, url: &Url) -> Option<String> {
    let disposed = headers
        .get(CONTENT_DISPOSITION)
        .and_then(|value| disposition(&String::from_utf8_lossy(value.as_bytes())));
    let from_url = || {
        let last = url.path_segments()?.next_back()?;
        let last = percent_decoded(last);
        last.contains('.').then_some(last)
    };
    clean(&disposed.or_else(from_url)?)
}

fn disposition(value: &str) -> Option<String> {
    let parameter = |wanted: &str| {
        value.split(';').skip(1).find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"').to_owned())
        })
    };
    // `filename*` says its encoding, `UTF-8''a%20b`, and counts first.
    let extended = parameter("filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_, name) = rest.split_once('\'')?;
        charset.eq_ignore_ascii_case("utf-8").then(|| percent_decoded(name))
    });
    extended.or_else(|| parameter("filename"))
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let hex = bytes.get(index + 1..index + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| bytes[index] == b'%') {
            Some(byte) => {
                decoded.push(byte);
                index += 3;
            }
            None => {
                decoded.push(bytes[index]);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Takes the last part of a name, without what could harm whoever uses it as one.
fn clean(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|character| !character.is_control()).take(255).collect();
    let kept = kept.trim().to_owned();
    (!kept.is_empty() && kept != "." && kept != "..").then_some(kept)
}

/// What a page is turned into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Markdown,
    Text,
}

/// Turns a page into Markdown or plain text. Relative links become absolute.
pub(super) fn converted(html: &str, form: Form, base: &Url) -> Result<String, String> {
    let options = ConversionOptions {
        output_format: match form {
            Form::Markdown => OutputFormat::Markdown,
            Form::Text => OutputFormat::Plain,
        },
        extract_metadata: false,
        bullets: "-".to_owned(),
        max_depth: Some(DEPTH),
        preprocessing: PreprocessingOptions { enabled: false, ..PreprocessingOptions::default() },
        base_url: Some(base.to_string()),
        ..ConversionOptions::default()
    };
    let result = convert(html, options).map_err(|error| format!("the page cannot be converted: {error}"))?;
    Ok(result.content.unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;
    use std::time::Duration;

    fn headers(name: reqwest::header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_bytes(value.as_bytes()).unwrap())])
    }

    fn kind(value: &str) -> ContentType {
        ContentType::of(&headers(CONTENT_TYPE, value)).unwrap()
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn text_is_told_from_everything_else() {
        for text in [
            "text/html",
            "TEXT/Plain; charset=x",
            "application/json",
            "application/ld+json",
            "image/svg+xml",
            "application/xhtml+xml",
            "application/javascript",
        ] {
            assert!(kind(text).is_text(), "{text}");
        }
        for other in [
            "image/png",
            "application/pdf",
            "application/octet-stream",
            "video/mp4",
            "application/zip",
            "nonsense",
        ] {
            assert!(!kind(other).is_text(), "{other}");
        }
        assert_eq!(ContentType::of(&headers(CONTENT_TYPE, " ; charset=utf-8")), None);
        assert!(looks_like_text("plain ä".as_bytes()) && looks_like_text(b""));
        assert!(!looks_like_text(b"\x89PNG\r\n\x1a\n\0") && !looks_like_text(b"\xff\xfe\xfd abc"));
        assert!(
            looks_like_text(format!("{}ä", "x".repeat(1023)).as_bytes()),
            "a character across the border"
        );
    }

    #[test]
    fn a_body_is_decoded_as_it_was_encoded() {
        let html = kind("text/html");
        assert_eq!(decode("grüße".as_bytes(), Some(&html)), "grüße");
        assert_eq!(decode(b"gr\xfc\xdfe", Some(&kind("text/plain; charset=\"ISO-8859-1\""))), "grüße");
        assert_eq!(
            decode(b"gr\xfc\xdfe", Some(&html)),
            "grüße",
            "what is no UTF-8 is the old encoding of the web"
        );
        assert_eq!(
            decode(b"<meta charset='shift_jis'>\x93\xfa\x96{", Some(&html)),
            "<meta charset='shift_jis'>日本"
        );
        let meta = b"<meta http-equiv=x content=\"text/html; charset=koi8-r\">\xf0";
        assert!(decode(meta, Some(&html)).ends_with('П'));
        assert_eq!(
            decode(b"<?xml encoding=\"koi8-r\"?>\xf0", Some(&kind("application/xml"))),
            "<?xml encoding=\"koi8-r\"?>П"
        );
        assert_eq!(decode(b"\xff\xfeh\0i\0", Some(&kind("text/plain; charset=utf-8"))), "hi", "a mark wins");
        assert_eq!(decode("\u{feff}hi".as_bytes(), None), "hi");
        assert_eq!(decode("hi ä".as_bytes(), Some(&kind("text/plain; charset=no-such"))), "hi ä");
        assert_eq!(
            decode(&"ä".as_bytes()[..1], Some(&html)),
            "\u{fffd}",
            "what is cut off does not change the rest"
        );
    }

    #[test]
    fn a_file_has_the_name_that_the_server_or_the_url_gives_it() {
        let named =
            |disposition: &str| filename(&headers(CONTENT_DISPOSITION, disposition), &url("http://h/u.txt"));
        for (disposition, name) in [
            ("attachment; filename=\"a b.pdf\"", "a b.pdf"),
            ("attachment; filename=x.pdf; filename*=UTF-8''%e2%82%ac%20rates.pdf", "€ rates.pdf"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"C:\\a\\b.txt\"", "b.txt"),
            ("inline", "u.txt"),
        ] {
            assert_eq!(named(disposition).as_deref(), Some(name), "{disposition}");
        }
        assert_eq!(named("attachment; filename=\"..\""), None);
        let none = HeaderMap::new();
        assert_eq!(filename(&none, &url("http://h/d/a%20b.txt?x=1")).as_deref(), Some("a b.txt"));
        assert_eq!(filename(&none, &url("http://h/d/..%2f..%2fx.sh")).as_deref(), Some("x.sh"));
        assert_eq!(filename(&none, &url("http://h/about")), None);
    }

    const PAGE: &str = "<!doctype html><html><head><title>T</title><style>p{}</style><script>alert(1)</script></head>
        <body><h1>Title &amp; more</h1><p>Some <em>fine</em> <strong>text</strong> with <a href=\"/x\">a link</a>.</p>
        <ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul><ol><li>first</li><li>second</li></ol>
        <pre><code class=\"language-rust\">fn main() {\n    x();\n}</code></pre><blockquote><p>said</p></blockquote>
        <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><script>evil()</script></body></html>";

    #[test]
    fn a_page_becomes_markdown_that_reads_well() {
        let text = converted(PAGE, Form::Markdown, &url("https://h.example/d/page")).unwrap();
        for part in [
            "# Title & more",
            "Some *fine* **text** with [a link](https://h.example/x).",
            "- one",
            "- two",
            "  - deep",
            "1. first",
            "2. second",
            "fn main() {\n    x();\n}",
            "> said",
            "| a",
            "| 1",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        for part in ["alert", "evil", "p{}", "<"] {
            assert!(!text.contains(part), "{part:?} is in\n{text}");
        }
    }

    #[test]
    fn a_page_becomes_plain_text() {
        let text = converted(PAGE, Form::Text, &url("https://h.example/")).unwrap();
        for part in ["Title & more", "Some fine text with a link", "one", "deep", "fn main() {"] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        for part in ["alert", "evil", "p{}", "**", "](", "# "] {
            assert!(!text.contains(part), "{part:?} is in\n{text}");
        }
    }

    #[test]
    fn a_page_that_is_made_to_break_converters_is_converted() {
        for html in [
            "<div>".repeat(20_000),
            "<ul><li>".repeat(5_000),
            "<table><tr><td>".repeat(20_000),
            "<blockquote>".repeat(5_000),
            "<b><i>".repeat(5_000),
            format!("<a href='{}'>x</a>", "x".repeat(100_000)),
            "<!--".repeat(20_000),
            "<p ".repeat(20_000),
            "&".repeat(100_000),
            "\0<p>\0x</p>".repeat(1000),
        ] {
            let started = tokio::time::Instant::now();
            let _ = converted(&html, Form::Markdown, &url("https://h.example/"));
            let _ = converted(&html, Form::Text, &url("https://h.example/"));
            let start: String = html.chars().take(20).collect();
            assert!(started.elapsed() < Duration::from_secs(20), "{start}: {:?}", started.elapsed());
        }
    }
}
