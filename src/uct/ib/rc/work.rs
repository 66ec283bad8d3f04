//! `Works`: what has to be done as work requests of a connection are complete, in their order. The nodes of these lists are
//! the interface's; those of requests that the device copies from or reads into have the copy behind them.

use super::iface::Face;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Unpack};
use crate::uct::base::desc::DescPool;
use core::cell::{Cell, RefCell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::NonNull;

/// What has to be done when a work request is complete, beside that the user is told.
#[derive(Clone, Copy)]
pub enum End {
    Nothing,
    /// The copy is given back; so with those below, whose request has read into it.
    Copied,
    /// Bytes for the user.
    Bytes {
        unpack: Unpack,
        len: u32,
    },
    /// The owner's revocation epoch, read behind the user's data, which has to have this value.
    Epoch {
        value: u64,
    },
}

impl End {
    /// The word that was there, for the user.
    pub fn word(to: *mut u64) -> End {
        let unpack = Unpack {
            cb: store_word,
            arg: to.cast(),
        };
        End::Bytes {
            unpack,
            len: size_of::<u64>() as u32,
        }
    }
}

/// Stores the word of an atomic.
///
/// # Safety
/// `to` is writable for a word, which stands at `copy`.
unsafe extern "C" fn store_word(to: *mut c_void, copy: *const c_void, _len: usize) {
    // SAFETY: by the caller's promise.
    let word = unsafe { copy.cast::<u64>().read_unaligned() };
    // SAFETY: as above.
    unsafe { to.cast::<u64>().write_unaligned(word) };
}

/// The work of a request under way, in the list of its connection, or a free one. A copy stands right behind it.
#[repr(C, align(16))]
struct Node {
    next: Option<NonNull<Node>>,
    /// The id of the work request.
    id: u64,
    comp: Completion,
    end: End,
    /// The device's key of the copy.
    key: u32,
}

impl Node {
    const fn new(key: u32) -> Node {
        Node {
            next: None,
            id: 0,
            comp: Completion::NONE,
            end: End::Nothing,
            key,
        }
    }
}

/// Where the copy of a node is that has one.
#[inline(always)]
fn copy_of(node: NonNull<Node>) -> *mut u8 {
    node.as_ptr().wrapping_add(1).cast()
}

/// A free list.
#[derive(Default)]
struct Free(Cell<Option<NonNull<Node>>>);

impl Free {
    #[inline(always)]
    fn pop(&self) -> Option<NonNull<Node>> {
        let node = self.0.get()?;
        // SAFETY: a node of the pool, which is in no other list.
        self.0.set(unsafe { node.as_ref() }.next);
        Some(node)
    }

    #[inline(always)]
    fn push(&self, mut node: NonNull<Node>) {
        // SAFETY: as above.
        unsafe { node.as_mut() }.next = self.0.get();
        self.0.set(Some(node));
    }
}

/// Nodes that are made at a time.
const NODES: usize = 32;

/// The nodes of an interface.
pub struct WorkPool {
    bare: Free,
    with_copy: Free,
    all: RefCell<Vec<Box<[UnsafeCell<Node>]>>>,
    /// Of nodes with a copy, which stay until it goes.
    memory: DescPool,
    /// Copies that do not come back.
    kept: Cell<usize>,
    /// No more could be registered at the last try.
    short: Cell<bool>,
}

/// Work that is in no list: it has to be added to one.
pub struct Work(NonNull<Node>);

/// A node with a copy. Dropping it gives it back.
pub struct WithCopy<'a> {
    node: NonNull<Node>,
    pool: &'a WorkPool,
}

impl WorkPool {
    /// Bytes before each copy.
    pub const LEAD: usize = size_of::<Node>();

    /// The copies are as long as the payloads of `memory`, less `LEAD` bytes.
    pub fn new(memory: DescPool) -> WorkPool {
        WorkPool {
            bare: Free::default(),
            with_copy: Free::default(),
            all: RefCell::default(),
            memory,
            kept: Cell::new(0),
            short: Cell::new(false),
        }
    }

    /// The user is told.
    #[inline]
    pub fn tell(&self, comp: Completion) -> Work {
        let node = self.bare.pop().unwrap_or_else(|| self.grow());
        Work::new(node, End::Nothing, comp)
    }

    /// As `tell`, if there is a free node.
    #[inline(always)]
    pub fn tell_now(&self, comp: Completion) -> Option<Work> {
        Some(Work::new(self.bare.pop()?, End::Nothing, comp))
    }

