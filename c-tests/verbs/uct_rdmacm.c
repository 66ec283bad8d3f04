/* The connection manager of RDMA devices: the tests of the one over TCP, at the address of a device. */
#include <stdlib.h>
#define CM_COMPONENT "rdmacm"
#define CM_IP getenv("RDMA_IP")
#define CM_KEEPS_DEVICES
#define CM_IN_CALLBACK 1
#define CM_MODES UCS_ASYNC_MODE_THREAD_SPINLOCK, UCS_ASYNC_MODE_THREAD_MUTEX, UCS_ASYNC_MODE_POLL
#include "../uct/cm_connect.c"
