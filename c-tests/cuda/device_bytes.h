/* Memory of devices with bytes that tell it from other memory. */
#ifndef FERRUCX_DEVICE_BYTES_H
#define FERRUCX_DEVICE_BYTES_H

#include "../cuda_driver.h"

#include <string.h>

/* Some programs are built for longer messages, too. */
#ifndef LONGEST_BYTES
#define LONGEST_BYTES (1 << 20)
#endif
enum { LONGEST = LONGEST_BYTES };

static char bytes[LONGEST], expected[LONGEST];

static inline void draw(unsigned seed, size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        expected[i] = (char)(i * 7 + i / 256 + seed * 31);
    }
}

static inline void write_memory(char *at, unsigned seed, size_t length)
{
    draw(seed, length);
    CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)at, expected, length), 0);
}

static inline int holds(const char *at, unsigned seed, size_t length)
{
    draw(seed, length);
    CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)at, length), 0);
    return !memcmp(bytes, expected, length);
}

#endif
