//! The shared secret: the content of a file that only its owner can read.

use crate::sys::machine;
use sha2::{Digest, Sha512};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Fewer bytes could be found by trying.
const MIN_LEN: usize = 16;
const MAX_LEN: u64 = 64 << 10;
/// What others than the owner may do with the file: nothing.
const OTHERS: u32 = 0o077;
/// Keeps this use of the bytes apart from any other.
const DOMAIN: &[u8] = b"ferrucx shared secret 1";

/// A secret as the hand-shake takes it: 32 bytes derived from the file's.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Derived from the content of a file; white space at its end does not count. `None` for less than 16 bytes.
    pub fn of(content: &[u8]) -> Option<Secret> {
        let content = content.trim_ascii_end();
        if content.len() < MIN_LEN {
            return None;
        }
        let digest = Sha512::new()
            .chain_update(DOMAIN)
            .chain_update(content)
            .finalize();
        digest.first_chunk().copied().map(Secret)
    }

    /// Read from a file of the effective user that nobody else may read or write; else why it is not taken.
    pub fn read(path: &Path) -> Result<Secret, String> {
        if machine::secure_execution() {
            return Err(
                "a process with raised privileges reads no file that a variable names".to_owned(),
            );
        }
        // A pipe of this name must not stop us, hence non-blocking; the checks are on the open file.
        let file = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(path)
            .map_err(|e| e.to_string())?;
        let about = file.metadata().map_err(|e| e.to_string())?;
        if !about.is_file() {
            return Err("it is no regular file".to_owned());
        }
        if about.uid() != machine::effective_user() {
            return Err(format!("it belongs to user {}", about.uid()));
        }
        if about.mode() & OTHERS != 0 {
            return Err(format!(
                "others than its owner may use it (mode {:04o}): chmod 600",
                about.mode() & 0o7777
            ));
        }
        let mut content = Vec::new();
        file.take(MAX_LEN + 1)
            .read_to_end(&mut content)
            .map_err(|e| e.to_string())?;
        if content.len() as u64 > MAX_LEN {
            return Err(format!("it is longer than {MAX_LEN} bytes"));
        }
        Secret::of(&content).ok_or_else(|| {
            format!("it has less than {MIN_LEN} bytes: fill it from a random source")
        })
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_end_of_the_line_does_not_count() {
        let of = |text: &[u8]| *Secret::of(text).unwrap().bytes();
        assert_eq!(of(b"0123456789abcdef"), of(b"0123456789abcdef\r\n"));
        assert_ne!(of(b"0123456789abcdef"), of(b" 0123456789abcdef"));
        assert_ne!(of(b"0123456789abcdef"), of(b"0123456789abcdeg"));
        assert!(Secret::of(b"0123456789abcde\n").is_none() && Secret::of(b"").is_none());
    }

    #[test]
    fn only_a_private_file_of_some_length_is_taken() {
        let folder = std::env::temp_dir().join(format!("ferrucx-secret-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("secret");
        let with = |content: &[u8], mode: u32| {
            let _ = std::fs::remove_file(&path);
            write(&path, content).unwrap();
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Secret::read(&path)
        };
        let good = b"a secret of 32 random bytes, say";
        assert!(with(good, 0o600).is_ok() && with(good, 0o400).is_ok());
        for mode in [0o640, 0o604, 0o660, 0o644, 0o620, 0o602, 0o601] {
            let why = with(good, mode).err().unwrap();
            assert!(why.contains("chmod 600"), "{mode:o}: {why}");
        }
        for short in [&b""[..], b"short", b"fifteen bytes..\n"] {
            assert!(with(short, 0o600).err().unwrap().contains("16 bytes"));
        }
        let long = vec![b'x'; MAX_LEN as usize + 1];
        assert!(with(&long, 0o600).err().unwrap().contains("longer"));
        assert!(with(&long[1..], 0o600).is_ok());
        assert!(Secret::read(&folder).err().unwrap().contains("regular"));
        std::fs::remove_file(&path).unwrap();
        assert!(Secret::read(&path).err().unwrap().contains("No such file"));
        std::fs::remove_dir(&folder).unwrap();
    }
}
