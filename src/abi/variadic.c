/* The C-variadic part of the ABI: stable Rust cannot define such functions. */
