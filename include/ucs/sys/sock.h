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

/**
 * Closes `*fd_p` unless it is -1, and makes it -1.
 *
 * @param[in,out] fd_p The descriptor, which becomes -1.
 */
void ucs_close_fd(int *fd_p);

/**
 * 1 for flags of an interface that is up and running, else 0.
 *
 * @param[in] flags IFF_* bits.
 * @return 1 or 0.
 */
int ucs_netif_flags_is_active(unsigned int flags);

/**
 * ioctl(2) of an interface by its name, which is written into `if_req`.
 *
 * @param[in] if_name Name of a network interface, NUL-terminated.
 * @param[in] request SIOCGIF* number.
 * @param[in,out] if_req Gets the answer.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_netif_ioctl(const char *if_name,
                             unsigned long request,
                             struct ifreq *if_req);

/**
 * 1 for an interface that is up and running with an address of this family, else 0.
 *
 * @param[in] if_name Name of a network interface, NUL-terminated.
 * @param[in] af AF_INET or AF_INET6.
 * @return 1 or 0.
 */
int ucs_netif_is_active(const char *if_name, sa_family_t af);

/**
 * The address and the mask of an active interface, any for `if_name` NULL. UCS_ERR_NO_DEVICE.
 *
 * @param[in] if_name Name of a network interface, NUL-terminated; NULL for any.
 * @param[in] af AF_INET or AF_INET6.
 * @param[out] saddr Gets the address; may be NULL.
 * @param[out] netmask Gets the mask; may be NULL.
 * @return UCS_OK; UCS_ERR_NO_DEVICE when no interface fits.
 */
ucs_status_t ucs_netif_get_addr(const char *if_name,
                                sa_family_t af,
                                struct sockaddr *saddr,
                                struct sockaddr *netmask);

/**
 * Ports that an interface bonds; 1 for one that is no bond.
 *
 * @param[in] if_name Name of a network interface, NUL-terminated.
 * @return Number of ports, at least 1.
 */
unsigned int ucs_netif_bond_ad_num_ports(const char *if_name);

/**
 * setsockopt(2) with a status.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] level As of the system call.
 * @param[in] optname As of the system call.
 * @param[in] optval The value.
 * @param[in] optlen Bytes of the value.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_socket_setopt(int fd,
                               int level,
                               int optname,
                               const void *optval,
                               socklen_t optlen);

/**
 * getsockopt(2) with a status; the option has to have `optlen` bytes.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] level As of the system call.
 * @param[in] optname As of the system call.
 * @param[out] optval Gets the value.
 * @param[in] optlen Bytes of the value.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_socket_getopt(int fd,
                               int level,
                               int optname,
                               void *optval,
                               socklen_t optlen);

/**
 * connect(2) with a status. UCS_INPROGRESS: not decided yet; UCS_ERR_ALREADY_EXISTS: it is connected;
 * UCS_ERR_UNREACHABLE.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] dest_addr Address of the peer.
 * @return UCS_OK. UCS_INPROGRESS: not decided yet. UCS_ERR_ALREADY_EXISTS: it is connected.
 *   UCS_ERR_UNREACHABLE or another error.
 */
ucs_status_t ucs_socket_connect(int fd,
                                const struct sockaddr *dest_addr);

/**
 * accept(2) with a status. UCS_ERR_NO_PROGRESS: nobody waits.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] addr Gets the client's address; may be NULL.
 * @param[in,out] length_ptr Bytes of that.
 * @param[out] accept_fd The connection.
 * @return UCS_OK; UCS_ERR_NO_PROGRESS: nobody waits; another error.
 */
ucs_status_t ucs_socket_accept(int fd,
                               struct sockaddr *addr,
                               socklen_t *length_ptr,
                               int *accept_fd);

/**
 * getpeername(2) with a status. UCS_ERR_NOT_CONNECTED.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] peer_addr The peer's address.
 * @param[out] peer_addr_len Its bytes.
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED; another error.
 */
