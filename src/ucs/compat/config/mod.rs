//! Options of clients, `ucs/config/parser.h`: a table of the client's says how text becomes the members of its
//! structure. The library's own options are `ucs::config`; its syntax of values is used here, too.

pub mod keys;
pub mod layout;
pub mod lists;
pub mod print;
pub mod table;
pub mod values;
