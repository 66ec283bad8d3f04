//! Objects of clients as files and directories, `ucs/vfs/base/vfs_obj.h`: a tree of names in memory, which the functions
//! of the header read. Each process has its own tree; a child of fork() begins with an empty one.
//!
//! Callbacks run with the tree's lock held, so that no other thread removes the object meanwhile. They may call any
//! function of the tree.

use crate::c::ucs_string_buffer_t;
use crate::sys::fork::PerProcess;
use crate::sys::lock::{ReentrantMutex, ReentrantMutexGuard};
use crate::ucs::{Result, Status, string_buffer};
use crate::ucs_error;
use core::cell::RefCell;
use core::ffi::{c_char, c_int, c_void};
use std::collections::{BTreeMap, HashMap};

/// Appends the text of a file: object, buffer, both arguments of the file.
pub type Read = unsafe extern "C" fn(*mut c_void, *mut ucs_string_buffer_t, *mut c_void, u64);
/// Takes a text that is written: object, text, its length, both arguments of the file.
pub type Write = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *mut c_void, u64) -> i8;
/// Brings the nodes below an object up to date.
pub type Refresh = unsafe extern "C" fn(*mut c_void);

/// A client's pointer, which it may use on any thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pointer(pub *mut c_void);

// SAFETY: it is handed to the client's functions and not followed.
unsafe impl Send for Pointer {}

/// A file and its functions.
#[derive(Clone, Copy)]
pub struct File {
    pub object: Pointer,
    pub read: Read,
    pub write: Option<Write>,
    pub arg: Pointer,
    pub number: u64,
}

enum Node {
    /// A directory that exists because something is below it.
    Between,
    Object(Pointer, Option<Refresh>),
    File(File),
    Link(Pointer),
}

/// What a node is: bytes of a file or of a link's text, children of a directory, and the mode as stat(2) has it.
#[derive(Debug, PartialEq, Eq)]
pub struct Info {
    pub size: usize,
    pub mode: c_int,
}

const DIRECTORY: c_int = 0o040500;
const LINK: c_int = 0o120500;
const READ_ONLY: c_int = 0o100400;
const READ_WRITE: c_int = 0o100600;

/// Nodes by path: names with a slash between them. The root has the empty path and is no node.
#[derive(Default)]
struct Tree {
    nodes: BTreeMap<String, Node>,
    objects: HashMap<Pointer, String>,
}

static TREE: PerProcess<ReentrantMutex<RefCell<Tree>>> = PerProcess::new(ReentrantMutex::default);

fn lock() -> ReentrantMutexGuard<'static, RefCell<Tree>> {
    TREE.get().lock()
}

fn join(base: &str, name: &str) -> String {
    let names = base.split('/').chain(name.split('/'));
    names
        .filter(|name| !name.is_empty())
        .collect::<Vec<_>>()
        .join("/")
}

