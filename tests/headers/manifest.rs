//! `cbindgen/headers.txt`: which header takes which types and which functions.
//!
//! A line `header <path> [complete]` opens a header; `complete` says that all its functions must exist.
//! `types <file>` names a file of `src/c/`, `functions <name>...` what the header declares when exported.

use std::path::Path;

pub struct Header {
    pub path: String,
    pub complete: bool,
    pub types: Vec<String>,
    pub functions: Vec<String>,
}

pub struct Manifest {
    pub headers: Vec<Header>,
}

impl Manifest {
    pub fn read(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join("cbindgen/headers.txt")).expect("manifest");
        let mut headers: Vec<Header> = Vec::new();
        for line in text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        {
            let mut words = line.split_whitespace();
            match words.next().expect("a word") {
                "header" => headers.push(Header {
                    path: words.next().expect("header path").to_owned(),
                    complete: words.next() == Some("complete"),
                    types: Vec::new(),
                    functions: Vec::new(),
                }),
                "types" => headers
                    .last_mut()
                    .expect("a header")
                    .types
                    .extend(words.map(str::to_owned)),
                "functions" => headers
                    .last_mut()
                    .expect("a header")
                    .functions
                    .extend(words.map(str::to_owned)),
                other => panic!("cbindgen/headers.txt: unknown word {other}"),
            }
        }
        Self { headers }
    }
}
