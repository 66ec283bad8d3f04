//! `Window`: the messages of one endpoint that the peer has not acknowledged.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

/// Most messages, and most bytes of them. One message is taken whatever its length.
const MOST: usize = 1024;
const MOST_BYTES: usize = 1 << 20;

/// A message that is to be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Numbered<'a> {
    pub number: u64,
    pub id: u8,
    pub bytes: &'a [u8],
}

#[derive(Default)]
pub struct Window {
    messages: VecDeque<(u8, Vec<u8>)>,
    bytes: usize,
    /// The number of the first message.
    oldest: u64,
    /// How many of them the current path has taken.
    sent: usize,
    /// One more than the highest number that any path has taken.
    highest: u64,
}

impl Window {
    pub fn has_room(&self) -> bool {
        self.messages.len() < MOST && self.bytes < MOST_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The oldest message that is not acknowledged; of an empty window, the next one.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The number of the next message that is pushed.
    pub fn end(&self) -> u64 {
        self.oldest + self.messages.len() as u64
    }

    pub fn push(&mut self, id: u8, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.messages.push_back((id, bytes));
    }

    /// The next message for the path.
    pub fn next(&self) -> Option<Numbered<'_>> {
        let (id, bytes) = self.messages.get(self.sent)?;
        Some(Numbered {
            number: self.oldest + self.sent as u64,
            id: *id,
            bytes,
        })
    }

    /// The path has taken it.
    pub fn advance(&mut self) {
        self.sent += 1;
        self.highest = self.highest.max(self.oldest + self.sent as u64);
    }

    /// Another path is used: everything is sent again.
    pub fn rewind(&mut self) {
        self.sent = 0;
    }

    /// The peer has all messages before `next`. Returns how many are new to it; `None` if it cannot have them.
    pub fn acknowledge(&mut self, next: u64) -> Option<usize> {
        if next > self.highest {
            return None;
        }
        let count = next.saturating_sub(self.oldest) as usize;
        for (_, bytes) in self.messages.drain(..count) {
            self.bytes -= bytes.len();
        }
        self.oldest += count as u64;
        self.sent = self.sent.saturating_sub(count);
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    fn send(window: &mut Window) -> Option<u64> {
        let number = window.next()?.number;
        window.advance();
        Some(number)
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again() {
        let mut window = Window::default();
        for id in 0..4 {
            window.push(id, vec![id; 3]);
        }
        assert_eq!((send(&mut window), send(&mut window)), (Some(0), Some(1)));
        // More than was sent.
        assert_eq!(window.acknowledge(3), None);
        assert_eq!(window.acknowledge(1), Some(1));
        assert_eq!(window.acknowledge(0), Some(0));
        assert_eq!((window.oldest(), window.end()), (1, 4));
        window.rewind();
        let again = Numbered {
            number: 1,
            id: 1,
            bytes: &[1; 3],
        };
        assert_eq!(window.next(), Some(again));
        while send(&mut window).is_some() {}
        window.rewind();
        // The former path has delivered them, though none went by the present one.
        assert_eq!(window.acknowledge(4), Some(3));
        assert!(window.is_empty() && window.oldest() == 4 && window.end() == 4);
        window.push(9, Vec::new());
        assert_eq!(send(&mut window), Some(4));
    }

    #[test]
    fn it_is_full_by_number_and_by_bytes() {
        let mut window = Window::default();
        for _ in 0..MOST {
            assert!(window.has_room());
            window.push(0, Vec::new());
        }
        assert!(!window.has_room());
        window.advance();
        assert_eq!(window.acknowledge(1), Some(1));
        assert!(window.has_room());
        let mut window = Window::default();
        window.push(0, vec![0; MOST_BYTES]);
        assert!(!window.has_room());
        window.advance();
        window.acknowledge(1);
        assert!(window.has_room());
    }

    /// Two paths in turn, each of which loses everything from some message on: the receiver has all messages once and
    /// in order.
    #[test]
    fn go_back_and_in_order_delivery_make_up_for_any_loss() {
        let rng = TestRng::new(7);
        for _ in 0..500 {
            let (mut window, mut expected, mut pushed) = (Window::default(), 0u64, 0u64);
            while pushed < 40 || !window.is_empty() {
                if pushed < 40 && rng.chance(60) {
                    window.push(0, pushed.to_le_bytes().to_vec());
                    pushed += 1;
                }
                let broken = rng.chance(20);
                while let Some(message) = window.next() {
                    let arrives = !(broken && rng.chance(50));
                    assert_eq!(message.bytes, message.number.to_le_bytes());
                    assert!(message.number <= expected, "a path left one out");
                    if arrives && message.number == expected {
                        expected += 1;
                    }
                    window.advance();
                    if !arrives {
                        break;
                    }
                }
                if rng.chance(70) {
                    assert!(window.acknowledge(expected).is_some());
                }
                if broken {
                    window.rewind();
                }
            }
            assert_eq!(expected, 40);
        }
    }
}