ucs_status_t ucs_socket_getpeername(int fd,
                                    struct sockaddr_storage *peer_addr,
                                    socklen_t *peer_addr_len);

/**
 * 1 for a connected socket, else 0.
 *
 * @param[in] fd Descriptor of a socket.
 * @return 1 or 0.
 */
int ucs_socket_is_connected(int fd);

/**
 * Sets the buffers of a socket, but for sizes that are UCS_MEMUNITS_AUTO.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] sockopt_sndbuf Bytes of the send buffer; UCS_MEMUNITS_AUTO leaves it.
 * @param[in] sockopt_rcvbuf Bytes of the receive buffer; UCS_MEMUNITS_AUTO leaves it.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_socket_set_buffer_size(int fd,
                                        size_t sockopt_sndbuf,
                                        size_t sockopt_rcvbuf);

/**
 * A socket that listens and does not block. UCS_ERR_BUSY: the address is taken.
 *
 * @param[in] saddr Address to bind.
 * @param[in] socklen Its bytes.
 * @param[in] backlog Connections that may wait.
 * @param[in] silent_bind Nonzero: an address that is taken is no error in the log.
 * @param[in] reuse_addr Nonzero: sets SO_REUSEADDR.
 * @param[out] listen_fd The socket.
 * @return UCS_OK; UCS_ERR_BUSY: the address is taken; another error.
 */
ucs_status_t ucs_socket_server_init(const struct sockaddr *saddr,
                                    socklen_t socklen,
                                    int backlog,
                                    int silent_bind,
                                    int reuse_addr,
                                    int *listen_fd);

/**
 * Most connections that may wait to be accepted.
 *
 * @return Their number.
 */
int ucs_socket_max_conn(void);

/**
 * Sends what goes now of `*length_p` bytes, which becomes how many went. UCS_ERR_NO_PROGRESS: none now.
 *
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] data The bytes.
 * @param[in,out] length_p Bytes to send; then how many went.
 * @return UCS_OK; UCS_ERR_NO_PROGRESS: none now; another error.
 */
ucs_status_t ucs_socket_send_nb(int fd,
                                const void *data,
                                size_t *length_p);

/**
 * Sends all bytes; waits for the socket.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] data The bytes.
 * @param[in] length Their number.
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_socket_send(int fd, const void *data, size_t length);

/**
 * Sends what goes now of several blocks; `*length_p` becomes how many bytes went. UCS_ERR_NO_PROGRESS: none now.
 *
 *
 * @param[in] fd Descriptor of a socket.
 * @param[in] iov The blocks.
 * @param[in] iov_cnt Their number.
 * @param[out] length_p Bytes that went.
 * @return UCS_OK; UCS_ERR_NO_PROGRESS: none now; another error.
 */
ucs_status_t ucs_socket_sendv_nb(int fd,
                                 struct iovec *iov,
                                 size_t iov_cnt,
                                 size_t *length_p);

/**
 * Receives so many bytes; waits for them. UCS_ERR_NOT_CONNECTED: they will not come.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] data Gets the bytes.
 * @param[in] length Their number.
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED: they will not come; another error.
 */
ucs_status_t ucs_socket_recv(int fd, void *data, size_t length);

/**
 * Bytes of an IPv4 or IPv6 address.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @param[out] size_p Bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr, size_t *size_p);

/**
 * The port, in the host's byte order.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @param[out] port_p The port.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *addr, uint16_t *port_p);

/**
 * Changes the port, given in the host's byte order.
 *
 * @param[in,out] addr Address to change.
 * @param[in] port The port.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_set_port(struct sockaddr *addr, uint16_t port);

/**
 * Where the IP address is inside a socket address; NULL for other families.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @return Place inside `addr`, or NULL.
 */
const void *ucs_sockaddr_get_inet_addr(const struct sockaddr *addr);

