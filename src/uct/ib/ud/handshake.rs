//! The timers of a connection request and of its reply: when to send it again, and when to give up.
//!
//! An endpoint that connects to an interface sends a request until it gets a reply. The interface makes a connection at
//! the first request and sends the reply until it gets any packet on the connection; the same request again gets the
//! same connection. A packet on the connection, an acknowledgement at least, is the third step.
#![forbid(unsafe_code)]

use super::window::longer;

/// Ticks until the first retransmission.
const FIRST: u32 = 5;

/// A request or a reply that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    started: u32,
    next: u32,
    interval: u32,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Wait,
    /// Send it again.
    Send,
    /// Nobody answers.
    GiveUp,
}

impl Handshake {
    /// It was sent for the first time.
    pub fn start(now: u32) -> Handshake {
        Handshake {
            started: now,
            next: now.wrapping_add(FIRST),
            interval: FIRST,
        }
    }

    /// Looks at the time: `timeout` ticks are the limit, each interval is longer than the one before by `backoff`.
    pub fn step(&mut self, now: u32, timeout: u32, backoff: f32) -> Step {
        if now.wrapping_sub(self.started) > timeout {
            return Step::GiveUp;
        }
        if (now.wrapping_sub(self.next) as i32) < 0 {
            return Step::Wait;
        }
        self.next = now.wrapping_add(longer(self.interval, backoff));
        Step::Send
    }

    /// It was sent again; `false`: there was no room, and it is tried with the next tick.
    pub fn note_sent(&mut self, now: u32, sent: bool) {
        if sent {
            self.interval = self.next.wrapping_sub(now);
        } else {
            self.next = now.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sent_less_and_less_often_until_the_limit() {
        for start in [0, u32::MAX - 20] {
            let mut handshake = Handshake::start(start);
            let mut sent = Vec::new();
            let (mut end, mut refused) = (None, false);
            for at in 0..1000u32 {
                match handshake.step(start.wrapping_add(at), 400, 2.0) {
                    Step::Wait => {}
                    // Every other time there is no room.
                    Step::Send if refused => {
                        handshake.note_sent(start.wrapping_add(at), false);
                        refused = false;
                    }
                    Step::Send => {
                        handshake.note_sent(start.wrapping_add(at), true);
                        sent.push(at);
                        refused = true;
                    }
                    Step::GiveUp => {
                        end = Some(at);
                        break;
                    }
                }
            }
            assert_eq!(sent, [5, 16, 37, 78, 159, 320]);
            assert_eq!(end, Some(401));
        }
    }
}
