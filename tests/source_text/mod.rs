//! The files of `src/` as text, for the tests on their rules.

use std::fs;
use std::path::{Path, PathBuf};

/// All Rust files under `folder`, as paths relative to it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(folder).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    found
}

/// All files of `src/`, with their texts.
pub fn sources() -> Vec<(PathBuf, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = rust_files(&source).into_iter();
    files
        .map(|file| {
            let text = fs::read_to_string(source.join(&file)).unwrap();
            (file, text)
        })
        .collect()
}