/**
 * Changes the IP address of a socket address.
 *
 * @param[in,out] addr Address to change.
 * @param[in] in_addr `struct in_addr` or `struct in6_addr`, by its family.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_set_inet_addr(struct sockaddr *addr, const void *in_addr);

/**
 * The same of the family of a socket address.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @param[out] size_p Bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_inet_addr_sizeof(const struct sockaddr *addr, size_t *size_p);

/**
 * `1.2.3.4:5` or `::1%2:5`, cut to `max_size`.
 *
 * @param[in] sock_addr The address.
 * @param[out] str Gets the text with its NUL, cut to fit.
 * @param[in] max_size Bytes of that buffer.
 * @return `str`.
 */
const char *ucs_sockaddr_str(const struct sockaddr *sock_addr,
                             char *str,
                             size_t max_size);

/**
 * Reads a numeric address; the port becomes 0. `UCS_ERR_INVALID_ADDR` otherwise.
 *
 * @param[in] ip_str Text, NUL-terminated.
 * @param[out] sa_storage The address.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR for another text.
 */
ucs_status_t ucs_sock_ipstr_to_sockaddr(const char *ip_str,
                                        struct sockaddr_storage *sa_storage);

/**
 * Reads a numeric address with an optional port, IPv6 in brackets then.
 *
 * @param[in] ip_port_str Text, NUL-terminated.
 * @param[in] default_port Port when the text has none.
 * @param[out] sa_storage The address.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR for another text.
 */
ucs_status_t ucs_sock_ipportstr_to_sockaddr(const char *ip_port_str,
                                            uint16_t default_port,
                                            struct sockaddr_storage *sa_storage);

/**
 * Reads a port. `UCS_ERR_INVALID_ADDR` when it is none.
 *
 * @param[in] port_str Text, NUL-terminated.
 * @param[out] port The port.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR for another text.
 */
ucs_status_t ucs_sock_port_from_string(const char *port_str, uint16_t *port);

/**
 * 1 for IPv4 and IPv6, else 0.
 *
 * @param[in] sa IPv4 or IPv6 address.
 * @return 1 or 0.
 */
int ucs_sockaddr_is_known_af(const struct sockaddr *sa);

/**
 * getsockname(2) with a status.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] sock_addr The socket's own address.
 * @param[out] addr_len Its bytes.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_socket_getname(int fd,
                                struct sockaddr_storage *sock_addr,
                                socklen_t *addr_len);

/**
 * The address of a socket as text, "-" where it has none; answers `str`.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] str Gets the text with its NUL, cut to fit.
 * @param[in] max_size Bytes of that buffer.
 * @return `str`.
 */
const char *ucs_socket_getname_str(int fd, char *str, size_t max_size);

/**
 * Compares family, address and port: below, at or above 0. For other families, and then 1, `*status_p` becomes
 * UCS_ERR_INVALID_PARAM, else UCS_OK.
 *
 * @param[in] sa1 IPv4 or IPv6 address.
 * @param[in] sa2 Another one.
 * @param[out] status_p UCS_OK, or UCS_ERR_INVALID_PARAM for another family; may be NULL.
 * @return Below, at or above 0.
 */
int ucs_sockaddr_cmp(const struct sockaddr *sa1,
                     const struct sockaddr *sa2,
                     ucs_status_t *status_p);

/**
 * Compares the bytes that the first IP address has: below, at or above 0; -1 for other families.
 *
 * @param[in] sa1 IPv4 or IPv6 address.
 * @param[in] sa2 Another one.
 * @return Below, at or above 0.
 */
int ucs_sockaddr_ip_cmp(const struct sockaddr *sa1,
                        const struct sockaddr *sa2);

/**
 * 1 where the first bits of two IP addresses of one family are the same, else 0.
 *
 * @param[in] sa1 IPv4 or IPv6 address.
 * @param[in] sa2 Another one.
 * @param[in] prefix_len Number of bits.
 * @return 1 or 0.
 */
