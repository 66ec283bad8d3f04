//! The tree against what UCX 1.22 answers to the same calls (`c-tests/ucs/vfs.c` compares both), and against itself.

use super::*;
use crate::ucs::test_rng::TestRng;

fn object(number: usize) -> Pointer {
    Pointer(core::ptr::without_provenance_mut(number))
}

const ROOT: Pointer = Pointer(core::ptr::null_mut());

unsafe extern "C" fn show(
    object: *mut c_void,
    to: *mut ucs_string_buffer_t,
    arg: *mut c_void,
    number: u64,
) {
    let text = format!("{object:p} {arg:p} {number}");
    // SAFETY: the buffer of the caller.
    unsafe { string_buffer::append(&mut *to, text.as_bytes()) }.unwrap();
}

unsafe extern "C" fn take(
    _: *mut c_void,
    text: *const c_char,
    len: usize,
    _: *mut c_void,
    number: u64,
) -> i8 {
    // SAFETY: the caller's text.
    let text = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), len) };
    if text == b"good" { number as i8 } else { -5 }
}

fn file(of: Pointer, write: Option<Write>) -> File {
    File {
        object: of,
        read: show,
        write,
        arg: object(0x77),
        number: 3,
    }
}

/// Adds a file beside the others, so that the refreshed directory has one more.
unsafe extern "C" fn add_one(of: *mut c_void) {
    add_file(file(Pointer(of), None), "fresh").unwrap();
}

#[test]
fn nodes_are_read_written_refreshed_and_go_together() {
    let (a, b, c) = (object(0x10a), object(0x10b), object(0x10c));
    assert_eq!(add_directory(ROOT, a, "t1/a"), Ok(()));
    assert_eq!(add_directory(ROOT, a, "t1/a"), Err(Status::ALREADY_EXISTS));
    assert_eq!(add_directory(ROOT, a, "t1/b"), Err(Status::NO_MEMORY));
    assert_eq!(add_directory(ROOT, b, "t1/a"), Ok(()));
    assert_eq!(list("/t1"), Ok(vec!["a".into(), "a_0x10b".into()]));
    assert_eq!(add_directory(a, c, "x/y/c"), Ok(()));
    assert_eq!(add_directory(object(1), c, "c"), Err(Status::INVALID_PARAM));
    assert_eq!(add_file(file(c, Some(take)), "f"), Ok(()));
    assert_eq!(add_file(file(c, None), "f"), Err(Status::ALREADY_EXISTS));
    assert_eq!(
        add_file(file(c, None), "f/below"),
        Err(Status::INVALID_PARAM)
    );
    assert_eq!(
        add_file(file(object(1), None), "f"),
        Err(Status::INVALID_PARAM)
    );
    assert_eq!(add_link(a, c, "to_c"), Ok(()));
    assert_eq!(add_link(c, a, "d/to_a"), Ok(()));
    assert_eq!(link("/t1/a/to_c").as_deref(), Ok("x/y/c"));
    assert_eq!(link("/t1/a/x/y/c/d/to_a").as_deref(), Ok("../../../.."));
    let mode_of = |path| info(path).map(|info| (info.size, info.mode));
    assert_eq!(mode_of("/t1/a/x"), Ok((1, 0o040500)));
    assert_eq!(mode_of("/t1/a/to_c"), Ok((5, 0o120500)));
    assert_eq!(
        mode_of("/t1/a/x/y/c/f"),
        Ok(("0x10c 0x77 3".len(), 0o100600))
    );
    for path in ["/", "", "t1", "/t1/", "/t1//a", "/t1/none"] {
        assert_eq!(info(path), Err(Status::NO_ELEM), "{path}");
    }
    let mut text = ucs_string_buffer_t::EMPTY;
    // SAFETY: a buffer of this test.
    let mut read = |path| unsafe { read(path, &raw mut text) };
    assert_eq!(read("/t1/a/x/y/c/f"), Ok(()));
    assert_eq!(read("/t1/a"), Err(Status::NO_ELEM));
    // SAFETY: as above.
    assert_eq!(unsafe { string_buffer::text(&text) }, c"0x10c 0x77 3");
    // SAFETY: as above.
    unsafe { string_buffer::cleanup(&mut text) };
    // SAFETY: four characters.
    let written = |path, text: &str| unsafe { write(path, text.as_ptr().cast(), 4) };
    assert_eq!(written("/t1/a/x/y/c/f", "good"), Ok(3));
    assert_eq!(written("/t1/a/x/y/c/f", "evil"), Ok(-5));
    assert_eq!(written("/t1/a/x", "good"), Err(Status::NO_ELEM));
    set_dirty(c, Some(add_one));
    assert_eq!(mode_of("/t1/a/x/y/c"), Ok((3, 0o040500)));
    assert_eq!(list("/t1/a/x/y/c").unwrap(), ["d", "f", "fresh"]);
    remove(c);
    assert_eq!(
        list("/t1/a"),
        Ok(vec![]),
        "the link and both directories between went too"
    );
    remove(a);
    remove(b);
    assert_eq!(list("/t1"), Err(Status::NO_ELEM));
}

/// Whatever is added and removed, no directory is left that nothing is in, and no link or object without its node.
#[test]
fn a_tree_stays_whole_under_random_calls() {
    let mut tree = Tree::default();
    let rng = TestRng::new(7);
    for _ in 0..20_000 {
        let (of, other) = (object(rng.below(12)), object(1 + rng.below(11)));
        let name = ["a", "b/c", "c", "a/b", "d/d/d"][rng.below(5)];
        let base = tree.base(of);
        let before = tree.nodes.len();
        let added = match (rng.below(4), base) {
            (0, _) => {
                tree.remove(other);
                continue;
            }
            (1, _) => tree.add_directory(of, other, name),
            (2, Ok(base)) => tree.add(join(&base, name), Node::File(file(of, None))),
            (_, Ok(base)) if tree.objects.contains_key(&other) => {
                tree.add(join(&base, name), Node::Link(other))
            }
            _ => continue,
        };
        assert_eq!(
            added.is_ok(),
            tree.nodes.len() > before,
            "{name}: {added:?}"
        );
        for (path, node) in &tree.nodes {
            assert!(tree.is_directory(parent(path)), "{path} is in no directory");
            match node {
                Node::Between => assert!(tree.below(path).next().is_some(), "{path} is empty"),
                Node::Object(object, _) => assert_eq!(tree.objects.get(object), Some(path)),
                Node::Link(target) => {
                    assert!(tree.way(path, *target).is_some(), "{path} leads nowhere")
                }
                Node::File(_) => {}
            }
        }
        let objects = tree
            .nodes
            .values()
            .filter(|node| matches!(node, Node::Object(..)));
        assert_eq!(objects.count(), tree.objects.len());
    }
}
