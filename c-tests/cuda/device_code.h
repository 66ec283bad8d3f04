/* Device code of the test device_lists.c, compiled for the processor: it runs once the stand-in for the driver has opened memory
 * of devices to it. */
#ifndef FERRUCX_DEVICE_CODE_TEST_H
#define FERRUCX_DEVICE_CODE_TEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What ucp_device_put, ucp_device_counter_inc and so on return. */
int code_put(void *local, unsigned from, size_t from_offset, void *remote, unsigned to, size_t to_offset, size_t length,
             unsigned channel);
int code_add(uint64_t value, void *remote, unsigned to, size_t offset, unsigned channel);
int code_pointer(void *remote, unsigned at, void **pointer);
uint64_t code_read(const void *counter);

#ifdef __cplusplus
}
#endif

#endif
