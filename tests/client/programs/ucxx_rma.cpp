// ucxx's one-sided interface, in C++: an owner exports memory, a client puts into it and gets from it.
//
//     ucxx_rma one|two
//
// With "two" the owner is a process of its own, else a thread with a context of its own. Owner and client speak by a
// pair of sockets: only the owner can tell what its memory holds.
#include <ucxx/api.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t FEATURES = UCP_FEATURE_RMA | UCP_FEATURE_TAG;
constexpr size_t SIZE = 4 << 20;
const std::vector<size_t> LENGTHS = {1, 8, 100, 8192, 100'000, SIZE};

void expect(bool condition, const std::string& words)
{
    if (!condition) throw std::runtime_error(words);
}

uint8_t value(size_t position, size_t seed) { return uint8_t(position * 7 + (position >> 8) + seed); }

std::vector<uint8_t> pattern(size_t length, size_t seed)
{
    std::vector<uint8_t> bytes(length);
    for (size_t i = 0; i < length; i++) bytes[i] = value(i, seed);
    return bytes;
}

void write_all(int fd, const void* data, size_t length)
{
    expect(write(fd, data, length) == ssize_t(length), "the other side has gone");
}

void read_all(int fd, void* data, size_t length)
{
    expect(recv(fd, data, length, MSG_WAITALL) == ssize_t(length), "the other side has gone");
}

void write_text(int fd, const std::string& text)
{
    const uint64_t length = text.size();
    write_all(fd, &length, sizeof(length));
    write_all(fd, text.data(), text.size());
}

std::string read_text(int fd)
{
    uint64_t length;
    read_all(fd, &length, sizeof(length));
    std::string text(length, 0);
    read_all(fd, text.data(), length);
    return text;
}

// What the client asks of the owner, about `memory`: is the pattern there, or write it.
struct Order {
    enum Kind : uint64_t { CHECK, FILL } kind;
    uint64_t memory, offset, length, seed;
};

// Exports two memories, one of its own and one that ucxx allocates; obeys until the client closes its socket.
void owner(int fd)
{
    auto context = ucxx::contextBuilder(FEATURES).build();
    auto worker  = context->workerBuilder().build();
    std::vector<uint8_t> own(SIZE);
    std::shared_ptr<ucxx::MemoryHandle> handles[] = {context->memoryHandleBuilder(SIZE).buffer(own.data()).build(),
                                                     context->memoryHandleBuilder(SIZE).build()};
    write_text(fd, std::string(worker->addressBuilder().build()->getStringView()));
    for (auto& handle : handles) {
        write_text(fd, handle->remoteKeyBuilder().build()->serialize());
        const uint64_t place[] = {handle->getBaseAddress(), handle->getSize()};
        write_all(fd, place, sizeof(place));
    }
    for (;;) {
        worker->progress();
        pollfd waiting = {fd, POLLIN, 0};
        if (poll(&waiting, 1, 0) == 0) continue;
        Order order;
        if (recv(fd, &order, sizeof(order), MSG_WAITALL) != sizeof(order)) return;
        auto* bytes = reinterpret_cast<uint8_t*>(handles[order.memory]->getBaseAddress()) + order.offset;
        bool right  = true;
        for (size_t i = 0; i < order.length; i++) {
            if (order.kind == Order::FILL) bytes[i] = value(i, order.seed);
            right &= bytes[i] == value(i, order.seed);
        }
        write_all(fd, &right, sizeof(right));
    }
}

struct Memory {
    std::shared_ptr<ucxx::RemoteKey> key;
    uint64_t address, size;
};

struct Client {
    int fd;
    std::shared_ptr<ucxx::Context> context   = ucxx::contextBuilder(FEATURES).build();
    std::shared_ptr<ucxx::Worker> worker     = context->workerBuilder().build();
    std::shared_ptr<ucxx::Endpoint> endpoint = nullptr;
    std::vector<Memory> memories{};

    explicit Client(int socket) : fd(socket)
    {
        auto address = ucxx::AddressBuilder(read_text(fd)).build();
        endpoint     = worker->endpointBuilder(address).build();
        for (int i = 0; i < 2; i++) {
            Memory memory;
            memory.key = endpoint->remoteKeyBuilder(read_text(fd)).build();
            uint64_t place[2];
            read_all(fd, place, sizeof(place));
            memory.address = place[0];
            memory.size    = place[1];
            memories.push_back(memory);
        }
    }

    void wait(const std::shared_ptr<ucxx::Request>& request)
    {
        while (!request->isCompleted()) worker->progress();
        request->checkError();
    }

    void flush() { wait(endpoint->flushBuilder().build()); }

    bool ask(Order::Kind kind, uint64_t memory, uint64_t offset, uint64_t length, uint64_t seed)
    {
        const Order order = {kind, memory, offset, length, seed};
        write_all(fd, &order, sizeof(order));
        bool right;
        read_all(fd, &right, sizeof(right));
        return right;
    }
};

void part(const char* name, const std::function<void()>& body)
{
    alarm(60);
    body();
    printf("ok %s\n", name);
    fflush(stdout);
}

void run(int fd)
{
    Client client(fd);
    part("keys tell address and size", [&] {
        for (auto& memory : client.memories) {
            expect(memory.key->getBaseAddress() == memory.address, "another address");
            expect(memory.key->getSize() == memory.size && memory.size >= SIZE, "another size");
        }
    });
    part("puts", [&] {
        for (size_t memory = 0; memory < 2; memory++)
            for (size_t length : LENGTHS) {
                const size_t offset = SIZE - length;
                auto sent           = pattern(length, length + memory);
                client.wait(client.endpoint->memPutBuilder(sent.data(), length, client.memories[memory].key)
                                .remoteAddressOffset(offset)
                                .build());
                client.flush();
                expect(client.ask(Order::CHECK, memory, offset, length, length + memory), "wrong data put");
            }
    });
    part("puts by address and handle", [&] {
        for (size_t length : LENGTHS) {
            auto sent = pattern(length, length + 3);
            client.wait(client.endpoint
                            ->memPutBuilder(sent.data(), length, client.memories[0].address,
                                            client.memories[0].key->getHandle())
                            .build());
            client.flush();
            expect(client.ask(Order::CHECK, 0, 0, length, length + 3), "wrong data put");
        }
    });
    part("gets", [&] {
        for (size_t memory = 0; memory < 2; memory++)
            for (size_t length : LENGTHS) {
                const size_t offset = (SIZE - length) / 2;
                client.ask(Order::FILL, memory, offset, length, length + 5);
                std::vector<uint8_t> got(length);
                client.wait(client.endpoint->memGetBuilder(got.data(), length, client.memories[memory].key)
                                .remoteAddressOffset(offset)
                                .build());
                expect(got == pattern(length, length + 5), "wrong data got");
            }
    });
    part("many under way, a flush of the worker", [&] {
        constexpr size_t COUNT = 500, EACH = 4096;
        auto sent              = pattern(COUNT * EACH, 9);
        std::vector<std::shared_ptr<ucxx::Request>> requests;
        for (size_t i = 0; i < COUNT; i++)
            requests.push_back(client.endpoint->memPutBuilder(&sent[i * EACH], EACH, client.memories[1].key)
                                   .remoteAddressOffset(i * EACH)
                                   .build());
        requests.push_back(client.worker->flushBuilder().build());
        for (auto& request : requests) client.wait(request);
        expect(client.ask(Order::CHECK, 1, 0, COUNT * EACH, 9), "wrong data put");
    });
    part("callbacks", [&] {
        auto called = std::make_shared<int>(0);
        auto count  = [](ucs_status_t status, std::shared_ptr<void> data) {
            if (status == UCS_OK) ++*std::static_pointer_cast<int>(data);
        };
        for (size_t length : LENGTHS) {
            std::vector<uint8_t> got(length);
            client.wait(client.endpoint->memGetBuilder(got.data(), length, client.memories[0].key)
                            .callbackFunction(count)
                            .callbackData(called)
                            .build());
        }
        expect(*called == int(LENGTHS.size()), "not one call for each");
    });
    part("closed", [&] { client.endpoint->closeBlocking(1'000'000, 60); });
}

}  // namespace

int main(int argc, char** argv)
{
    const bool two = argc > 1 && strcmp(argv[1], "two") == 0;
    int sockets[2];
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "no pair of sockets");
    pid_t child = -1;
    std::thread thread;
    if (!two) {
        thread = std::thread(owner, sockets[1]);
    } else if ((child = fork()) == 0) {
        close(sockets[0]);
        owner(sockets[1]);
        return 0;
    } else {
        close(sockets[1]);
    }
    run(sockets[0]);
    close(sockets[0]);
    if (two) {
        int status;
        expect(waitpid(child, &status, 0) == child && status == 0, "the owner failed");
    } else {
        thread.join();
        close(sockets[1]);
    }
    return 0;
}
