//! UCP byte formats: everything of UCP that crosses a process border.
