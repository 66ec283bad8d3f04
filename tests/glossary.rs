//! `docs/GLOSSARY.md` is true: the places that it names exist, and words that older versions used for its concepts do
//! not occur in `src/` any more.

mod source_text;

use source_text::sources;
use std::fs;
use std::path::PathBuf;

/// Words of older versions, whole and in this case, and what they are called now.
const OLD_WORDS: &[(&str, &str)] = &[
    ("Announced", "Rts"),
    ("announced", "rendezvous, RTS"),
    ("answer_by", "create_reply_ep"),
    ("Arrived", "UnexpectedMessages"),
    ("Assemblies", "Reassemblies"),
    ("Assembly", "Reassembly"),
    ("Awaited", "PendingAcks"),
    ("awaited", "pending, outstanding"),
    ("break_off", "abort"),
    ("Dice", "TestRng"),
    ("dice", "random numbers"),
    ("dissolve_line", "spill_fifo"),
    ("Early", "UnexpectedFifo, ShortQueue"),
    ("farewell", "draining"),
    ("favour", "biased lock"),
    ("FEW", "SMALL"),
    ("Gate", "SendQueue"),
    ("gate", "send queue, short-send route"),
    ("Halves", "Pairing"),
    ("Inward", "Loopback"),
    ("inward", "loopback"),
    ("Landing", "TransportFlush"),
    ("landing", "transport flush"),
    ("last words", "close message"),
    ("Moving", "ActiveTransfer"),
    ("orphan", "after-fork"),
    ("Overdue", "DeferredFlush"),
    ("overdue", "deferred"),
    ("pledge", "revocation epoch"),
    ("put_told", "put_notify"),
    ("Scales", "RndvTuner"),
    ("Stranger", "UnauthPeer"),
    ("stranger", "unauthenticated peer"),
    ("strangers", "unauthenticated peers"),
    ("TagLine", "TagPostedFifo"),
    ("WayBack", "ReturnPath"),
    ("weigh", "rendezvous tuner"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The line numbers and old words of a text.
fn old_words(text: &str) -> Vec<(usize, &'static str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (word, _) in OLD_WORDS {
            let whole = line.match_indices(word).any(|(at, _)| {
                !line[..at].ends_with(is_word) && !line[at + word.len()..].starts_with(is_word)
            });
            if whole {
                found.push((number + 1, *word));
            }
        }
    }
    found
}

#[test]
fn old_words_do_not_occur() {
    let files = sources();
    let mut wrong = Vec::new();
    for (file, text) in &files {
        for (line, word) in old_words(text) {
            wrong.push(format!("src/{}:{line}: {word}", file.display()));
        }
    }
    assert!(files.len() > 300, "{} files", files.len());
    assert!(
        wrong.is_empty(),
        "see docs/GLOSSARY.md:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn an_old_word_is_found() {
    let text = "let gate = 1;\nmitigate();\n// the last words of a peer\nstrangers_welcome";
    assert_eq!(old_words(text), [(1, "gate"), (3, "last words")]);
}

#[test]
fn the_places_of_the_glossary_exist() {
    let text = fs::read_to_string(root().join("docs/GLOSSARY.md")).unwrap();
    let mut count = 0;
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let Some(places) = line.trim_end_matches('|').rsplit('|').next() else {
            continue;
        };
        for place in places.split('`').skip(1).step_by(2) {
            assert!(
                root().join("src").join(place).exists(),
                "src/{place}: {line}"
            );
            count += 1;
        }
    }
    assert!(count > 40, "{count} places");
}
