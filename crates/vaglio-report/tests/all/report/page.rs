//! Checks of every page.

/// The page with the drawings for wide screens alone.
pub fn wide(page: &str) -> String {
    let mut parts = page.split("<svg class=\"plot narrow\"");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |out, part| out + part.split_once("</svg>").unwrap().1)
}

/// Checks that every element is closed in order, and that no number is missing or infinite.
pub fn check(page: &str) {
    let void = ["meta", "br", "hr", "img", "link"];
    let (mut open, mut rest) = (Vec::new(), page);
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<'), "`<` inside a tag: {tag}");
        if tag.starts_with('!') || tag.ends_with('/') {
            continue;
        }
        let word = tag.split_whitespace().next().unwrap();
        match word.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop().as_deref(), Some(closed)),
            None if void.contains(&word) => {}
            None => open.push(word.to_owned()),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    assert!(!page.contains("NaN"));
    let letters = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic());
    for (at, _) in page.match_indices("inf") {
        let (before, after) = (page[..at].chars().next_back(), page[at + 3..].chars().next());
        assert!(letters(before) || letters(after), "…{}…", &page[at.saturating_sub(30)..at + 10]);
    }
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}
