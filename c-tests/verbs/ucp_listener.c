/* Listeners and clients of UCP at the address of an RDMA device: the tests of those over TCP. */
#include <arpa/inet.h>
#include <stdlib.h>
#define LISTENER_IP inet_addr(getenv("RDMA_IP"))
#include "../ucp/listener.c"
