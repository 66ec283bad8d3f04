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

@ITEMS@

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
