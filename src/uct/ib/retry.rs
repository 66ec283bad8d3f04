//! When a datagram that has no answer yet is sent again, and when to give up: less and less often, until a limit. Ticks
//! are the caller's.
#![forbid(unsafe_code)]

/// The longest time between two transmissions, in ticks, unless the first is longer, or a shorter limit is asked.
const LONGEST: u32 = 200;

/// Ticks until the first retransmission.
const FIRST: u32 = 5;

/// A datagram that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    started: u32,
    next: u32,
    interval: u32,
    longest: u32,
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

impl Retry {
    /// It was sent for the first time.
    pub fn start(now: u32) -> Retry {
        Retry::start_within(now, LONGEST)
    }

    /// As `start`, with at most so many ticks between two transmissions.
    pub fn start_within(now: u32, longest: u32) -> Retry {
        let longest = longest.min(LONGEST);
        let interval = FIRST.min(longest);
        Retry {
            started: now,
            next: now.wrapping_add(interval),
            interval,
            longest,
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
        let next = longer(self.interval, backoff).min(self.longest);
        self.next = now.wrapping_add(next);
        Step::Send
    }

    /// The tick at which it is to be sent again.
    pub fn due(&self) -> u32 {
        self.next
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

/// The next of a sequence of timeouts.
pub fn longer(timeout: u32, backoff: f32) -> u32 {
    let next = (timeout as f32 * backoff.max(1.0)) as u32;
    next.clamp(1, LONGEST.max(timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sent_less_and_less_often_until_the_limit() {
        for start in [0, u32::MAX - 20] {
            let mut retry = Retry::start(start);
            let mut sent = Vec::new();
            let (mut end, mut refused) = (None, false);
            for at in 0..1000u32 {
                match retry.step(start.wrapping_add(at), 400, 2.0) {
                    Step::Wait => {}
                    // Every other time there is no room.
                    Step::Send if refused => {
                        retry.note_sent(start.wrapping_add(at), false);
                        refused = false;
                    }
                    Step::Send => {
                        retry.note_sent(start.wrapping_add(at), true);
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
