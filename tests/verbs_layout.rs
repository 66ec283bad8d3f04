//! The layouts and constants of `src/c/verbs` are those of the system's `infiniband/verbs.h` and
//! `rdma/rdma_cma.h`: one `_Static_assert` for each size, offset and constant, compiled by the C compiler.

mod c_assertions;

use ferrucx::c::verbs::{
    ALL_CONSTANTS, ALL_LAYOUTS, ibv_gid, ibv_send_wr, ibv_send_wr_atomic, ibv_send_wr_rdma,
    ibv_send_wr_ud, verbs_context_end,
};
use std::fmt::Write;
use std::mem::{align_of, offset_of, size_of};
use std::path::Path;
use std::process::Command;

/// Members of the unions, which have no structs of their own in C.
fn nested() -> Vec<(&'static str, usize)> {
    let wr = offset_of!(ibv_send_wr, wr);
    vec![
        (
            "wr.rdma.remote_addr",
            wr + offset_of!(ibv_send_wr_rdma, remote_addr),
        ),
        ("wr.rdma.rkey", wr + offset_of!(ibv_send_wr_rdma, rkey)),
        (
            "wr.atomic.remote_addr",
            wr + offset_of!(ibv_send_wr_atomic, remote_addr),
        ),
        (
            "wr.atomic.compare_add",
            wr + offset_of!(ibv_send_wr_atomic, compare_add),
        ),
        ("wr.atomic.swap", wr + offset_of!(ibv_send_wr_atomic, swap)),
        ("wr.atomic.rkey", wr + offset_of!(ibv_send_wr_atomic, rkey)),
        ("wr.ud.ah", wr + offset_of!(ibv_send_wr_ud, ah)),
        (
            "wr.ud.remote_qpn",
            wr + offset_of!(ibv_send_wr_ud, remote_qpn),
        ),
        (
            "wr.ud.remote_qkey",
            wr + offset_of!(ibv_send_wr_ud, remote_qkey),
        ),
    ]
}

/// Constants that rdma-core has since a release.
const LATER: &[(&str, u32)] = &[("IBV_FORK_UNNEEDED", 35)];

/// The C program for the headers of a release, with `shift` added to every expected value.
fn program(release: u32, shift: usize) -> (String, usize) {
    let mut text = String::from(
        "#include <stddef.h>\n#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\n",
    );
    let mut count = 0;
    let mut expect = |what: String, value: u64| {
        let value = value + shift as u64;
        writeln!(text, "_Static_assert({what} == {value}, \"{what}\");").unwrap();
        count += 1;
    };
    for layout in ALL_LAYOUTS.iter().copied().flatten() {
        let name = layout.name;
        if let Some(size) = layout.size {
            expect(format!("sizeof(struct {name})"), size as u64);
        }
        for (field, offset) in layout.fields {
            expect(format!("offsetof(struct {name}, {field})"), *offset as u64);
        }
    }
    for (member, offset) in nested() {
        expect(
            format!("offsetof(struct ibv_send_wr, {member})"),
            offset as u64,
        );
    }
    // It grows at its begin.
    let end = size_of::<verbs_context_end>();
    for (member, offset) in [
        ("advise_mr", offset_of!(verbs_context_end, advise_mr)),
        (
            "query_device_ex",
            offset_of!(verbs_context_end, query_device_ex),
        ),
        ("sz", offset_of!(verbs_context_end, sz)),
    ] {
        expect(
            format!(
                "offsetof(struct verbs_context, context) - offsetof(struct verbs_context, {member})"
            ),
            (end - offset) as u64,
        );
    }
    expect(
        "sizeof(union ibv_gid)".to_owned(),
        size_of::<ibv_gid>() as u64,
    );
    expect(
        "_Alignof(union ibv_gid)".to_owned(),
        align_of::<ibv_gid>() as u64,
    );
    for (name, value) in ALL_CONSTANTS.iter().copied().flatten() {
        if !LATER.iter().any(|(n, since)| n == name && release < *since) {
            expect((*name).to_owned(), *value);
        }
    }
    (text, count)
}

/// How many of the program's assertions fail with the system's headers.
fn failures(text: &str) -> (usize, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let need = Command::new(root.join("scripts/need"))
        .args(["libibverbs-dev", "librdmacm-dev"])
        .output()
        .expect("scripts/need");
    assert!(
        need.status.success(),
        "{}",
        String::from_utf8_lossy(&need.stdout)
    );
    let name = format!("verbs_layout_{}", text.len());
    c_assertions::failures::<&str>(&name, text, &[])
}

#[test]
fn layouts_and_constants_are_those_of_the_system_headers() {
    let (text, count) = program(u32::MAX, 0);
    assert!(count > 250, "{count} assertions");
    let (failed, said) = failures(&text);
    assert_eq!(failed, 0, "{said}");
}

#[test]
#[ignore = "needs headers of another release: run by tests/verbs_layout"]
fn layouts_and_constants_are_those_of_another_release() {
    let headers = std::env::var("VERBS_HEADERS").unwrap();
    let release = std::env::var("VERBS_RELEASE").unwrap().parse().unwrap();
    for file in ["infiniband/verbs.h", "rdma/rdma_cma.h"] {
        assert!(Path::new(&headers).join(file).exists(), "{headers}: {file}");
    }
    let (text, count) = program(release, 0);
    assert!(count > 250, "{count} assertions");
    let name = format!("verbs_layout_of_{release}");
    let (failed, said) = c_assertions::failures(&name, &text, &[format!("-I{headers}")]);
    assert_eq!(failed, 0, "{said}");
}

/// Every assertion can fail.
#[test]
fn wrong_values_are_found() {
    let (text, count) = program(u32::MAX, 1);
    assert_eq!(failures(&text).0, count);
}
