//! Byte formats of the local channel: the name of a process in addresses and keys, a request, and its reply.

use crate::wire::{Reader, Writer};

/// The name by which other processes of this host find a process. It is a claim until the process has replied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessName {
    /// Random, and of one process only.
    pub id: u64,
    /// Where the process shows its socket to those of another network namespace: `/proc/<pid>/fd/<door>`. 0 for
    /// nowhere.
    pub pid: u32,
    pub door: u32,
}

/// Bytes of an encoded `Name`.
pub const NAME_LEN: usize = 16;

impl ProcessName {
    pub fn encode(&self) -> [u8; NAME_LEN] {
        let mut out = [0; NAME_LEN];
        let mut w = Writer::new(&mut out);
        w.u64(self.id);
        w.u32(self.pid);
        w.u32(self.door);
        out
    }

    pub fn decode(bytes: &[u8]) -> Option<ProcessName> {
        let mut r = Reader::new(bytes);
        Some(ProcessName {
            id: r.u64()?,
            pid: r.u32()?,
            door: r.u32()?,
        })
    }
}

/// The request to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Who it is, nothing more.
    Process,
    /// One of its segments, and what wakes the owner.
    Segment { serial: u32 },
    /// Whether it gave this ticket of worker `from` to worker `to`. If so, the reply has the segment with this serial
    /// number, as far as there is one.
    Ticket {
        from: u64,
        to: u64,
        ticket: u64,
        serial: u32,
    },
}

const MAGIC: u32 = u32::from_le_bytes(*b"fxl2");
/// Bytes of a request and of an answer.
pub const REQUEST_LEN: usize = 48;
pub const ANSWER_LEN: usize = 40;

/// A question to the process `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub to: u64,
    pub question: Question,
}

impl Request {
    pub fn encode(&self) -> [u8; REQUEST_LEN] {
        let (kind, serial, a, b, c) = match self.question {
            Question::Process => (0, 0, 0, 0, 0),
            Question::Segment { serial } => (1, serial, 0, 0, 0),
            Question::Ticket {
                from,
                to,
                ticket,
                serial,
            } => (2, serial, from, to, ticket),
        };
        let mut out = [0; REQUEST_LEN];
        let mut w = Writer::new(&mut out);
        w.u32(MAGIC);
        w.u32(kind);
        for word in [self.to, serial.into(), a, b, c] {
            w.u64(word);
        }
        out
    }

    pub fn decode(bytes: &[u8; REQUEST_LEN]) -> Option<Request> {
        let mut r = Reader::new(bytes);
        if r.u32()? != MAGIC {
            return None;
        }
        let (kind, to) = (r.u32()?, r.u64()?);
        let serial = u32::try_from(r.u64()?).ok()?;
        let (from, to_worker, ticket) = (r.u64()?, r.u64()?, r.u64()?);
        let question = match kind {
            0 => Question::Process,
            1 => Question::Segment { serial },
            2 => Question::Ticket {
                from,
                to: to_worker,
                ticket,
                serial,
            },
            _ => return None,
        };
        Some(Request { to, question })
    }
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Verdict {
    Yes = 1,
    /// There is no such thing, or it does not belong to the process that asks.
    No,
    /// The process that asks belongs to another user.
    OtherUser,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// Which descriptors come along, in this order: the segment's memory file, what wakes its owner.
    pub file: bool,
    pub wake: bool,
    /// Of a System V segment.
    pub sysv: Option<i32>,
    /// Bytes of a segment.
    pub len: u64,
    /// A word of the process, for who asks the kernel to read it: where it stands, and its value.
    pub probe: u64,
    pub word: u64,
}

impl Answer {
    pub const fn of(verdict: Verdict) -> Answer {
        Answer {
            verdict,
            file: false,
            wake: false,
            sysv: None,
            len: 0,
            probe: 0,
            word: 0,
        }
    }

    pub fn encode(&self) -> [u8; ANSWER_LEN] {
        let mut out = [0; ANSWER_LEN];
        let mut w = Writer::new(&mut out);
        w.u32(MAGIC);
        w.u8(self.verdict as u8);
        w.u8(self.sysv.is_some().into());
        w.u8(self.file.into());
        w.u8(self.wake.into());
        w.u32(self.sysv.unwrap_or(0).cast_unsigned());
        w.u32(0);
        for word in [self.len, self.probe, self.word] {
            w.u64(word);
        }
        out
    }

    pub fn decode(bytes: &[u8; ANSWER_LEN]) -> Option<Answer> {
        let mut r = Reader::new(bytes);
        if r.u32()? != MAGIC {
            return None;
        }
        let verdict = match r.u8()? {
            1 => Verdict::Yes,
            2 => Verdict::No,
            3 => Verdict::OtherUser,
            _ => return None,
        };
        let has_id = r.u8()? != 0;
        let (file, wake) = (r.u8()? != 0, r.u8()? != 0);
        let id = r.u32()?.cast_signed();
        r.u32()?;
        Some(Answer {
            verdict,
            file,
            wake,
            sysv: has_id.then_some(id),
            len: r.u64()?,
            probe: r.u64()?,
            word: r.u64()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_come_back() {
        let questions = [
            Question::Process,
            Question::Segment { serial: 7 },
            Question::Ticket {
                from: 1,
                to: u64::MAX,
                ticket: 3,
                serial: 4,
            },
        ];
        for question in questions {
            let request = Request { to: 9, question };
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        let answer = Answer {
            verdict: Verdict::OtherUser,
            file: true,
            wake: false,
            sysv: Some(-4),
            len: 5,
            probe: 6,
            word: 7,
        };
        assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        let name = ProcessName {
            id: 1,
            pid: 2,
            door: 3,
        };
        assert_eq!(ProcessName::decode(&name.encode()), Some(name));
        assert_eq!(ProcessName::decode(&name.encode()[1..]), None);
    }

    #[test]
    fn other_bytes_are_refused() {
        let good = Request {
            to: 9,
            question: Question::Segment { serial: 7 },
        }
        .encode();
        // Magic, kind, and a serial number beyond 32 bits.
        for at in [0, 3, 5, 22] {
            let mut bad = good;
            bad[at] ^= 0x40;
            assert_eq!(Request::decode(&bad), None, "byte {at}");
        }
        let mut answer = Answer::of(Verdict::Yes).encode();
        answer[4] = 4;
        assert_eq!(Answer::decode(&answer), None);
    }
}
