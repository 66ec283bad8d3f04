//! Announced memory that its owner may take back. Whoever closes an endpoint by force has the buffers of
//! its requests again at once, and does not wait for a receiver that is in the middle of a copy.
//!
//! A worker counts in one word how often it has taken something back. Announcements say where the word
//! is and what it was; receivers look at it behind their copy. One that finds another count does not
//! know what it has copied, and asks for the data instead: the sender then sends them, or says that they
//! are gone. The word changes before anybody is told that a buffer is free.

use crate::ucp::context::Context;
use crate::ucp::mem::{RemoteKey, Window};
use crate::ucs::sync::{AtomicU64, Ordering, fence, word64};
use crate::uct::api::Guard;
use crate::wire::rkey::READ;
use core::cell::OnceCell;

/// The count of one worker, made with its first announcement that may be taken back.
#[derive(Default)]
pub struct Pledges {
    word: OnceCell<Option<Window>>,
}

/// The word of a window.
fn word(window: &Window) -> &AtomicU64 {
    // SAFETY: at the beginning of a block of the window's own; peers only read it.
    unsafe { word64(window.address().cast()) }
}

impl Pledges {
    /// What an announcement has to say that is made now, and a key where peers can map the word.
    /// `None` when there is no memory for it.
    pub fn promise(&self, context: &Context) -> Option<(Guard, &[u8])> {
        let made = self.word.get_or_init(|| {
            let window = Window::onto_word(context).ok()?;
            word(&window).store(1, Ordering::Relaxed);
            Some(window)
        });
        let window = made.as_ref()?;
        let guard = Guard {
            at: window.address() as u64,
            value: word(window).load(Ordering::Relaxed),
        };
        Some((guard, &window.key))
    }

    /// An announced buffer is going to be its owner's again.
    #[cold]
    pub fn take_back(&self) {
        if let Some(Some(window)) = self.word.get() {
            word(window).fetch_add(1, Ordering::Relaxed);
            // Release: whoever reads what the owner writes to the buffer now, and then the word, sees
            // the new count. Pairs with the Acquire in `stands`, or with the kernel's copy of both.
            fence(Ordering::Release);
        }
    }
}

/// A guard that is mapped here.
pub struct Mapped<'a> {
    word: &'a AtomicU64,
    value: u64,
}

impl<'a> Mapped<'a> {
    /// `None` when the guard is not in the key's range, or no word.
    pub fn find(key: &'a RemoteKey, guard: Guard) -> Option<Mapped<'a>> {
        const WORD: usize = size_of::<u64>();
        let at = key.mapped_range(guard.at, WORD, READ)?;
        (at as usize).is_multiple_of(WORD).then(|| Mapped {
            // SAFETY: aligned, and mapped as long as the key is; its owner uses it as an atomic.
            word: unsafe { word64(at) },
            value: guard.value,
        })
    }

    /// Whether nothing was taken back, up to the reads before this call.
    pub fn stands(&self) -> bool {
        // Acquire: pairs with the Release in `take_back`.
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) == self.value
    }
}
