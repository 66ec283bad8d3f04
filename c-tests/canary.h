/* Memory between two pages without access. */
#ifndef FERRUCX_CANARY_H
#define FERRUCX_CANARY_H

#include "check.h"

#include <sys/mman.h>

enum { CANARY = 4096, CANARY_BYTE = 0xa5 };

/* The canary in front: the room, a multiple of the page size, stands at CANARY bytes behind it. */
static inline unsigned char *with_canaries(size_t room)
{
    unsigned char *map = mmap(NULL, room + 2 * CANARY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(map != MAP_FAILED);
    memset(map, CANARY_BYTE, room + 2 * CANARY);
    return map;
}

static inline void check_canaries(const unsigned char *map, size_t room)
{
    size_t i;

    for (i = 0; i < CANARY; ++i) {
        CHECK_EQ(map[i], CANARY_BYTE);
        CHECK_EQ(map[CANARY + room + i], CANARY_BYTE);
    }
}

static inline void canaries_free(unsigned char *map, size_t room)
{
    check_canaries(map, room);
    CHECK(munmap(map, room + 2 * CANARY) == 0);
}

#endif
