// A small shared library in C++ on top of UCP: a process that sends messages to itself and writes its own memory
// through an endpoint.
#ifndef FERRUCX_RELINK_MESSENGER_HPP
#define FERRUCX_RELINK_MESSENGER_HPP

#include <ucp/api/ucp.h>

#include <string>

class Messenger {
public:
    Messenger();
    ~Messenger();
    Messenger(const Messenger &) = delete;
    Messenger &operator=(const Messenger &) = delete;

    // What arrives when `text` is sent.
    std::string echo(const std::string &text);
    // What stands in remote memory after `text` was put there.
    std::string put(const std::string &text);

private:
    void finish(ucs_status_ptr_t request);

    ucp_context_h context = nullptr;
    ucp_worker_h worker = nullptr;
    ucp_ep_h ep = nullptr;
};

#endif
