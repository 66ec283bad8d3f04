//! Memory events: who asks for them, and what answers without patching any code.
