//! Every row of the tables of options is read somewhere, or says why it has no effect: `Row::without_effect`, which
//! nobody can read.

mod source_text;

use source_text::sources;
use std::collections::BTreeSet;

/// The string literal at the start of `text`, behind white space.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix('"')?;
    text.split_once('"').map(|(name, _)| name)
}

/// The names in the rows of a file, of all kinds that are to be read.
fn rows(text: &str) -> Vec<&str> {
    let tables = text.split("#[cfg(test)]").next().unwrap_or(text);
    let calls = tables.split("Row::new(").skip(1);
    let calls = calls.map(|call| call.split("Row::").next().unwrap_or(call));
    let structs = tables.split("Row {").skip(1);
    let structs = structs.filter_map(|row| Some(row.split_once('}')?.0.split_once("name:")?.1));
    calls
        .chain(structs)
        .filter(|row| !row.contains("Kind::Deprecated"))
        .filter_map(literal)
        .collect()
}

/// The names that a file reads: the second argument of `var!`.
fn reads(text: &str) -> impl Iterator<Item = &str> {
    text.split("var!(").skip(1).filter_map(|call| {
        let (_, name) = call.split_once(',')?;
        literal(name)
    })
}

#[test]
fn every_row_is_read_or_says_that_it_has_no_effect() {
    let sources = sources();
    let read: BTreeSet<&str> = sources.iter().flat_map(|(_, text)| reads(text)).collect();
    let mut count = 0;
    for (file, text) in sources
        .iter()
        .filter(|(file, _)| !file.ends_with("tests.rs"))
    {
        for name in rows(text) {
            count += 1;
            assert!(
                read.contains(name),
                "{}: nobody reads {name}",
                file.display()
            );
        }
    }
    assert!(count > 100, "only {count} rows were found");
}
