//! `-c`, `-f`, `-C`, `-a`, `-F`: the variables as the library prints them.
//!
//! Filtering and JSON are made of the library's text, whose form is that of `ucx.conf`: a section has a title, a variable
//! has comments (meaning, syntax, other names) and a line NAME=VALUE, behind a `#` where it is the default and -C is given.
#![forbid(unsafe_code)]

use super::Report;
use crate::c::*;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Value, json};

/// A variable with the lines that belong to it.
#[derive(Debug, PartialEq)]
struct Variable<'t> {
    section: &'t str,
    name: &'t str,
    value: &'t str,
    comments: Vec<&'t str>,
    line: &'t str,
}

pub fn report(library: &Library, options: &Options) -> Result<Report> {
    let mut flags = 0;
    let style = [
        (options.config || options.decorated, UCS_CONFIG_PRINT_CONFIG),
        (
            options.decorated || options.json,
            UCS_CONFIG_PRINT_HEADER | UCS_CONFIG_PRINT_DOC,
        ),
        (options.hidden, UCS_CONFIG_PRINT_HIDDEN),
        (options.comment_defaults, UCS_CONFIG_PRINT_COMMENT_DEFAULT),
    ];
    for (_, flag) in style.iter().filter(|(asked, _)| *asked) {
        flags |= flag;
    }
    // Transports bring variables of their own, once they are loaded.
    library.components()?;
    let text = library.variables(flags);
    let mut variables = parse(&text);
    if let Some(wanted) = &options.filter {
        variables.retain(|variable| variable.name.contains(&**wanted));
    }
    let json = variables
        .iter()
        .map(|variable| in_json(variable, options.comment_defaults));
    let json: Vec<Value> = json.collect();
    let text = match &options.filter {
        Some(_) => print(&variables, options.decorated),
        None => text,
    };
    Ok(Report {
        name: "variables",
        text,
        json: json.into(),
    })
}

/// NAME and VALUE of a line, which may be a comment.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix("# ").unwrap_or(line).split_once('=')?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (name.contains("UCX_") && name.chars().all(is_name)).then_some((name, value))
}

/// Comment lines belong to the variable behind them. Those of a section are three, of which the first and the last are
/// empty, with a line of nothing behind.
fn parse(text: &str) -> Vec<Variable<'_>> {
    let (mut variables, mut comments, mut section) = (Vec::new(), Vec::new(), "");
    for line in text.lines() {
        if let Some((name, value)) = assignment(line) {
            variables.push(Variable {
                section,
                name,
                value,
                comments: std::mem::take(&mut comments),
                line,
            });
        } else if line.is_empty() {
            if let ["#", title, "#"] = comments[..] {
                section = title.trim_start_matches("# ");
            }
            comments.clear();
        } else {
            comments.push(line);
        }
    }
    variables
}

/// The lines of these variables alone, each section's title before its first.
fn print(variables: &[Variable], decorated: bool) -> String {
    let mut text = String::new();
    if decorated {
        text += "# UCX library configuration file\n# Uncomment to modify values\n\n";
    }
    let mut section = "";
    for variable in variables {
        if decorated && variable.section != section {
            section = variable.section;
            text += &format!("#\n# {section}\n#\n\n");
        }
        for comment in &variable.comments {
            text += &format!("{comment}\n");
        }
        text += variable.line;
        text += if decorated { "\n\n" } else { "\n" };
    }
    text
}

fn in_json(variable: &Variable, comment_defaults: bool) -> Value {
    let mut json = json!({
        "name": variable.name,
        "value": variable.value,
        "section": variable.section,
    });
    if comment_defaults {
        json["default"] = json!(variable.line.starts_with('#'));
    }
    let mut meaning: Vec<&str> = Vec::new();
    for comment in &variable.comments {
        let comment = comment.trim_start_matches('#').trim();
        match comment.split_once(':') {
            Some((word @ ("syntax" | "inherits" | "alias of"), rest)) => {
                json[word.replace(' ', "_")] = json!(rest.trim());
            }
            _ if !comment.is_empty() => meaning.push(comment),
            _ => {}
        }
    }
    json["meaning"] = json!(meaning.join("\n"));
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# UCX library configuration file\n# Uncomment to modify values\n\n#\n# One\n#\n\n\
        #\n# What it does, as in A=B.\n# \n#\n# syntax:    string\n# inherits:  UCX_A\n#\nUCX_ONE_A=x=y\n\n\
        #\n# Two\n#\n\n#\n# Other.\n#\n# syntax:    <y|n>\n#\n# UCX_B=n\n\n";

    #[test]
    fn variables_have_section_meaning_and_syntax() {
        let found = parse(TEXT);
        assert_eq!(found.len(), 2);
        let json: Vec<_> = found
            .iter()
            .map(|variable| in_json(variable, true))
            .collect();
        assert_eq!(
            json[0],
            json!({"name": "UCX_ONE_A", "value": "x=y", "section": "One", "meaning": "What it does, as in A=B.",
                   "syntax": "string", "inherits": "UCX_A", "default": false})
        );
        assert_eq!(
            (&json[1]["name"], &json[1]["default"]),
            (&json!("UCX_B"), &json!(true))
        );
    }

    #[test]
    fn printing_all_of_them_gives_the_text_back() {
        assert_eq!(print(&parse(TEXT), true), TEXT);
    }
}