    /// A copy, if there is a free one.
    #[inline(always)]
    pub fn copy_now(&self) -> Option<WithCopy<'_>> {
        let node = self.with_copy.pop()?;
        Some(WithCopy { node, pool: self })
    }

    /// Takes a node back, whose work is done or is not to be done.
    #[inline(always)]
    fn give_back(&self, node: NonNull<Node>) {
        // SAFETY: a node that is in no list.
        match unsafe { node.as_ref() }.end {
            End::Nothing => self.bare.push(node),
            _ => self.with_copy.push(node),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&self) -> NonNull<Node> {
        let nodes: Box<[_]> = (0..NODES).map(|_| UnsafeCell::new(Node::new(0))).collect();
        // SAFETY: none is null.
        let at = |i: usize| unsafe { NonNull::new_unchecked(nodes[i].get()) };
        (1..NODES).for_each(|i| self.bare.push(at(i)));
        let first = at(0);
        self.all.borrow_mut().push(nodes);
        first
    }

    /// Whether a copy would have to be waited for.
    pub fn is_short(&self) -> bool {
        self.short.get() && self.with_copy.0.get().is_none()
    }

    /// One more copy. `NO_RESOURCE`: there is no memory for one, but others come back; else the error of its registration.
    pub fn grow_copies(&self) -> Result<WithCopy<'_>> {
        let there = self.memory.made() > self.kept.get();
        let desc = self.memory.get_registered();
        self.short.set(desc.is_err());
        let desc = desc.map_err(|e| if there { Status::NO_RESOURCE } else { e })?;
        let at: *mut Node = desc.payload().cast();
        // SAFETY: a payload is aligned to 16 and begins with `LEAD` bytes for a node; nobody else has it.
        unsafe { at.write(Node::new(desc.key())) };
        desc.leave();
        // SAFETY: not null: inside the descriptor.
        let node = unsafe { NonNull::new_unchecked(at) };
        Ok(WithCopy { node, pool: self })
    }
}

impl<'a> WithCopy<'a> {
    /// Where the copy is.
    #[inline(always)]
    pub fn at(&self) -> *mut u8 {
        copy_of(self.node)
    }

    /// The device's key of it.
    #[inline(always)]
    pub fn key(&self) -> u32 {
        // SAFETY: ours.
        unsafe { self.node.as_ref() }.key
    }

    /// What has to be done when the request is complete that uses it.
    #[inline(always)]
    pub fn work(self, end: End, comp: Completion) -> Work {
        let node = self.node;
        core::mem::forget(self);
        Work::new(node, end, comp)
    }

    /// It goes with its pool.
    pub fn keep(self) {
        self.pool.kept.set(self.pool.kept.get() + 1);
        core::mem::forget(self);
    }
}

impl Drop for WithCopy<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.pool.with_copy.push(self.node);
    }
}

impl Work {
    #[inline(always)]
    fn new(mut node: NonNull<Node>, end: End, comp: Completion) -> Work {
        // SAFETY: a node that is in no list.
        let place = unsafe { node.as_mut() };
        place.next = None;
        place.end = end;
        place.comp = comp;
        Work(node)
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
    /// Adds the work of the request of this id.
    #[inline(always)]
    pub fn add(&self, Work(mut node): Work, id: u64) {
        // SAFETY: a node that is in no list.
        unsafe { node.as_mut() }.id = id;
        match self.first.get().and(self.last.get()) {
            // SAFETY: a node of this list.
            Some(mut last) => unsafe { last.as_mut() }.next = Some(node),
            None => self.first.set(Some(node)),
        }
        self.last.set(Some(node));
    }

    /// Takes the first one out if it alone is of the request of this id.
    #[inline(always)]
    pub fn take(&self, id: u64) -> Option<Done> {
        let node = self.first.get()?;
        // SAFETY: a node of this list.
        let first = unsafe { node.as_ref() };
        if first.id != id {
            return None;
        }
        if let Some(next) = first.next
            // SAFETY: as above.
            && unsafe { next.as_ref() }.id == id
        {
            return None;
        }
        self.first.set(first.next);
        Some(Done(node))
    }

    /// Whether the first request is complete with that of this id.
    #[inline(always)]
    pub fn has_complete(&self, id: u64) -> bool {
        let first = self.first.get();
        // SAFETY: a node of this list.
        first.is_some_and(|node| is_complete(unsafe { node.as_ref() }.id, id))
    }

    /// Takes the first one out.
    pub fn pop(&self) -> Option<Done> {
        let node = self.first.get()?;
        // SAFETY: a node of this list.
        self.first.set(unsafe { node.as_ref() }.next);
        Some(Done(node))
    }

    /// Gives the last one back, whose request was refused.
    #[cold]
    pub fn take_back(&self, pool: &WorkPool) {
        let mut all: Vec<Done> = core::iter::from_fn(|| self.pop()).collect();
        if let Some(Done(last)) = all.pop() {
            pool.give_back(last);
        }
        for Done(mut node) in all {
            // SAFETY: a node that is in no list.
            let place = unsafe { node.as_mut() };
            place.next = None;
            let id = place.id;
            self.add(Work(node), id);
        }
    }
}

/// Work that is in no list any more. It has to be finished.
pub struct Done(NonNull<Node>);

impl Done {
    /// Ends the operation, whose request was done. The user is called: no borrow is held.
    #[inline(always)]
    pub fn finish(self, face: &Face) {
        let Done(node) = self;
        // SAFETY: a node that is in no list.
        let Node { end, comp, .. } = *unsafe { node.as_ref() };
        match end {
            End::Nothing => face.works.bare.push(node),
            End::Bytes { unpack, len } => {
                // SAFETY: so many bytes have come.
                unsafe { unpack.unpack_from(copy_of(node), len as usize) };
                face.works.with_copy.push(node);
            }
            _ => return self.finish_other(face),
        }
        comp.complete(Ok(()));
    }

