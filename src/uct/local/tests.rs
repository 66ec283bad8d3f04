//! The channel with honest and hostile clients, and with servers whose answers cannot be used.

use super::client::ask;
use super::server::abstract_address;
use super::wire::{ANSWER_LEN, Answer, Question, REQUEST_LEN, Request, Verdict};
use super::*;
use crate::sys::eventfd::EventFd;
use crate::sys::local_socket;
use crate::sys::shm;
use crate::ucs::test_rng::TestRng;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

fn export(wake: Option<EventFd>) -> Shared {
    Shared::new(Export {
        open: None,
        file: Some(shm::memory_file("test", 4096, false).unwrap()),
        sysv: None,
        len: 4096,
        wake,
    })
    .unwrap()
}

fn connect(name: ProcessName) -> UnixStream {
    UnixStream::connect_addr(&abstract_address(name.id).unwrap()).unwrap()
}

#[test]
fn the_thread_answers_with_descriptors_and_the_kernels_word() {
    let member = join().unwrap();
    let shared = export(Some(EventFd::new().unwrap()));
    let serial = shared.serial;
    let reply = ask(member.name, Question::Segment { serial }).unwrap();
    assert_eq!(reply.answer.verdict, Verdict::Yes);
    assert_eq!((reply.answer.len, reply.fds.len()), (4096, 2));
    assert_eq!(reply.known.pid, std::process::id());
    // Waking by the copy is seen by the owner.
    let [_, wake] = <[_; 2]>::try_from(reply.fds).unwrap();
    EventFd::received(wake).unwrap().signal();
    assert!(shared.export.wake.as_ref().unwrap().clear());
    drop(shared);
    let reply = ask(member.name, Question::Segment { serial }).unwrap();
    assert_eq!((reply.answer.verdict, reply.fds.len()), (Verdict::No, 0));
}

#[test]
fn a_socket_of_another_network_namespace_is_reached_by_its_place() {
    let member = join().unwrap();
    let door = format!("/proc/{}/fd/{}", member.name.pid, member.name.door);
    let mut stream = UnixStream::connect(door).unwrap();
    let request = Request {
        to: member.name.id,
        question: Question::Process,
    };
    stream.write_all(&request.encode()).unwrap();
    let mut bytes = [0; ANSWER_LEN];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(Answer::decode(&bytes).unwrap().verdict, Verdict::Yes);
}

