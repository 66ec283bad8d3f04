//! Jumps between C's names and functions, on each processor that the library is built for.
//!
//! Stable Rust cannot define a variadic function: the exported ones are jumps to `variadic.c`, and C comes back
//! by names that stay inside the library, since Rust exports what it is told to by attribute and these have none.
#![forbid(unsafe_code)]

/// The body of a naked function: a jump to `$to`, which finds all arguments where they were.
macro_rules! jump {
    ($to:path) => {
        #[cfg(target_arch = "x86_64")]
        core::arch::naked_asm!("jmp {}", sym $to);
        #[cfg(target_arch = "aarch64")]
        core::arch::naked_asm!("b {}", sym $to);
    };
}
pub(crate) use jump;

/// A name for the C part, not exported, behind which stands `$function`.
macro_rules! hidden_name {
    ($name:literal, $function:path) => {
        #[cfg(target_arch = "x86_64")]
        $crate::abi::jump::hidden_name!(@ $name, "jmp {}", $function);
        #[cfg(target_arch = "aarch64")]
        $crate::abi::jump::hidden_name!(@ $name, "b {}", $function);
    };
    (@ $name:literal, $jump:literal, $function:path) => {
        core::arch::global_asm!(
            concat!(".hidden ", $name),
            concat!(".globl ", $name),
            concat!($name, ":"),
            $jump,
            sym $function
        );
    };
}
pub(crate) use hidden_name;