    /// The ends that are left: more of them in `finish` would be a table of jumps, which costs polls without any.
    #[inline(never)]
    fn finish_other(self, face: &Face) {
        let Done(node) = self;
        // SAFETY: a node that is in no list.
        let &Node { end, comp, .. } = unsafe { node.as_ref() };
        let result = match end {
            End::Epoch { value } => {
                // SAFETY: a word has come to the copy, which is aligned.
                let is_current = unsafe { copy_of(node).cast::<u64>().read() } == value;
                is_current.then_some(()).ok_or(Status::CANCELED)
            }
            _ => Ok(()),
        };
        face.works.with_copy.push(node);
        comp.complete(result);
    }

    /// Ends the operation, whose request has failed. The user is called: no borrow is held.
    #[cold]
    pub fn fail(self, pool: &WorkPool, status: Status) {
        let Done(node) = self;
        // SAFETY: a node that is in no list.
        let comp = unsafe { node.as_ref() }.comp;
        pool.give_back(node);
        comp.complete(Err(status));
    }
}

/// Whether the request `at` is complete with that of this id, of the same connection: half of the numbers are before, half
/// behind, and the entries are at most one queue long.
#[inline(always)]
fn is_complete(at: u64, id: u64) -> bool {
    id.wrapping_sub(at) as i64 >= 0
}

#[cfg(test)]
mod tests {
    use super::super::iface::NEXT_ID;
    use super::*;

    /// A pool without registered memory.
    fn pool() -> WorkPool {
        WorkPool::new(DescPool::new(0, 0, 0, 0))
    }

    /// Work comes and goes, in more nodes than are made at once; the numbers wrap.
    #[test]
    fn work_is_done_in_order() {
        let (works, pool) = (Works::default(), pool());
        let id = |number: i64| ((number - 40) as u64).wrapping_mul(NEXT_ID) | 1;
        let (mut pushed, mut popped) = (0, 0);
        for round in 0..200 {
            for _ in 0..1 + round % 7 {
                works.add(pool.tell(Completion::NONE), id(pushed));
                pushed += 1;
            }
            for _ in 0..round % 6 {
                if popped < pushed {
                    assert!(works.has_complete(id(popped)) && !works.has_complete(id(popped - 1)));
                    assert!(works.take(id(popped + 1)).is_none());
                    let Done(node) = works.take(id(popped)).unwrap();
                    pool.give_back(node);
                    popped += 1;
                }
            }
            works.take_back(&pool);
            pushed -= i64::from(popped < pushed);
        }
        while let Some(Done(node)) = works.pop() {
            // SAFETY: a node that is in no list.
            assert_eq!(unsafe { node.as_ref() }.id, id(popped));
            pool.give_back(node);
            popped += 1;
        }
        assert!(popped == pushed && !works.has_complete(id(popped)));
        let nodes = pool.all.borrow().len() * NODES;
        assert!(pushed > nodes as i64, "{nodes} nodes are used again");
    }

    /// Of two that are complete with one request neither is taken alone.
    #[test]
    fn work_of_one_request_is_done_together() {
        let (works, pool) = (Works::default(), pool());
        works.add(pool.tell(Completion::NONE), 1);
        works.add(pool.tell(Completion::NONE), 1);
        assert!(works.take(1).is_none() && works.has_complete(1));
        assert!(works.pop().is_some() && works.take(1).is_some());
    }
}
