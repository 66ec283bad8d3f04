//! `Works`: what has to be done as work requests of a connection are complete, in their order. The nodes of these lists are
//! the interface's.

use super::iface::Face;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Unpack};
use crate::uct::base::desc::{DescPool, LentDesc};
use core::cell::{Cell, RefCell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// What has to be done when a work request is complete: the bytes that came are used, their buffer is given back, the user
/// is told.
pub struct Work {
    pub read: Read,
    /// What the device reads or writes: of the interface's copies.
    pub desc: Option<LentDesc>,
    pub comp: Completion,
}

/// What a work request has read into its buffer.
#[derive(Clone, Copy)]
pub enum Read {
    Nothing,
    /// Bytes for the user.
    Bytes {
        unpack: Unpack,
        len: u32,
    },
    /// The word that was there, for the user.
    Word {
        to: *mut u64,
    },
    /// The owner's revocation epoch, read behind the user's data, which has to have this value.
    Epoch {
        value: u64,
    },
}

impl Work {
    /// The user is told.
    pub fn tell(comp: Completion) -> Work {
        Work {
            read: Read::Nothing,
            desc: None,
            comp,
        }
    }

    /// A copy is given back.
    #[inline(always)]
    pub fn copied(desc: LentDesc) -> Work {
        Work {
            read: Read::Nothing,
            desc: Some(desc),
            comp: Completion::NONE,
        }
    }

    /// Ends the operation. The user is called: no borrow is held.
    #[inline(always)]
    pub fn finish(self, copies: &DescPool, mut result: Result<()>) {
        if let Some(desc) = self.desc {
            if result.is_ok() {
                // SAFETY: the device has written there what is to be read.
                result = unsafe { self.read.from(copies.payload_of(&desc)) };
            }
            // SAFETY: of this pool.
            unsafe { copies.give_back(desc) };
        }
        self.comp.complete(result);
    }
}

impl Read {
    /// Uses what has come to a buffer, whose payload is aligned.
    ///
    /// # Safety
    /// The device must have written it.
    #[inline(always)]
    unsafe fn from(self, payload: *mut u8) -> Result<()> {
        match self {
            Read::Nothing => Ok(()),
            Read::Bytes { unpack, len } => {
                // SAFETY: by the caller's promise there are so many.
                unsafe { unpack.unpack_from(payload, len as usize) };
                Ok(())
            }
            Read::Word { to } => {
                // SAFETY: by the caller's promise there is one.
                let word = unsafe { payload.cast::<u64>().read() };
                // SAFETY: the user's place is writable.
                unsafe { to.write_unaligned(word) };
                Ok(())
            }
            Read::Epoch { value } => {
                // SAFETY: by the caller's promise there is a word.
                let is_current = unsafe { payload.cast::<u64>().read() } == value;
                is_current.then_some(()).ok_or(Status::CANCELED)
            }
        }
    }
}

/// The work of a request under way, in the list of its connection, or a free one.
struct Node {
    next: Option<NonNull<Node>>,
    /// The number of the work request.
    number: u16,
    work: MaybeUninit<Work>,
}

/// Nodes that are made at a time.
const NODES: usize = 32;

/// The nodes of an interface.
#[derive(Default)]
pub struct WorkPool {
    free: Cell<Option<NonNull<Node>>>,
    all: RefCell<Vec<Box<[UnsafeCell<Node>]>>>,
}

/// A node that is in no list.
pub struct FreeNode(NonNull<Node>);

impl WorkPool {
    /// A node, if there is a free one.
    #[inline(always)]
    pub fn get_free(&self) -> Option<FreeNode> {
        let node = self.free.get()?;
        // SAFETY: a node of `all`, which is in no list.
        self.free.set(unsafe { node.as_ref() }.next);
        Some(FreeNode(node))
    }

    /// A node that was not used.
    #[cold]
    pub fn put(&self, node: FreeNode) {
        self.give_back(node.0);
    }

    #[inline(always)]
    fn take(&self) -> NonNull<Node> {
        match self.get_free() {
            Some(FreeNode(node)) => node,
            None => self.grow(),
        }
    }

    #[inline(always)]
    fn give_back(&self, mut node: NonNull<Node>) {
        // SAFETY: as above.
        unsafe { node.as_mut() }.next = self.free.get();
        self.free.set(Some(node));
    }

    #[cold]
    fn grow(&self) -> NonNull<Node> {
        let node = || Node {
            next: None,
            number: 0,
            work: MaybeUninit::uninit(),
        };
        let nodes: Box<[_]> = (0..NODES).map(|_| UnsafeCell::new(node())).collect();
        // SAFETY: none is null.
        let at = |i: usize| unsafe { NonNull::new_unchecked(nodes[i].get()) };
        (1..NODES).for_each(|i| self.give_back(at(i)));
        let first = at(0);
        self.all.borrow_mut().push(nodes);
        first
    }
}

/// The work of requests under way, in their order. The nodes are the pool's, which they go with.
#[derive(Default)]
pub struct Works {
    first: Cell<Option<NonNull<Node>>>,
    /// The last one, if there is a first.
    last: Cell<Option<NonNull<Node>>>,
}

impl Works {
    #[inline(always)]
    pub fn push(&self, pool: &WorkPool, number: u16, work: Work) {
        self.add(FreeNode(pool.take()), number, work);
    }

    #[inline(always)]
    pub fn add(&self, FreeNode(node): FreeNode, number: u16, work: Work) {
        let entry = Node {
            next: None,
            number,
            work: MaybeUninit::new(work),
        };
        // SAFETY: a node that was free.
        unsafe { node.write(entry) };
        match self.first.get().and(self.last.get()) {
            // SAFETY: a node of this list.
            Some(mut last) => unsafe { last.as_mut() }.next = Some(node),
            None => self.first.set(Some(node)),
        }
        self.last.set(Some(node));
    }

    /// Whether the first request is complete with that of this number.
    #[inline(always)]
    pub fn has_complete(&self, number: u16) -> bool {
        let first = self.first.get();
        // SAFETY: a node of this list.
        first.is_some_and(|node| is_complete(unsafe { node.as_ref() }.number, number))
    }

    /// Takes the first one out, if its request is complete with that of this number and the next is not. Then its node has to
    /// be given back.
    #[inline(always)]
    pub fn take_only(&self, number: u16) -> Only {
        let Some(node) = self.first.get() else {
            return Only::None;
        };
        // SAFETY: a node of this list.
        let first = unsafe { node.as_ref() };
        if !is_complete(first.number, number) {
            return Only::None;
        }
        if let Some(next) = first.next
            // SAFETY: a node of this list.
            && is_complete(unsafe { next.as_ref() }.number, number)
        {
            return Only::Several;
        }
        self.first.set(first.next);
        Only::One(Done(node))
    }

    #[inline(always)]
    pub fn pop(&self, pool: &WorkPool) -> Option<Work> {
        let node = self.first.get()?;
        // SAFETY: a node of this list.
        let entry = unsafe { node.read() };
        self.first.set(entry.next);
        pool.give_back(node);
        // SAFETY: nodes of the list have work.
        Some(unsafe { entry.work.assume_init() })
    }

    /// Takes the last one out.
    #[cold]
    pub fn take_back(&self, pool: &WorkPool) -> Option<Work> {
        let all = core::iter::from_fn(|| Some((self.number()?, self.pop(pool)?)));
        let mut all: Vec<(u16, Work)> = all.collect();
        let (_, last) = all.pop()?;
        for (number, work) in all {
            self.push(pool, number, work);
        }
        Some(last)
    }

    /// The number of the first request.
    fn number(&self) -> Option<u16> {
        // SAFETY: a node of this list.
        self.first.get().map(|node| unsafe { node.as_ref() }.number)
    }
}

/// The work of requests that are complete.
pub enum Only {
    None,
    One(Done),
    Several,
}

/// Work that is in no list. It has to be finished.
pub struct Done(NonNull<Node>);

impl Done {
    fn work(&self) -> &Work {
        // SAFETY: a node that was in a list has work.
        unsafe { self.0.as_ref().work.assume_init_ref() }
    }

    /// Ends the operation. The user is called: no borrow is held.
    #[inline(always)]
    pub fn finish(self, face: &Face) {
        if self.work().desc.is_some() {
            if matches!(self.work().read, Read::Word { .. }) {
                return self.finish_inlined(face);
            }
            return self.finish_copy(face);
        }
        let comp = self.work().comp;
        face.works.give_back(self.0);
        comp.complete(Ok(()));
    }

    /// As `finish`, where a copy is given back. Inlined for a word that was read: then no user is called before the end.
    #[inline(always)]
    fn finish_inlined(self, face: &Face) {
        // SAFETY: as in `work`; nobody reads it again.
        let work = unsafe { self.0.as_ref().work.assume_init_read() };
        face.works.give_back(self.0);
        work.finish(&face.copies, Ok(()));
    }

    /// As `finish_inlined`, of other bytes.
    #[inline(never)]
    fn finish_copy(self, face: &Face) {
        self.finish_inlined(face);
    }
}

/// Whether the request `at` is complete with the one that has this number: half of the numbers are before, half behind, and the
/// entries are at most one queue long.
#[inline(always)]
fn is_complete(at: u16, number: u16) -> bool {
    number.wrapping_sub(at) as i16 >= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work comes and goes, in more nodes than are made at once.
    #[test]
    fn work_is_done_in_order() {
        let (works, pool) = (Works::default(), WorkPool::default());
        let (mut pushed, mut popped) = (0, 0);
        let pop = || {
            let number = works.number();
            works.pop(&pool).and(number)
        };
        for round in 0..200 {
            for _ in 0..1 + round % 7 {
                works.push(&pool, pushed, Work::tell(Completion::NONE));
                pushed += 1;
            }
            for _ in 0..round % 6 {
                if popped < pushed {
                    assert!(
                        works.has_complete(popped) && !works.has_complete(popped.wrapping_sub(1))
                    );
                    assert_eq!(pop(), Some(popped));
                    popped += 1;
                }
            }
            assert!(works.take_back(&pool).is_some() == (popped < pushed));
            pushed -= u16::from(popped < pushed);
        }
        while let Some(number) = pop() {
            assert_eq!(number, popped);
            popped += 1;
        }
        assert!(popped == pushed && !works.has_complete(popped));
        let nodes = pool.all.borrow().len() * NODES;
        assert!(usize::from(pushed) > nodes, "{nodes} nodes are used again");
    }
}
