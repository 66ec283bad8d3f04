//! The coverage-guided fuzzer: `FUZZ_TARGET` names the entry of `bodies::BODIES` that gets the inputs. `tests/fuzz` builds
//! and runs it.
#![no_main]

#[path = "bodies.rs"]
mod bodies;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

static TARGET: OnceLock<bodies::Body> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let body = TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names what is fuzzed");
        let found = bodies::BODIES.iter().find(|(known, _)| *known == name);
        found.expect("FUZZ_TARGET is none of bodies::BODIES").1
    });
    body(data);
});