/// The path of the directory that a node is in.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Tree {
    /// Nodes below a path, at any depth.
    fn below<'t>(&'t self, path: &str) -> impl Iterator<Item = (&'t String, &'t Node)> + use<'t> {
        let start = if path.is_empty() {
            String::new()
        } else {
            format!("{path}/")
        };
        let prefix = start.clone();
        let all = self.nodes.range(start..);
        all.take_while(move |(path, _)| path.starts_with(&prefix))
    }

    /// Names in a directory.
    fn children(&self, path: &str) -> Vec<String> {
        let skipped = if path.is_empty() { 0 } else { path.len() + 1 };
        let names = self.below(path).map(|(path, _)| &path[skipped..]);
        names
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect()
    }

    fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || matches!(self.nodes.get(path), Some(Node::Between | Node::Object(..)))
    }

    /// The directory of an object; the root for null. `INVALID_PARAM` when it has none.
    fn base(&self, object: Pointer) -> Result<String> {
        if object.0.is_null() {
            return Ok(String::new());
        }
        self.objects
            .get(&object)
            .cloned()
            .ok_or(Status::INVALID_PARAM)
    }

    /// Adds a node and the directories that lead to it.
    fn add(&mut self, path: String, node: Node) -> Result<()> {
        if self.nodes.contains_key(&path) {
            return Err(Status::ALREADY_EXISTS);
        }
        let mut above: Vec<String> = Vec::new();
        let mut at = parent(&path);
        while !at.is_empty() && !self.nodes.contains_key(at) {
            above.push(at.to_owned());
            at = parent(at);
        }
        if path.is_empty() || !self.is_directory(at) {
            return Err(Status::INVALID_PARAM);
        }
        for path in above {
            self.nodes.insert(path, Node::Between);
        }
        if let Node::Object(object, _) = node
            && !object.0.is_null()
        {
            self.objects.insert(object, path.clone());
        }
        self.nodes.insert(path, node);
        Ok(())
    }

    fn add_directory(&mut self, base: Pointer, object: Pointer, name: &str) -> Result<()> {
        let path = join(&self.base(base)?, name);
        let with_address = format!("{path}_{:p}", object.0);
        if let Some(known) = self.objects.get(&object) {
            if *known == path || *known == with_address {
                return Err(Status::ALREADY_EXISTS);
            }
            ucs_error!(
                "{:p} is shown as /{known} and cannot be shown as /{path} too",
                object.0
            );
            return Err(Status::NO_MEMORY);
        }
        match self.add(path, Node::Object(object, None)) {
            Err(Status::ALREADY_EXISTS) => self.add(with_address, Node::Object(object, None)),
            done => done,
        }
    }

    /// Removes an object's directory with all below, links to what goes, and directories that nothing is in any more.
    fn remove(&mut self, object: Pointer) {
        let Some(path) = self.objects.get(&object).cloned() else {
            return;
        };
        let below = self.below(&path).map(|(path, _)| path.clone());
        let going: Vec<String> = below.chain([path.clone()]).collect();
        let mut gone: Vec<Pointer> = Vec::new();
        for path in going {
            if let Some(Node::Object(object, _)) = self.nodes.remove(&path) {
                self.objects.remove(&object);
                gone.push(object);
            }
        }
        self.prune(parent(&path));
        let is_dangling = |node: &Node| matches!(node, Node::Link(target) if gone.contains(target));
        let links = self.nodes.iter().filter(|(_, node)| is_dangling(node));
        let links: Vec<String> = links.map(|(path, _)| path.clone()).collect();
        for path in links {
            self.nodes.remove(&path);
            self.prune(parent(&path));
        }
    }

    /// Removes the directory at `path`, and those above it, as far as they exist only for what was below.
    fn prune(&mut self, mut path: &str) {
        while matches!(self.nodes.get(path), Some(Node::Between))
            && self.below(path).next().is_none()
        {
            self.nodes.remove(path);
            path = parent(path);
        }
    }

    /// The text of a link: the way from its directory to the target.
    fn way(&self, from: &str, target: Pointer) -> Option<String> {
        let to = self.objects.get(&target)?;
        let names = |path: &str| -> Vec<String> {
            path.split('/')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let (from, to) = (names(parent(from)), names(to));
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let up = core::iter::repeat_n("..", from.len() - shared);
        Some(
            up.chain(to[shared..].iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join("/"),
        )
    }
}

/// Shows `object` as a directory, by its path below that of `base`. Where another node has the path, the object's address
/// is added to it. `ALREADY_EXISTS`: it is shown under this path; `INVALID_PARAM`: `base` is not shown; `NO_MEMORY`: it
/// is shown elsewhere.
pub fn add_directory(base: Pointer, object: Pointer, name: &str) -> Result<()> {
    lock().borrow_mut().add_directory(base, object, name)
}

/// Adds a file below the directory of its object. Errors as for `add_directory`.
pub fn add_file(file: File, name: &str) -> Result<()> {
    let lock = lock();
    let mut tree = lock.borrow_mut();
    let path = join(&tree.base(file.object)?, name);
    tree.add(path, Node::File(file))
}

/// Adds a link to the directory of `target` below that of `object`. Errors as for `add_directory`.
pub fn add_link(object: Pointer, target: Pointer, name: &str) -> Result<()> {
    let lock = lock();
    let mut tree = lock.borrow_mut();
    let path = join(&tree.base(object)?, name);
    if !tree.objects.contains_key(&target) {
        return Err(Status::INVALID_PARAM);
    }
    tree.add(path, Node::Link(target))
}

/// Removes an object and all below it.
pub fn remove(object: Pointer) {
    lock().borrow_mut().remove(object);
}

/// Has `refresh` called before somebody looks at the directory of an object the next time.
pub fn set_dirty(object: Pointer, refresh: Option<Refresh>) {
    let lock = lock();
    let tree = &mut *lock.borrow_mut();
    let path = tree.objects.get(&object);
    if let Some(Node::Object(_, known)) = path.and_then(|path| tree.nodes.get_mut(path)) {
        *known = refresh;
    }
}

/// The node's path, when it is one; brings it up to date.
fn look_at<'p>(tree: &RefCell<Tree>, path: &'p str) -> Result<&'p str> {
    let path = path.strip_prefix('/').ok_or(Status::NO_ELEM)?;
    let refresh = match tree.borrow_mut().nodes.get_mut(path) {
        Some(Node::Object(object, refresh)) => refresh.take().map(|refresh| (refresh, *object)),
        _ => None,
    };
    if let Some((refresh, object)) = refresh {
        // SAFETY: the client's function and object, which is shown.
        unsafe { refresh(object.0) };
    }
    Ok(path)
}

