//! Jumps between names of C and functions, for each processor that the library supports.
//!
//! Stable Rust cannot define a variadic function. The exported variadic functions are jumps to `variadic.c`; C calls back
//! by hidden names, which are written in assembly because Rust exports every function that has a name for C.
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
