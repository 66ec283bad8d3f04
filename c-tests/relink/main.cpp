// Uses the library beside it, and UCT and UCS without it; prints the same on every implementation.
#include "messenger.hpp"

#include <ucs/type/status.h>
#include <uct/api/uct.h>

#include <cstdio>
#include <cstring>
#include <exception>

static int tell(const char *what, const std::string &sent, const std::string &arrived)
{
    bool same = sent == arrived;
    std::printf("%s of %zu bytes: %s\n", what, sent.size(), same ? "same" : "different");
    return same ? 0 : 1;
}

int main() try
{
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    std::printf("version %u, status \"%s\"\n", major, ucs_status_string(UCS_ERR_NO_MEMORY));

    uct_component_h *components;
    unsigned count;
    if (uct_query_components(&components, &count) != UCS_OK) {
        return 1;
    }
    for (unsigned i = 0; i < count; ++i) {
        uct_component_attr_t attr;
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        if (uct_component_query(components[i], &attr) == UCS_OK && !std::strcmp(attr.name, "tcp")) {
            std::puts("component tcp");
        }
    }
    uct_release_component_list(components);

    Messenger messenger;
    int failures = 0;
    for (size_t length : {0, 1, 8, 4096, 1 << 20}) {
        std::string text(length, 'x');
        for (size_t i = 0; i < length; ++i) {
            text[i] = char('a' + i % 23);
        }
        failures += tell("message", text, messenger.echo(text));
        failures += length ? tell("put", text, messenger.put(text)) : 0;
    }
    return failures;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