fn file_at(tree: &RefCell<Tree>, path: &str) -> Result<File> {
    let path = path.strip_prefix('/').ok_or(Status::NO_ELEM)?;
    match tree.borrow().nodes.get(path) {
        Some(Node::File(file)) => Ok(*file),
        _ => Err(Status::NO_ELEM),
    }
}

impl File {
    /// # Safety
    /// `to` is a live buffer.
    unsafe fn read_to(&self, to: *mut ucs_string_buffer_t) {
        // SAFETY: the client's function, with what it gave for it.
        unsafe { (self.read)(self.object.0, to, self.arg.0, self.number) };
    }
}

/// What the node at `path` is. `NO_ELEM` without one.
pub fn info(path: &str) -> Result<Info> {
    let lock = lock();
    let path = look_at(&lock, path)?;
    let file = {
        let tree = lock.borrow();
        match tree.nodes.get(path).ok_or(Status::NO_ELEM)? {
            Node::Between | Node::Object(..) => {
                let size = tree.children(path).len();
                return Ok(Info {
                    size,
                    mode: DIRECTORY,
                });
            }
            Node::Link(target) => {
                let size = tree.way(path, *target).map_or(0, |way| way.len());
                return Ok(Info { size, mode: LINK });
            }
            Node::File(file) => *file,
        }
    };
    let mut text = ucs_string_buffer_t::EMPTY;
    // SAFETY: a buffer of its own.
    unsafe { file.read_to(&raw mut text) };
    let info = Info {
        size: text.length,
        mode: if file.write.is_some() {
            READ_WRITE
        } else {
            READ_ONLY
        },
    };
    // SAFETY: as above; it is not used after.
    unsafe { string_buffer::cleanup(&mut text) };
    Ok(info)
}

/// Appends a file's text. `NO_ELEM` for what is no file.
///
/// # Safety
/// `to` is a live buffer.
pub unsafe fn read(path: &str, to: *mut ucs_string_buffer_t) -> Result<()> {
    let lock = lock();
    let file = file_at(&lock, path)?;
    // SAFETY: the caller's buffer.
    unsafe { file.read_to(to) };
    Ok(())
}

/// Writes a text to a file, and answers what its function does. `NO_ELEM` for what is no file that can be written.
///
/// # Safety
/// `text` has `len` bytes.
pub unsafe fn write(path: &str, text: *const c_char, len: usize) -> Result<i8> {
    let lock = lock();
    let file = file_at(&lock, path)?;
    let write = file.write.ok_or(Status::NO_ELEM)?;
    // SAFETY: the client's function, with what it gave for it.
    Ok(unsafe { write(file.object.0, text, len, file.arg.0, file.number) })
}

/// The names in a directory. `NO_ELEM` for what is none.
pub fn list(path: &str) -> Result<Vec<String>> {
    let lock = lock();
    let path = look_at(&lock, path)?;
    let tree = lock.borrow();
    let is_directory = tree.is_directory(path);
    is_directory
        .then(|| tree.children(path))
        .ok_or(Status::NO_ELEM)
}

/// The text of a link. `NO_ELEM` for what is none.
pub fn link(path: &str) -> Result<String> {
    let path = path.strip_prefix('/').ok_or(Status::NO_ELEM)?;
    let lock = lock();
    let tree = lock.borrow();
    match tree.nodes.get(path) {
        Some(Node::Link(target)) => tree.way(path, *target).ok_or(Status::NO_ELEM),
        _ => Err(Status::NO_ELEM),
    }
}

#[cfg(test)]
mod tests;
