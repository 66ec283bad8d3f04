//! What the fuzzer of `fuzz/` keeps runs here as plain tests: inputs that reach far, and whatever crashed once.

#[path = "../fuzz/bodies.rs"]
mod bodies;

use std::path::Path;

#[test]
fn nothing_that_is_kept_crashes() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpora");
    for (name, body) in bodies::BODIES {
        let files = std::fs::read_dir(corpora.join(name)).expect("each body has a corpus");
        let mut count = 0;
        for file in files {
            body(&std::fs::read(file.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0, "{name} has nothing kept");
    }
}
