/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ALGORITHM_CRC_H
#define FERRUCX_UCS_ALGORITHM_CRC_H

#include <ucs/sys/compiler_def.h>
#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

/**
 * CRC-16 of ISO 3309, also known as X-25.
 *
 * @param[in] buffer The bytes.
 * @param[in] size Their number.
 * @return The checksum.
 */
uint16_t ucs_crc16(const void *buffer, size_t size);

/**
 * The same of a string without its NUL.
 *
 * @param[in] s String, NUL-terminated.
 * @return The checksum.
 */
uint16_t ucs_crc16_string(const char *s);

/**
 * CRC-32 of ISO 3309, as zlib's; `prev_crc` is that of the bytes before, or 0.
 *
 * @param[in] prev_crc Checksum of the bytes before, or 0.
 * @param[in] buffer The bytes.
 * @param[in] size Their number.
 * @return The checksum.
 */
uint32_t ucs_crc32(uint32_t prev_crc, const void *buffer, size_t size);

END_C_DECLS

#endif
