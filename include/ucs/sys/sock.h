/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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

/** 1 for flags of an interface that is up and running, else 0. `ucs/sys/sock.h`. */
int ucs_netif_flags_is_active(unsigned int flags);

/** ioctl(2) of an interface by its name, which is written into `if_req`. `ucs/sys/sock.h`. */
ucs_status_t ucs_netif_ioctl(const char *if_name,
                             unsigned long request,
                             struct ifreq *if_req);

/** 1 for an interface that is up and running with an address of this family, else 0. `ucs/sys/sock.h`. */
int ucs_netif_is_active(const char *if_name,
                        sa_family_t af);

/** The address and the mask of an active interface, any for `if_name` NULL. UCS_ERR_NO_DEVICE. `ucs/sys/sock.h`. */
ucs_status_t ucs_netif_get_addr(const char *if_name,
                                sa_family_t af,
                                struct sockaddr *saddr,
                                struct sockaddr *netmask);

/** Ports that an interface bonds; 1 for one that is no bond. `ucs/sys/sock.h`. */
unsigned int ucs_netif_bond_ad_num_ports(const char *if_name);

/** setsockopt(2) with a status. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_setopt(int fd,
                               int level,
                               int optname,
                               const void *optval,
                               socklen_t optlen);

/** getsockopt(2) with a status; the option has to have `optlen` bytes. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_getopt(int fd,
                               int level,
                               int optname,
                               void *optval,
                               socklen_t optlen);

/**
 * connect(2) with a status. UCS_INPROGRESS: not decided yet; UCS_ERR_ALREADY_EXISTS: it is connected;
 * UCS_ERR_UNREACHABLE. `ucs/sys/sock.h`.
 */
ucs_status_t ucs_socket_connect(int fd,
                                const struct sockaddr *dest_addr);

/** accept(2) with a status. UCS_ERR_NO_PROGRESS: nobody waits. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_accept(int fd,
                               struct sockaddr *addr,
                               socklen_t *length_ptr,
                               int *accept_fd);

/** getpeername(2) with a status. UCS_ERR_NOT_CONNECTED. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_getpeername(int fd,
                                    struct sockaddr_storage *peer_addr,
                                    socklen_t *peer_addr_len);

/** 1 for a connected socket, else 0. `ucs/sys/sock.h`. */
int ucs_socket_is_connected(int fd);

/** Sets the buffers of a socket, but for sizes that are UCS_MEMUNITS_AUTO. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_set_buffer_size(int fd,
                                        size_t sockopt_sndbuf,
                                        size_t sockopt_rcvbuf);

/** A socket that listens and does not block. UCS_ERR_BUSY: the address is taken. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_server_init(const struct sockaddr *saddr,
                                    socklen_t socklen,
                                    int backlog,
                                    int silent_bind,
                                    int reuse_addr,
                                    int *listen_fd);

/** Most connections that may wait to be accepted. `ucs/sys/sock.h`. */
int ucs_socket_max_conn(void);

/**
 * Sends what goes now of `*length_p` bytes, which becomes how many went. UCS_ERR_NO_PROGRESS: none now.
 * `ucs/sys/sock.h`.
 */
ucs_status_t ucs_socket_send_nb(int fd,
                                const void *data,
                                size_t *length_p);

/** Sends all bytes; waits for the socket. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_send(int fd, const void *data, size_t length);

/**
 * Sends what goes now of several blocks; `*length_p` becomes how many bytes went. UCS_ERR_NO_PROGRESS: none now.
 * `ucs/sys/sock.h`.
 */
ucs_status_t ucs_socket_sendv_nb(int fd,
                                 struct iovec *iov,
                                 size_t iov_cnt,
                                 size_t *length_p);

/** Receives so many bytes; waits for them. UCS_ERR_NOT_CONNECTED: they will not come. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_recv(int fd,
                             void *data,
                             size_t length);

/** Bytes of an IPv4 or IPv6 address. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr, size_t *size_p);

/** The port, in the host's byte order. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *addr, uint16_t *port_p);

/** Changes the port, given in the host's byte order. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_set_port(struct sockaddr *addr, uint16_t port);

/** Where the IP address is inside a socket address; NULL for other families. `ucs/sys/sock.h`. */
const void *ucs_sockaddr_get_inet_addr(const struct sockaddr *addr);

