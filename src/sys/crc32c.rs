//! CRC-32C, the polynomial of Castagnoli: every run of up to 32 wrong bits changes it. Processors of x86-64 since 2008 have an
//! instruction for it; without that it comes from tables, sixteen bytes at a time.
#![forbid(unsafe_code)]

use crc::{CRC_32_ISCSI, Crc, Table};

const TABLES: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The sum of the bytes of all parts, one after the other.
#[inline]
pub fn crc32c(parts: &[&[u8]]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(sum) = super::safe_calls::crc32c(parts) {
        return sum;
    }
    by_tables(parts)
}

#[cold]
fn by_tables(parts: &[&[u8]]) -> u32 {
    let mut sum = TABLES.digest();
    parts.iter().for_each(|part| sum.update(part));
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_one_by_either_way() {
        let digits = b"123456789";
        for cut in 0..digits.len() {
            let (first, second) = digits.split_at(cut);
            for sum in [crc32c, by_tables] {
                assert_eq!(sum(&[first, second]), 0xe306_9283);
            }
        }
        let bytes: Vec<u8> = (0..200u8).map(|n| n.wrapping_mul(37)).collect();
        for len in 0..bytes.len() {
            for from in [0, len / 3, len] {
                let parts = [&bytes[..from], &bytes[from..len]];
                assert_eq!(crc32c(&parts), by_tables(&parts));
            }
        }
    }
}
