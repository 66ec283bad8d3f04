/* Event sets: own and borrowed epoll descriptors, reported events, invalid arguments. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
#include "check.h"

#include <ucs/sys/event_set.h>

#include <fcntl.h>

typedef struct {
    char   name;
    int    fd;
} source_t;

static void print_event(void *callback_data, ucs_event_set_types_t events, void *arg)
{
    const source_t *source = callback_data;

    printf("%c events %d for %s\n", source->name, events, (const char *)arg);
}

static void wait_for(ucs_sys_event_set_t *set, unsigned max, int timeout)
{
    unsigned count = max;

    CHECK_OK(ucs_event_set_wait(set, &count, timeout, print_event, "test"));
    printf("%u of %u\n", count, max);
}

int main(void)
{
    ucs_sys_event_set_t *set, *alias;
    int pipe_fds[2], set_fd;

    CHECK(pipe(pipe_fds) == 0);
    source_t reader = {'r', pipe_fds[0]}, writer = {'w', pipe_fds[1]};

    CHECK_OK(ucs_event_set_create(&set));
    CHECK_OK(ucs_event_set_fd_get(set, &set_fd));
    CHECK(fcntl(set_fd, F_GETFD) != -1);
    CHECK_OK(ucs_event_set_add(set, reader.fd, UCS_EVENT_SET_EVREAD, &reader));
    CHECK_STATUS(ucs_event_set_add(set, reader.fd, UCS_EVENT_SET_EVREAD, &reader), UCS_ERR_IO_ERROR);
    wait_for(set, 4, 0);
    CHECK_OK(ucs_event_set_add(set, writer.fd, UCS_EVENT_SET_EVWRITE, &writer));
    wait_for(set, 4, -1);
    CHECK(write(writer.fd, "x", 1) == 1);
    CHECK_OK(ucs_event_set_del(set, writer.fd));
    wait_for(set, 4, -1);
    OK("own descriptor");

    CHECK_OK(ucs_event_set_create_from_fd(&alias, set_fd));
    wait_for(alias, 1, -1);
    ucs_event_set_cleanup(alias);
    wait_for(set, 1, -1);
    OK("borrowed descriptor");

    CHECK_OK(ucs_event_set_mod(set, reader.fd, UCS_EVENT_SET_EVREAD | UCS_EVENT_SET_EDGE_TRIGGERED, &reader));
    wait_for(set, 4, -1);
    wait_for(set, 4, 0);
    CHECK(write(writer.fd, "y", 1) == 1);
    wait_for(set, 4, -1);
    OK("edge");

    CHECK_STATUS(ucs_event_set_mod(set, writer.fd, UCS_EVENT_SET_EVREAD, &writer), UCS_ERR_IO_ERROR);
    CHECK_STATUS(ucs_event_set_del(set, writer.fd), UCS_ERR_IO_ERROR);
    CHECK_STATUS(ucs_event_set_add(set, -1, UCS_EVENT_SET_EVREAD, &reader), UCS_ERR_IO_ERROR);
    OK("what is not watched");
    printf("at most %u\n", ucs_sys_event_set_max_wait_events);
    ucs_event_set_cleanup(set);
    close(reader.fd);
    close(writer.fd);
    return 0;
}