/** Changes the IP address of a socket address. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_set_inet_addr(struct sockaddr *addr, const void *in_addr);

/** The same of the family of a socket address. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_inet_addr_sizeof(const struct sockaddr *addr, size_t *size_p);

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

/** 1 for IPv4 and IPv6, else 0. `ucs/sys/sock.h`. */
int ucs_sockaddr_is_known_af(const struct sockaddr *sa);

/** getsockname(2) with a status. `ucs/sys/sock.h`. */
ucs_status_t ucs_socket_getname(int fd,
                                struct sockaddr_storage *sock_addr,
                                socklen_t *addr_len);

/** The address of a socket as text, "-" where it has none; answers `str`. `ucs/sys/sock.h`. */
const char *ucs_socket_getname_str(int fd,
                                   char *str,
                                   size_t max_size);

/**
 * Compares family, address and port: below, at or above 0. For other families, and then 1, `*status_p` becomes
 * UCS_ERR_INVALID_PARAM, else UCS_OK. `ucs/sys/sock.h`.
 */
int ucs_sockaddr_cmp(const struct sockaddr *sa1,
                     const struct sockaddr *sa2,
                     ucs_status_t *status_p);

/** Compares the bytes that the first IP address has: below, at or above 0; -1 for other families. `ucs/sys/sock.h`. */
int ucs_sockaddr_ip_cmp(const struct sockaddr *sa1,
                        const struct sockaddr *sa2);

/** 1 where the first bits of two IP addresses of one family are the same, else 0. `ucs/sys/sock.h`. */
int ucs_sockaddr_is_same_subnet(const struct sockaddr *sa1,
                                const struct sockaddr *sa2,
                                unsigned int prefix_len);

/** 1 for the unspecified address, else 0. `ucs/sys/sock.h`. */
int ucs_sockaddr_is_inaddr_any(const struct sockaddr *addr);

/** 1 for 127.0.0.1 and ::1, else 0. `ucs/sys/sock.h`. */
int ucs_sockaddr_is_inaddr_loopback(const struct sockaddr *addr);

/**
 * Makes the IP address of `addr` the unspecified one of family `af`; family and port stay.
 * `ucs/sys/sock.h`.
 */
ucs_status_t ucs_sockaddr_set_inaddr_any(struct sockaddr *addr,
                                         sa_family_t af);

/** Copies a socket address. UCS_ERR_INVALID_PARAM for other families. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_copy(struct sockaddr *dst_addr,
                               const struct sockaddr *src_addr);

/** The interface that has a socket's own address. UCS_ERR_NO_DEVICE. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_get_ifname(int fd, char *ifname_str, size_t max_strlen);

/** Bytes of an IP address of this family. UCS_ERR_INVALID_PARAM for others. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_inet_addr_size(sa_family_t af,
                                         size_t *size_p);

/** The name of a family. `ucs/sys/sock.h`. */
const char *ucs_sockaddr_address_family_str(sa_family_t af);

/** The ports that the system gives to sockets by itself. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_get_ip_local_port_range(ucs_range_spec_t *port_range);

/** The IP address as text. UCS_ERR_INVALID_PARAM where `max_size` is too small. `ucs/sys/sock.h`. */
ucs_status_t ucs_sockaddr_get_ipstr(const struct sockaddr *addr,
                                    char *str,
                                    size_t max_size);

/** The device that an interface stands on, as a path in sysfs, cut to `max` bytes. `ucs/sys/sock.h`. */
ucs_status_t ucs_netif_get_lowest_device_path(const char *if_name,
                                              char *path_buffer,
                                              size_t max);

/** socket(2) with a status. */
ucs_status_t ucs_socket_create(int domain, int type, int protocol, int *fd_p);
/**
 * Receives what is there, at most `*length_p` bytes, which becomes how many came. UCS_ERR_NO_PROGRESS: none now;
 * UCS_ERR_NOT_CONNECTED: none will come.
 */
ucs_status_t ucs_socket_recv_nb(int fd, void *data, int flags, size_t *length_p);

END_C_DECLS

#endif