#[test]
fn no_other_socket_is_connected_to_by_a_peers_word() {
    let path = std::env::temp_dir().join(format!("ferrucx-test-{}", std::process::id()));
    let other = UnixListener::bind(&path).unwrap();
    other.set_nonblocking(true).unwrap();
    let place = crate::sys::file::open_place(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let claimed = ProcessName {
        id: 0x1234,
        pid: std::process::id(),
        door: place.as_raw_fd().cast_unsigned(),
    };
    assert_eq!(ask(claimed, Question::Process).err(), Some(Refusal::Gone));
    let nobody = other.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_ticket_is_good_for_its_two_workers_only() {
    let member = join().unwrap();
    let shown = ticket(1, 2);
    let verdict = |from, to, ticket| {
        let question = Question::Ticket {
            from,
            to,
            ticket,
            serial: 0,
        };
        ask(member.name, question).unwrap().answer.verdict
    };
    assert_eq!(verdict(1, 2, shown), Verdict::Yes);
    assert_eq!(verdict(2, 1, shown), Verdict::No);
    assert_eq!(verdict(1, 3, shown), Verdict::No);
    assert_eq!(verdict(1, 2, shown ^ 1), Verdict::No);
    // The segment comes with a right ticket only.
    let shared = export(None);
    let with_segment = |ticket| {
        let question = Question::Ticket {
            from: 1,
            to: 2,
            ticket,
            serial: shared.serial,
        };
        ask(member.name, question).unwrap()
    };
    let reply = with_segment(shown);
    assert_eq!(
        (reply.answer.verdict, reply.answer.len),
        (Verdict::Yes, 4096)
    );
    assert_eq!(reply.fds.len(), 1);
    let reply = with_segment(shown ^ 1);
    assert_eq!((reply.answer.verdict, reply.fds.len()), (Verdict::No, 0));
    assert!(confirm(member.name, (1, 2), shown, 0).is_ok());
    assert_eq!(
        confirm(member.name, (1, 2), 0, 0).err(),
        Some(Refusal::Denied)
    );
}

#[test]
fn hostile_clients_cost_their_connection() {
    let member = join().unwrap();
    let rng = TestRng::new(20261124);
    // Some say nothing, or half of it, and stay.
    let silent: Vec<UnixStream> = (0..200)
        .map(|i| {
            let mut stream = connect(member.name);
            if i % 2 == 1 {
                // It may have been dropped for a later one.
                let _ = stream.write_all(&[7; REQUEST_LEN / 2]);
            }
            stream
        })
        .collect();
    for _ in 0..500 {
        let mut stream = connect(member.name);
        let mut bytes = Request {
            to: member.name.id,
            question: Question::Segment {
                serial: rng.next() as u32,
            },
        }
        .encode();
        let at = rng.next() as usize % REQUEST_LEN;
        bytes[at] ^= rng.next() as u8;
        // Descriptors that come along are dropped by the kernel.
        let fds: &[BorrowedFd<'_>] = &[silent[0].as_fd()];
        local_socket::send(stream.as_fd(), &bytes, fds).unwrap();
        let mut answer = Vec::new();
        // Answered or not, the connection ends.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.len() <= ANSWER_LEN);
    }
    let reply = ask(member.name, Question::Process).unwrap();
    assert_eq!(reply.answer.verdict, Verdict::Yes);
}

/// A process under a name of its own that gives one answer with these descriptors.
fn liar(answer: Answer, fds: Vec<std::os::fd::OwnedFd>) -> ProcessName {
    let id = crate::sys::random::random_u64().unwrap();
    let address = SocketAddr::from_abstract_name(format!("ucx-{id:016x}")).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; REQUEST_LEN];
        stream.read_exact(&mut request).unwrap();
        let fds: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
        local_socket::send(stream.as_fd(), &answer.encode(), &fds).unwrap();
    });
    ProcessName {
        id,
        pid: 0,
        door: 0,
    }
}

#[test]
fn what_a_liar_gives_is_refused() {
    let yes = Answer {
        file: true,
        len: 4096,
        ..Answer::of(Verdict::Yes)
    };
    let sealed = || shm::memory_file("test", 4096, false).unwrap();
    let lasting = |answer, fds| match segment(liar(answer, fds), 1) {
        Ok(Segment::Theirs { file, len, .. }) => {
            file.is_some_and(|f| shm::expect_lasting(&f, len as usize).is_ok())
        }
        _ => false,
    };
    assert!(lasting(yes, vec![sealed()]));
    assert!(!lasting(yes, vec![]), "no descriptor");
    let longer = Answer { len: 8192, ..yes };
    assert!(!lasting(longer, vec![sealed()]), "longer than its file");
    let plain = std::fs::File::open("/proc/self/exe").unwrap();
    assert!(
        !lasting(yes, vec![plain.into()]),
        "a file that can be cut off"
    );
    let waking = Answer { wake: true, ..yes };
    assert!(!lasting(waking, vec![sealed()]), "nothing to wake by");
    let (blocking, _other) = UnixStream::pair().unwrap();
    assert!(blocking.as_raw_fd() > 0);
    assert!(
        !lasting(waking, vec![sealed(), blocking.into()]),
        "a write could wait"
    );
    let other_user = Answer::of(Verdict::OtherUser);
    let refusal = segment(liar(other_user, vec![]), 1).err();
    assert_eq!(refusal, Some(Refusal::OtherUser));
    let nobody = ProcessName {
        id: 1,
        pid: 0,
        door: 0,
    };
    assert_eq!(segment(nobody, 1).err(), Some(Refusal::Gone));
}
