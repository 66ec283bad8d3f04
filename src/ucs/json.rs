//! JSON that the library writes: objects of numbers, texts and lists.
#![forbid(unsafe_code)]

use core::fmt::Write;

/// An object under construction.
pub struct Object(String);

impl Object {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Object {
        Object("{".to_owned())
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_text(&mut self.0, name);
        self.0.push(':');
    }

    pub fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        let _ = write!(self.0, "{value}");
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        self.json(name, if value { "true" } else { "false" });
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        write_text(&mut self.0, value);
    }

    /// A member that is JSON already.
    pub fn json(&mut self, name: &str, value: &str) {
        self.name(name);
        self.0.push_str(value);
    }

    /// A list of values that are JSON already.
    pub fn list(&mut self, name: &str, values: &[String]) {
        self.json(name, &format!("[{}]", values.join(",")));
    }

    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A text as JSON.
pub fn text(value: &str) -> String {
    let mut out = String::new();
    write_text(&mut out, value);
    out
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_quoted() {
        let mut object = Object::new();
        object.number("n", 1);
        object.text("a\"b", "line\n\\ \u{7f} é");
        object.flag("yes", true);
        object.list("list", &[text("x"), "2".to_owned()]);
        assert_eq!(
            object.end(),
            r#"{"n":1,"a\"b":"line\u000a\\ \u007f é","yes":true,"list":["x",2]}"#
        );
        assert_eq!(Object::new().end(), "{}");
    }
}
