/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_SYS_SOCK_H
#define FERRUCX_UCS_SYS_SOCK_H

#include <ucs/config/parser.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

BEGIN_C_DECLS

#define UCS_IPV4_ADDR_LEN     sizeof(struct in_addr)
#define UCS_IPV6_ADDR_LEN     sizeof(struct in6_addr)
#define UCS_IPV4_SOCKADDR_LEN sizeof(struct sockaddr_in)
#define UCS_IPV6_SOCKADDR_LEN sizeof(struct sockaddr_in6)
/** Bytes that hold any socket address as text. */
#define UCS_SOCKADDR_STRING_LEN 60

#define UCS_SOCKET_INET_ADDR(_addr)  (((struct sockaddr_in*)(_addr))->sin_addr)
#define UCS_SOCKET_INET_PORT(_addr)  (((struct sockaddr_in*)(_addr))->sin_port)
#define UCS_SOCKET_INET6_ADDR(_addr) (((struct sockaddr_in6*)(_addr))->sin6_addr)
#define UCS_SOCKET_INET6_PORT(_addr) (((struct sockaddr_in6*)(_addr))->sin6_port)

/** Closes `*fd_p` unless it is -1, and makes it -1. `ucs/sys/sock.h`. */
void ucs_close_fd(int *fd_p);

/** setsockopt(2) with a status. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_setopt(int fd,
                               int level,
                               int optname,
                               const void *optval,
                               socklen_t optlen);

/** Bytes of an IPv4 or IPv6 address. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr, size_t *size_p);

/** The port, in the host's byte order. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *addr, uint16_t *port_p);

/** Changes the port, given in the host's byte order. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_set_port(struct sockaddr *addr, uint16_t port);

/** `1.2.3.4:5` or `::1%2:5`, cut to `max_size`. `ucs/sys/sock.h`. */
const char *ucs_sockaddr_str(const struct sockaddr *sock_addr,
                             char *str,
                             size_t max_size);

/** Reads a numeric address; the port becomes 0. `UCS_ERR_INVALID_ADDR` otherwise. `ucs/sys/sock.h`. */
ucs_status_t ucs_sock_ipstr_to_sockaddr(const char *ip_str,
                                        struct sockaddr_storage *sa_storage);

/** Reads a numeric address with an optional port, IPv6 in brackets then. `ucs/sys/sock.h`. */
ucs_status_t ucs_sock_ipportstr_to_sockaddr(const char *ip_port_str,
                                            uint16_t default_port,
                                            struct sockaddr_storage *sa_storage);

/** Reads a port. `UCS_ERR_INVALID_ADDR` when it is none. `ucs/sys/sock.h`. */
ucs_status_t ucs_sock_port_from_string(const char *port_str, uint16_t *port);

/**
 * Makes the IP address of `addr` the unspecified one of family `af`; family and port stay.
 * `ucs/sys/sock.h`.
 */
ucs_status_t ucs_sockaddr_set_inaddr_any(struct sockaddr *addr,
                                         sa_family_t af);

END_C_DECLS

#endif