int ucs_sockaddr_is_same_subnet(const struct sockaddr *sa1,
                                const struct sockaddr *sa2,
                                unsigned int prefix_len);

/**
 * 1 for the unspecified address, else 0.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @return 1 or 0.
 */
int ucs_sockaddr_is_inaddr_any(const struct sockaddr *addr);

/**
 * 1 for 127.0.0.1 and ::1, else 0.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @return 1 or 0.
 */
int ucs_sockaddr_is_inaddr_loopback(const struct sockaddr *addr);

/**
 * Makes the IP address of `addr` the unspecified one of family `af`; family and port stay.
 *
 *
 * @param[in,out] addr Address to change.
 * @param[in] af AF_INET or AF_INET6.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_set_inaddr_any(struct sockaddr *addr,
                                         sa_family_t af);

/**
 * Copies a socket address. UCS_ERR_INVALID_PARAM for other families.
 *
 * @param[out] dst_addr Room for an address of that family.
 * @param[in] src_addr The address.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_copy(struct sockaddr *dst_addr,
                               const struct sockaddr *src_addr);

/**
 * The interface that has a socket's own address. UCS_ERR_NO_DEVICE.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] ifname_str Gets the name with its NUL.
 * @param[in] max_strlen Bytes of that buffer.
 * @return UCS_OK; UCS_ERR_NO_DEVICE when no interface has it; another error.
 */
ucs_status_t ucs_sockaddr_get_ifname(int fd, char *ifname_str, size_t max_strlen);

/**
 * Bytes of an IP address of this family. UCS_ERR_INVALID_PARAM for others.
 *
 * @param[in] af AF_INET or AF_INET6.
 * @param[out] size_p Bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another family.
 */
ucs_status_t ucs_sockaddr_inet_addr_size(sa_family_t af, size_t *size_p);

/**
 * The name of a family.
 *
 * @param[in] af The family.
 * @return Text that is not freed.
 */
const char *ucs_sockaddr_address_family_str(sa_family_t af);

/**
 * The ports that the system gives to sockets by itself.
 *
 * @param[out] port_range First and last port.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_sockaddr_get_ip_local_port_range(ucs_range_spec_t *port_range);

/**
 * The IP address as text. UCS_ERR_INVALID_PARAM where `max_size` is too small.
 *
 * @param[in] addr IPv4 or IPv6 address.
 * @param[out] str Gets the text with its NUL, cut to fit.
 * @param[in] max_size Bytes of that buffer.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM where `max_size` is too small or for another family.
 */
ucs_status_t ucs_sockaddr_get_ipstr(const struct sockaddr *addr,
                                    char *str,
                                    size_t max_size);

/**
 * The device that an interface stands on, as a path in sysfs, cut to `max` bytes.
 *
 * @param[in] if_name Name of a network interface, NUL-terminated.
 * @param[out] path_buffer Gets the path with its NUL.
 * @param[in] max Bytes of that buffer.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_netif_get_lowest_device_path(const char *if_name,
                                              char *path_buffer,
                                              size_t max);

/**
 * socket(2) with a status.
 *
 * @param[in] domain As of socket(2).
 * @param[in] type As of socket(2).
 * @param[in] protocol As of socket(2).
 * @param[out] fd_p The socket.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_socket_create(int domain, int type, int protocol, int *fd_p);
/**
 * Receives what is there, at most `*length_p` bytes, which becomes how many came. UCS_ERR_NO_PROGRESS: none
 * now; UCS_ERR_NOT_CONNECTED: none will come.
 *
 * @param[in] fd Descriptor of a socket.
 * @param[out] data Gets the bytes.
 * @param[in] flags As of recv(2).
 * @param[in,out] length_p Room; then bytes that came.
 * @return UCS_OK; UCS_ERR_NO_PROGRESS: none now; UCS_ERR_NOT_CONNECTED: none will come; another error.
 */
ucs_status_t ucs_socket_recv_nb(int fd, void *data, int flags, size_t *length_p);

END_C_DECLS

#endif
