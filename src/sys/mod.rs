//! Floor 1: every libc and OS call, as safe wrappers that answer `io::Result`.
