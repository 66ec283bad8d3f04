/* Socket addresses: text, ports, sizes. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
#include "check.h"

#include <ucs/sys/sock.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

static void addresses(void)
{
    static const char *texts[] = {"1.2.3.4", "0.0.0.0", "255.255.255.255", "::1", "fe80::1", "::", "1:2:3:4:5:6:7:8",
                                  "abc", "1.2.3", "1.2.3.4:55", "[::1]", "", "localhost", "fe80::1%1", "1.2.3.256"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        struct sockaddr_storage storage;
        struct sockaddr *address = (struct sockaddr *)&storage;
        ucs_status_t status;
        char text[128];
        uint16_t port;
        size_t size;

        memset(&storage, 0, sizeof(storage));
        status = ucs_sock_ipstr_to_sockaddr(texts[i], &storage);
        printf("'%s': %d", texts[i], status);
        if (status == UCS_OK) {
            CHECK_OK(ucs_sockaddr_set_port(address, 513));
            CHECK_OK(ucs_sockaddr_get_port(address, &port));
            CHECK_OK(ucs_sockaddr_sizeof(address, &size));
            CHECK(ucs_sockaddr_str(address, text, sizeof(text)) == text);
            /* Releases differ in whether they print the interface of an IPv6 address. */
            printf(" port %d size %zu %s", port, size, (address->sa_family == AF_INET) ? text : "(IPv6)");
            CHECK_OK(ucs_sockaddr_set_inaddr_any(address, address->sa_family));
            ucs_sockaddr_str(address, text, sizeof(text));
            printf(" %s", (address->sa_family == AF_INET) ? text : "(IPv6)");
        }
        printf("\n");
    }
    OK("addresses");
}

static void other_families(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sockaddr *any       = (struct sockaddr *)&address;
    char text[64];
    uint16_t port;
    size_t size;

    CHECK_STATUS(ucs_sockaddr_get_port(any, &port), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucs_sockaddr_set_port(any, 1), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucs_sockaddr_sizeof(any, &size), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucs_sockaddr_set_inaddr_any(any, AF_UNIX), UCS_ERR_INVALID_PARAM);
    printf("%s\n", ucs_sockaddr_str(any, text, sizeof(text)));
    OK("other families");
}

static void descriptors(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), copy = fd, one = 1;

    CHECK(fd >= 0);
    CHECK_OK(ucs_socket_setopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
    CHECK_STATUS(ucs_socket_setopt(fd, SOL_SOCKET, -1, &one, sizeof(one)), UCS_ERR_IO_ERROR);
    ucs_close_fd(&fd);
    CHECK_EQ(fd, -1);
    CHECK(fcntl(copy, F_GETFD) == -1);
    ucs_close_fd(&fd);
    OK("descriptors");
}

int main(void)
{
    addresses();
    other_families();
    descriptors();
    return 0;
}
