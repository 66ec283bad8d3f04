/* A stand-in for libibverbs.so.1: a device "fake0" with one port, or up to three devices, whose reliable-connected queue pairs talk to
 * queue pairs of the same process. Shared receive queues, inline data, RDMA write and read, 64-bit atomics, completion
 * channels, asynchronous events. Work is done within post_send; a send for which there is no receive buffer waits for
 * one, as a device with infinite RNR retries would. Datagrams go to any datagram queue pair of the process that has the
 * right key; those without a receive buffer are lost. One mutex guards everything, so threads may share it.
 *
 * What a device checks is checked: keys, ranges and access flags of memory regions, the state, numbers, addresses,
 * MTU and packet sequence numbers of both queue pairs. A completion queue that overflows ends the process.
 *
 * FAKE_VERBS="KEY=N,..." changes the device or breaks it:
 *   eth=1          an Ethernet port with RoCE v1 and v2 addresses, instead of an InfiniBand port
 *   inline=N       most inline data that queue pairs get (default 256)
 *   sge=N          most scatter-gather entries of a queue pair (default 8)
 *   fail_reg=N     the Nth registration fails with ENOMEM
 *   max_reg=N      registrations of more than N bytes fail with ENOMEM
 *   max_pinned=N   registrations by which more than N bytes would be pinned fail with ENOMEM
 *   fail_qp=N      the Nth queue pair cannot be created (ENOMEM)
 *   send_err=N     the Nth work request completes with a retry error, its queue pair goes to the error state
 *   refuse=N       the Nth work request is refused by post_send (ENOMEM)
 *   read_err=N     the Nth read is refused for its key, both queue pairs go to the error state
 *   stall=N        reads by the Nth device, and what was posted behind them, wait until this is 0
 *   fatal=N        after N work requests the device reports IBV_EVENT_DEVICE_FATAL and stops all queue pairs
 *   event=KIND, at=N
 *                  after N work requests the device reports this IBV_EVENT_*, of the Nth request's queue pair, of its queues
 *                  or of its port, whose state becomes what the event says; nothing else happens
 *   devices=N      more devices, fake1 and fake2
 *   only=N         max_reg and fatal are of the Nth device alone
 *   speed=N, third=N
 *                  the speeds of the ports of fake1 and fake2 in steps of 2.5 Gbit/s a wire, as IBV_SPEED of InfiniBand (default 32,
 *                  as fake0)
 *   srq=0          a device without shared receive queues
 *   atomics=0      a device without atomics
 *   odp=1          a device that can do without pinned memory, with a library that takes advice on it
 *   dmabuf=0       a device that takes no dmabufs
 *   peermem=1      memory of the stand-in for NVIDIA's driver (tests/fake_cuda) is registered by its address, as with a kernel
 *                  module that knows it; else it is refused (EFAULT)
 *   port=N         the port's state (default 4, active)
 *   gid=N          the port has only its Nth address (Ethernet: 0 and 1 are IPv6, 2 and 3 IPv4; even ones RoCE v1)
 *   drop=N, double=N, late=N
 *                  of 1000 datagrams so many are lost, delivered twice, and delivered after the next one
 *   seed=N         chooses which (default 1)
 *   report=1       at the end of the process, a line to standard error: calls of post_send, work requests, those that ask
 *                  for a completion
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_QPS 4096
#define MAX_REGIONS 65536
#define MAX_CONTEXTS 256
#define MAX_SGE 32
#define LID 7

/* A completion queue: a ring, and whether an event was asked for. */
struct cq {
    struct ibv_cq v;
    struct ibv_wc *ring;
    unsigned size, head, tail;
    int armed;
};

struct receive {
    uint64_t id;
    struct ibv_sge sge;
};

struct srq {
    struct ibv_srq v;
    struct receive *ring;
    unsigned size, head, tail;
};

/* A work request that waits for a receive buffer or for the peer's connection. */
struct held {
    struct held *next;
    struct ibv_send_wr wr;
    struct ibv_sge sge[MAX_SGE];
    char data[];
};

struct qp {
    struct ibv_qp v;
    struct ibv_qp_attr attr;
    struct held *first, **last;
    struct srq own; /* of a datagram queue pair, or one without a shared queue */
    unsigned events; /* taken and not acknowledged */
};

/* A way to a port. */
struct ah {
    struct ibv_ah v;
    struct ibv_ah_attr attr;
};

/* A datagram on its way. */
#define GRH 40
struct datagram {
    uint32_t to, from, key;
    size_t length; /* without the GRH */
    int global, lid;
    char data[GRH + 4096];
};

struct channel {
    struct ibv_comp_channel v;
    struct cq *queue;
};

struct region {
    struct ibv_mr *mr;
    unsigned access;
    uint8_t generation;
    uint64_t base; /* the address that requests name */
    char *view;    /* where the bytes are: memory of another device is mapped here */
    void *mapped;
    size_t mapped_length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define MAX_DEVICES 3
static struct ibv_device devices[MAX_DEVICES];
static struct ibv_device *list[MAX_DEVICES + 1];
static struct qp *qps[MAX_QPS];
static struct region regions[MAX_REGIONS];
static struct ibv_context *contexts[MAX_CONTEXTS];
/* Asynchronous events that were not taken, of each context; those of queue pairs that are gone are 0. */
#define MAX_EVENTS 64
static struct { struct ibv_async_event ring[MAX_EVENTS]; unsigned head, tail; } events[MAX_CONTEXTS];
static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;
static unsigned next_qp = 17, next_region = 1;
static long ethernet, max_inline = 256, max_sge = 8, fail_reg, fail_qp, send_err, fatal, atomics = 1, port_state = IBV_PORT_ACTIVE;
static long only_gid = -1, drop, twice, late, seed = 1, max_reg, n_refused;
static long n_reg, n_qp, n_send, n_read, n_write, read_err, n_live, refuse, n_posted, n_atomic, last_read, stall;
static long n_devices = 1, speed = 32, third_speed = 32, only, n_data[MAX_DEVICES];
static long max_pinned, event_kind, event_at, has_srq = 1, odp, n_advised, n_wanted;
static long dmabuf = 1, peermem, n_dmabuf;
static long report, n_doorbell, n_signalled, n_pinned, n_heap, waiting;
static struct datagram *delayed;

/* The setting that `text`, which ends with '=', ',' or 0, names. A test that has loaded this library changes settings, and
 * reads the number of registrations (reg), of those among them by dmabufs (dmabufs) and that failed (refused), of those that there are (live) and of
 * their bytes (pinned), of work requests
 * (sent), those that wait among them (waiting), of reads, writes and atomic operations (amos) among them, the bytes of the last read (last_read), those that
 * requests of each device have moved (data0 to data2), and how much memory the queue pairs and address handles take here (heap). */
long *fake_verbs_setting(const char *text)
{
    static const struct { const char *name; long *value; } knobs[] = {
        {"eth", &ethernet}, {"inline", &max_inline}, {"sge", &max_sge}, {"fail_reg", &fail_reg}, {"fail_qp", &fail_qp},
        {"send_err", &send_err}, {"fatal", &fatal}, {"atomics", &atomics}, {"port", &port_state},
        {"gid", &only_gid}, {"drop", &drop}, {"double", &twice}, {"late", &late}, {"seed", &seed},
        {"max_reg", &max_reg}, {"max_pinned", &max_pinned}, {"refused", &n_refused}, {"refuse", &refuse}, {"event", &event_kind}, {"srq", &has_srq}, {"odp", &odp}, {"advised", &n_advised}, {"wanted", &n_wanted}, {"at", &event_at}, {"reg", &n_reg}, {"sent", &n_send},
        {"live", &n_live}, {"reads", &n_read}, {"last_read", &last_read}, {"stall", &stall}, {"waiting", &waiting}, {"amos", &n_atomic}, {"writes", &n_write}, {"read_err", &read_err},
        {"dmabuf", &dmabuf}, {"peermem", &peermem}, {"dmabufs", &n_dmabuf}, {"devices", &n_devices}, {"only", &only}, {"speed", &speed}, {"third", &third_speed}, {"data0", &n_data[0]}, {"data1", &n_data[1]}, {"data2", &n_data[2]}, {"report", &report}, {"pinned", &n_pinned}, {"heap", &n_heap},
    };
    size_t n = strcspn(text, "=,");
    unsigned i;
    for (i = 0; i < sizeof knobs / sizeof *knobs; i++) {
        if (strlen(knobs[i].name) == n && !strncmp(text, knobs[i].name, n)) return knobs[i].value;
    }
    fprintf(stderr, "fake_verbs: unknown setting %s\n", text);
    abort();
}

static void read_knobs(void)
{
    const char *text = getenv("FAKE_VERBS");
    for (; text && *text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
        long *setting = fake_verbs_setting(text);
        if (strchr(text, '=')) *setting = atol(strchr(text, '=') + 1);
    }
}

__attribute__((destructor)) static void report_counts(void)
{
    if (report) fprintf(stderr, "fake_verbs: doorbells=%ld sends=%ld signalled=%ld\n", n_doorbell, n_send, n_signalled);
}

/* Memory of an object that stands for one of the device, whose size is not the library's. */
static void *take(size_t size)
{
    void *taken = calloc(1, size);
    n_heap += malloc_usable_size(taken);
    return taken;
}

static void give_back(void *taken)
{
    n_heap -= malloc_usable_size(taken);
    free(taken);
}

/* ---- memory regions */

static int number_of(const struct ibv_context *context) { return context->device - devices; }

/* Whether a device is one that is broken. */
static int breaks(const struct ibv_context *context) { return !only || number_of(context) == only - 1; }

/* Keys of one device are none to another. */
static int allowed(const struct ibv_context *context, uint32_t key, uint64_t address, size_t length, unsigned access)
{
    unsigned slot = key >> 8;
    struct ibv_mr *mr = slot < MAX_REGIONS ? regions[slot].mr : NULL;
    uint64_t base = regions[slot < MAX_REGIONS ? slot : 0].base;
    if (length == 0) return 1;
    return mr && mr->lkey == key && mr->context->device == context->device && (regions[slot].access & access) == access && address >= base && length <= mr->length &&
           address - base <= mr->length - length;
}

/* Where the bytes are that a request names. */
static char *place(uint32_t key, uint64_t address)
{
    struct region *region = &regions[key >> 8];
    return region->view + (address - region->base);
}

/* `length` bytes of a file from an offset on, mapped here. 0 where the file has not as many. */
static int map(struct region *region, int file, off_t offset, size_t length)
{
    struct stat found;
    off_t start = offset & ~4095l;
    if (fstat(file, &found) || offset + (off_t)length > found.st_size) return 0;
    region->mapped_length = offset - start + length;
    region->mapped = mmap(NULL, region->mapped_length, PROT_READ | PROT_WRITE, MAP_SHARED, file, start);
    if (region->mapped == MAP_FAILED) abort();
    region->view = (char *)region->mapped + (offset - start);
    return 1;
}

/* The file of memory of the stand-in for NVIDIA's driver, if that is there and this is such memory. */
static int file_of_gpu(void *address, size_t length, off_t *offset)
{
    static int (*find)(void *, size_t, off_t *);
    static int looked;
    if (!looked) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        looked = 1;
        if (library) find = (int (*)(void *, size_t, off_t *))dlsym(library, "fake_cuda_file");
    }
    return find ? find(address, length, offset) : -1;
}

/* Memory at `iova`, which is in the region's file if that is mapped. */
static struct ibv_mr *add_region(struct ibv_pd *pd, struct region found, uint64_t iova, size_t length, int access)
{
    struct ibv_mr *mr = NULL;
    unsigned tried;
    pthread_mutex_lock(&lock);
    if (++n_reg != fail_reg && (odp || !(access & IBV_ACCESS_ON_DEMAND)) &&
        (!max_reg || length <= (size_t)max_reg || !breaks(pd->context)) &&
        (!max_pinned || (access & IBV_ACCESS_ON_DEMAND) || n_pinned + (long)length <= max_pinned)) {
        for (tried = 0; tried < MAX_REGIONS && regions[next_region].mr; tried++) next_region = next_region % (MAX_REGIONS - 1) + 1;
        if (tried < MAX_REGIONS && (mr = calloc(1, sizeof *mr))) {
            struct region *region = &regions[next_region];
            found.mr = mr;
            found.access = access;
            found.generation = region->generation + 1;
            found.base = iova;
            *region = found;
            n_live++;
            if (!(access & IBV_ACCESS_ON_DEMAND)) n_pinned += length;
            mr->context = pd->context;
            mr->pd = pd;
            mr->addr = (void *)iova;
            mr->length = length;
            mr->lkey = mr->rkey = next_region << 8 | region->generation;
            next_region = next_region % (MAX_REGIONS - 1) + 1;
        }
    }
    if (!mr) n_refused++;
    pthread_mutex_unlock(&lock);
    if (!mr && found.mapped) munmap(found.mapped, found.mapped_length);
    if (!mr) errno = ENOMEM;
    return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    struct region found = {.view = address};
    off_t offset;
    int file = file_of_gpu(address, length, &offset), known = file == -1;
    if (file >= 0 && peermem) known = map(&found, file, offset, length);
    if (file >= 0) close(file);
    if (!known) {
        errno = EFAULT;
        return NULL;
    }
    return add_region(pd, found, (uint64_t)address, length, access);
}

/* The place of the file is where the dmabuf begins in it. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int file, int access)
{
    struct region found = {0};
    struct ibv_mr *mr;
    off_t start;
    if (!dmabuf) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    if ((start = lseek(file, 0, SEEK_CUR)) < 0) return NULL;
    if (offset % 4096 != iova % 4096 || (access & IBV_ACCESS_ON_DEMAND) || !map(&found, file, start + (off_t)offset, length)) {
        errno = EINVAL;
        return NULL;
    }
    if ((mr = add_region(pd, found, iova, length, access))) {
        /* As libibverbs has it. */
        mr->addr = (void *)offset;
        __sync_fetch_and_add(&n_dmabuf, 1);
    }
    return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    pthread_mutex_lock(&lock);
    struct region *region = &regions[mr->lkey >> 8];
    region->mr = NULL;
    n_live--;
    if (!(region->access & IBV_ACCESS_ON_DEMAND)) n_pinned -= mr->length;
    if (region->mapped) munmap(region->mapped, region->mapped_length);
    pthread_mutex_unlock(&lock);
    free(mr);
    return 0;
}

static int advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *list, uint32_t count)
{
    uint32_t i;
    int wrong = flags != 0 || (advice != IBV_ADVISE_MR_ADVICE_PREFETCH && advice != IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    pthread_mutex_lock(&lock);
    for (i = 0; i < count; i++) {
        unsigned access = IBV_ACCESS_ON_DEMAND | (advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0);
        wrong |= !allowed(pd->context, list[i].lkey, list[i].addr, list[i].length, access);
        n_advised += wrong ? 0 : list[i].length;
        n_wanted += wrong ? 0 : advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    }
    pthread_mutex_unlock(&lock);
    return wrong ? EINVAL : 0;
}

/* ---- completions */

static void complete(struct ibv_cq *v, struct ibv_wc wc)
{
    struct cq *cq = (struct cq *)v;
    if (cq->tail - cq->head == cq->size) {
        fprintf(stderr, "fake_verbs: a completion queue of %u entries overflows\n", cq->size);
        abort();
    }
    cq->ring[cq->tail++ % cq->size] = wc;
    if (cq->armed && v->channel) {
        uint64_t one = 1;
        cq->armed = 0;
        ((struct channel *)v->channel)->queue = cq;
        if (write(v->channel->fd, &one, sizeof one) != sizeof one) abort();
    }
}

static void complete_send(struct qp *qp, const struct ibv_send_wr *wr, enum ibv_wc_opcode opcode, enum ibv_wc_status status)
{
    struct ibv_wc wc = {.wr_id = wr->wr_id, .status = status, .opcode = opcode, .qp_num = qp->v.qp_num};
    /* Of a failed completion these alone are valid. */
    if (status) wc.opcode = ~0u, wc.byte_len = ~0u;
    complete(qp->v.send_cq, wc);
}

static int poll_cq(struct ibv_cq *v, int count, struct ibv_wc *wc)
{
    struct cq *cq = (struct cq *)v;
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < count && cq->head != cq->tail) wc[i++] = cq->ring[cq->head++ % cq->size];
    pthread_mutex_unlock(&lock);
    return i;
}

static int req_notify_cq(struct ibv_cq *v, int solicited_only)
{
    (void)solicited_only;
    pthread_mutex_lock(&lock);
    ((struct cq *)v)->armed = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- sending */

enum outcome { DONE, WAIT };

static void stop(struct qp *qp)
{
    struct srq *own = &qp->own;
    qp->v.state = IBV_QPS_ERR;
    while (own->head != own->tail)
        complete(qp->v.recv_cq, (struct ibv_wc){.wr_id = own->ring[own->head++ % own->size].id, .status = IBV_WC_WR_FLUSH_ERR,
                                                .qp_num = qp->v.qp_num});
    while (qp->first) {
        struct held *held = qp->first;
        qp->first = held->next;
        complete_send(qp, &held->wr, 0, IBV_WC_WR_FLUSH_ERR);
        free(held);
        waiting--;
    }
    qp->last = &qp->first;
}

static enum outcome failed(struct qp *qp, const struct ibv_send_wr *wr, enum ibv_wc_status status)
{
    complete_send(qp, wr, 0, status);
    stop(qp);
    return DONE;
}

static size_t total(const struct ibv_send_wr *wr)
{
    size_t n = 0;
    int i;
    for (i = 0; i < wr->num_sge; i++) n += wr->sg_list[i].length;
    return n;
}

static void gather(const struct ibv_send_wr *wr, char *to)
{
    int i;
    for (i = 0; i < wr->num_sge; to += wr->sg_list[i++].length) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        const char *from = wr->send_flags & IBV_SEND_INLINE || !sge->length ? (char *)sge->addr : place(sge->lkey, sge->addr);
        memmove(to, from, sge->length);
    }
}

/* The queue pair that this one is connected to; NULL where packets would get no answer. */
static struct qp *peer_of(const struct qp *qp)
{
    const struct ibv_ah_attr *to = &qp->attr.ah_attr;
    struct qp *peer = qps[qp->attr.dest_qp_num % MAX_QPS];
    int index, known;
    if (!peer || peer->v.qp_num != qp->attr.dest_qp_num) return NULL;
    known = !ethernet && to->dlid == LID + number_of(peer->v.context);
    for (index = 0; ethernet && index < 4; index++) {
        union ibv_gid gid;
        ibv_query_gid(peer->v.context, 1, index, &gid);
        known |= to->is_global && !memcmp(&gid, &to->grh.dgid, sizeof gid);
    }
    if (!known) return NULL;
    if (peer->v.state == IBV_QPS_INIT) return peer;
    if ((peer->v.state != IBV_QPS_RTR && peer->v.state != IBV_QPS_RTS) || peer->attr.dest_qp_num != qp->v.qp_num ||
        peer->attr.rq_psn != qp->attr.sq_psn || peer->attr.path_mtu != qp->attr.path_mtu)
        return NULL;
    return peer;
}

static enum outcome receive(struct qp *qp, struct qp *peer, const struct ibv_send_wr *wr)
{
    struct srq *srq = peer->v.srq ? (struct srq *)peer->v.srq : &peer->own;
    struct receive *to;
    struct ibv_wc wc = {.opcode = IBV_WC_RECV, .byte_len = total(wr), .qp_num = peer->v.qp_num, .src_qp = qp->v.qp_num};
    if (srq->head == srq->tail) return WAIT;
    to = &srq->ring[srq->head++ % srq->size];
    wc.wr_id = to->id;
    if (wc.byte_len > to->sge.length || !allowed(peer->v.context, to->sge.lkey, to->sge.addr, wc.byte_len, IBV_ACCESS_LOCAL_WRITE)) {
        wc.status = wc.byte_len > to->sge.length ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR;
        complete(peer->v.recv_cq, wc);
        stop(peer);
        return failed(qp, wr, IBV_WC_REM_INV_REQ_ERR);
    }
    gather(wr, place(to->sge.lkey, to->sge.addr));
    complete(peer->v.recv_cq, wc);
    if (wr->send_flags & IBV_SEND_SIGNALED) complete_send(qp, wr, IBV_WC_SEND, IBV_WC_SUCCESS);
    return DONE;
}

static enum outcome execute(struct qp *qp, const struct ibv_send_wr *wr)
{
    int i, reads = wr->opcode == IBV_WR_RDMA_READ, atomic = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    uint64_t *word, old;
    size_t n = total(wr);
    enum ibv_wc_opcode opcode;
    struct qp *peer;
    if (qp->v.state != IBV_QPS_RTS) return failed(qp, wr, IBV_WC_WR_FLUSH_ERR);
    for (i = 0; i < wr->num_sge && !(wr->send_flags & IBV_SEND_INLINE); i++)
        if (!allowed(qp->v.context, wr->sg_list[i].lkey, wr->sg_list[i].addr, wr->sg_list[i].length, reads || atomic ? IBV_ACCESS_LOCAL_WRITE : 0))
            return failed(qp, wr, IBV_WC_LOC_PROT_ERR);
    if (!(peer = peer_of(qp))) return failed(qp, wr, IBV_WC_RETRY_EXC_ERR);
    if (peer->v.state == IBV_QPS_INIT) return WAIT;
    if (reads && stall == number_of(qp->v.context) + 1) return WAIT;
    switch (wr->opcode) {
    case IBV_WR_SEND:
        return receive(qp, peer, wr);
    case IBV_WR_RDMA_WRITE:
        if (!allowed(peer->v.context, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, n, IBV_ACCESS_REMOTE_WRITE)) break;
        if (n) gather(wr, place(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr));
        n_write++;
        opcode = IBV_WC_RDMA_WRITE;
        goto done;
    case IBV_WR_RDMA_READ: {
        const char *from;
        if (++n_read == read_err || !allowed(peer->v.context, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, n, IBV_ACCESS_REMOTE_READ)) break;
        from = n ? place(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr) : NULL;
        for (i = 0; i < wr->num_sge && n; from += wr->sg_list[i++].length)
            memmove(place(wr->sg_list[i].lkey, wr->sg_list[i].addr), from, wr->sg_list[i].length);
        opcode = IBV_WC_RDMA_READ;
        last_read = n;
        goto done;
    }
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        if (wr->wr.atomic.remote_addr % 8) return failed(qp, wr, IBV_WC_REM_INV_REQ_ERR);
        if (!allowed(peer->v.context, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, 8, IBV_ACCESS_REMOTE_ATOMIC)) break;
        word = (uint64_t *)place(wr->wr.atomic.rkey, wr->wr.atomic.remote_addr);
        if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            opcode = IBV_WC_FETCH_ADD;
            old = __sync_fetch_and_add(word, wr->wr.atomic.compare_add);
        } else {
            opcode = IBV_WC_COMP_SWAP;
            old = __sync_val_compare_and_swap(word, wr->wr.atomic.compare_add, wr->wr.atomic.swap);
        }
        memcpy(place(wr->sg_list[0].lkey, wr->sg_list[0].addr), &old, sizeof old);
        n_atomic++;
        goto done;
    default:
        return failed(qp, wr, IBV_WC_LOC_QP_OP_ERR);
    }
    stop(peer);
    return failed(qp, wr, IBV_WC_REM_ACCESS_ERR);
done:
    if (wr->send_flags & IBV_SEND_SIGNALED) complete_send(qp, wr, opcode, IBV_WC_SUCCESS);
    return DONE;
}

/* ---- datagrams */

static int chance(long of_1000)
{
    static uint64_t state;
    if (!of_1000) return 0;
    if (!state) state = (uint64_t)seed * 0x9e3779b97f4a7c15 | 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % 1000 < (uint64_t)of_1000;
}

/* What a device writes before a datagram: of IPv4 the first half stays as it was. */
static void write_route(char *to, const char *route)
{
    if ((route[20] & 0xf0) == 0x40) memcpy(to + 20, route + 20, 20);
    else memcpy(to, route, GRH);
}

static void arrive(const struct datagram *d)
{
    struct qp *peer = qps[d->to % MAX_QPS];
    struct srq *queue;
    struct receive *to;
    if (!peer || peer->v.qp_num != d->to || peer->v.qp_type != IBV_QPT_UD || peer->v.state < IBV_QPS_RTR ||
        peer->v.state == IBV_QPS_ERR || peer->attr.qkey != d->key)
        return;
    queue = &peer->own;
    if (queue->head == queue->tail) return;
    to = &queue->ring[queue->head++ % queue->size];
    struct ibv_wc wc = {.wr_id = to->id, .opcode = IBV_WC_RECV, .byte_len = GRH + d->length, .qp_num = d->to, .src_qp = d->from,
                        .wc_flags = d->global ? IBV_WC_GRH : 0, .slid = ethernet ? 0 : d->lid};
    if (wc.byte_len > to->sge.length || !allowed(peer->v.context, to->sge.lkey, to->sge.addr, wc.byte_len, IBV_ACCESS_LOCAL_WRITE)) {
        wc.status = wc.byte_len > to->sge.length ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR;
        complete(peer->v.recv_cq, wc);
        stop(peer);
        return;
    }
    if (d->global) write_route((char *)to->sge.addr, d->data);
    memcpy((char *)to->sge.addr + GRH, d->data + GRH, d->length);
    complete(peer->v.recv_cq, wc);
}

static void travel(const struct datagram *d)
{
    if (chance(drop)) return;
    if (!delayed && chance(late)) {
        delayed = malloc(sizeof *d);
        *delayed = *d;
        return;
    }
    arrive(d);
    if (chance(twice)) arrive(d);
    if (delayed) {
        arrive(delayed);
        free(delayed);
        delayed = NULL;
    }
}

static int same_gid(struct ibv_context *context, int index, const union ibv_gid *gid)
{
    union ibv_gid own;
    return !ibv_query_gid(context, 1, index, &own) && !memcmp(&own, gid, sizeof own);
}

static void send_datagram(struct qp *qp, const struct ibv_send_wr *wr)
{
    const struct ah *ah = (const struct ah *)wr->wr.ud.ah;
    const struct ibv_ah_attr *to = &ah->attr;
    struct datagram d = {.to = wr->wr.ud.remote_qpn, .from = qp->v.qp_num, .key = wr->wr.ud.remote_qkey, .length = total(wr),
                         .lid = LID + number_of(qp->v.context)};
    union ibv_gid own;
    const struct qp *peer = qps[d.to % MAX_QPS];
    int i, known = peer && !ethernet && to->dlid == LID + number_of(peer->v.context);
    if (qp->v.state != IBV_QPS_RTS) {
        failed(qp, wr, IBV_WC_WR_FLUSH_ERR);
        return;
    }
    for (i = 0; i < wr->num_sge && !(wr->send_flags & IBV_SEND_INLINE); i++)
        if (!allowed(qp->v.context, wr->sg_list[i].lkey, wr->sg_list[i].addr, wr->sg_list[i].length, 0)) {
            failed(qp, wr, IBV_WC_LOC_PROT_ERR);
            return;
        }
    if (d.length > (ethernet ? 1024u : 4096u)) {
        failed(qp, wr, IBV_WC_LOC_LEN_ERR);
        return;
    }
    gather(wr, d.data + GRH);
    d.global = to->is_global;
    if (to->is_global && !ibv_query_gid(qp->v.context, 1, to->grh.sgid_index, &own)) {
        if (own.raw[10] == 0xff && !own.global.subnet_prefix) {
            d.data[20] = 0x45;
            memcpy(d.data + 32, own.raw + 12, 4);
            memcpy(d.data + 36, to->grh.dgid.raw + 12, 4);
        } else {
            d.data[0] = 0x60;
            memcpy(d.data + 8, own.raw, 16);
            memcpy(d.data + 24, to->grh.dgid.raw, 16);
        }
        for (i = 0; peer && ethernet && i < 4; i++) known |= same_gid(peer->v.context, i, &to->grh.dgid);
    }
    if (known) travel(&d);
    if (wr->send_flags & IBV_SEND_SIGNALED) complete_send(qp, wr, IBV_WC_SEND, IBV_WC_SUCCESS);
}

static void hold(struct qp *qp, const struct ibv_send_wr *wr)
{
    int is_inline = !!(wr->send_flags & IBV_SEND_INLINE);
    size_t n = is_inline ? total(wr) : 0;
    struct held *held = calloc(1, sizeof *held + n);
    held->wr = *wr;
    memcpy(held->sge, wr->sg_list, wr->num_sge * sizeof *held->sge);
    if (is_inline) {
        gather(wr, held->data);
        held->sge[0] = (struct ibv_sge){(uint64_t)held->data, n, 0};
        held->wr.num_sge = n > 0;
    }
    held->wr.sg_list = held->sge;
    *qp->last = held;
    qp->last = &held->next;
    waiting++;
}

/* Tries again what waits. */
static void kick(void)
{
    unsigned i;
    for (i = 0; waiting && i < MAX_QPS; i++) {
        struct qp *qp = qps[i];
        while (qp && qp->first) {
            struct held *held = qp->first;
            /* Off the list: an error completes all that are on it. */
            if (!(qp->first = held->next)) qp->last = &qp->first;
            if (execute(qp, &held->wr) == WAIT) {
                if (!(held->next = qp->first)) qp->last = &held->next;
                qp->first = held;
                break;
            }
            free(held);
            waiting--;
        }
    }
}

/* An event for one context, or for all. */
static void raise_event(struct ibv_context *only, enum ibv_event_type kind, void *element)
{
    uint64_t one = 1;
    unsigned i;
    for (i = 0; i < MAX_CONTEXTS; i++) {
        if (!contexts[i] || (only && contexts[i] != only)) continue;
        if (events[i].tail - events[i].head == MAX_EVENTS) abort();
        events[i].ring[events[i].tail++ % MAX_EVENTS] = (struct ibv_async_event){{.cq = element}, kind};
        if (write(contexts[i]->async_fd, &one, sizeof one) != sizeof one) abort();
    }
}

static void report_fatal(void)
{
    unsigned i;
    for (i = 0; i < MAX_QPS; i++)
        if (qps[i] && breaks(qps[i]->v.context)) stop(qps[i]);
    for (i = 0; i < MAX_CONTEXTS; i++)
        if (contexts[i] && breaks(contexts[i])) raise_event(contexts[i], IBV_EVENT_DEVICE_FATAL, NULL);
}

static int is_of_pair(enum ibv_event_type kind)
{
    return (kind >= IBV_EVENT_QP_FATAL && kind <= IBV_EVENT_PATH_MIG_ERR) || kind == IBV_EVENT_QP_LAST_WQE_REACHED;
}

static void report_event(struct qp *qp)
{
    enum ibv_event_type kind = event_kind;
    if (is_of_pair(kind)) raise_event(qp->v.context, kind, qp);
    else if (kind == IBV_EVENT_CQ_ERR) raise_event(qp->v.context, kind, qp->v.recv_cq);
    else if (kind == IBV_EVENT_SRQ_ERR) raise_event(qp->v.context, kind, qp->v.srq);
    else {
        if (kind == IBV_EVENT_PORT_ERR) port_state = IBV_PORT_DOWN;
        if (kind == IBV_EVENT_PORT_ACTIVE) port_state = IBV_PORT_ACTIVE;
        raise_event(NULL, kind, (void *)1);
    }
}

static int post_send(struct ibv_qp *v, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct qp *qp = (struct qp *)v;
    int error = 0;
    pthread_mutex_lock(&lock);
    n_doorbell++;
    for (; wr; wr = wr->next) {
        if (v->state < IBV_QPS_RTS || wr->num_sge > (int)qp->attr.cap.max_send_sge ||
            ((wr->send_flags & IBV_SEND_INLINE) && total(wr) > qp->attr.cap.max_inline_data)) {
            *bad = wr;
            error = EINVAL;
            break;
        }
        if (++n_posted == refuse) {
            *bad = wr;
            error = ENOMEM;
            break;
        }
        n_send++;
        n_data[number_of(v->context)] += total(wr);
        if (wr->send_flags & IBV_SEND_SIGNALED) n_signalled++;
        if (send_err && n_send == send_err) failed(qp, wr, IBV_WC_RETRY_EXC_ERR);
        else if (v->qp_type == IBV_QPT_UD) send_datagram(qp, wr);
        else if (qp->first || execute(qp, wr) == WAIT) hold(qp, wr);
        if (fatal && n_send == fatal) report_fatal();
        if (event_at && n_send == event_at) report_event(qp);
    }
    kick();
    pthread_mutex_unlock(&lock);
    return error;
}

static int post_receives(struct srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    int error = 0;
    pthread_mutex_lock(&lock);
    for (; wr; wr = wr->next) {
        if (srq->tail - srq->head == srq->size || wr->num_sge != 1) {
            *bad = wr;
            error = ENOMEM;
            break;
        }
        srq->ring[srq->tail++ % srq->size] = (struct receive){wr->wr_id, wr->sg_list[0]};
    }
    kick();
    pthread_mutex_unlock(&lock);
    return error;
}

static int post_srq_recv(struct ibv_srq *v, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_receives((struct srq *)v, wr, bad);
}

static int post_recv(struct ibv_qp *v, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_receives(&((struct qp *)v)->own, wr, bad);
}

/* ---- the device */

struct ibv_device **ibv_get_device_list(int *count)
{
    int i;
    read_knobs();
    for (i = 0; i < n_devices && i < MAX_DEVICES; i++) {
        sprintf(devices[i].name, "fake%d", i);
        sprintf(devices[i].dev_name, "uverbs%d", i);
        devices[i].node_type = IBV_NODE_CA;
        devices[i].transport_type = IBV_TRANSPORT_IB;
        list[i] = &devices[i];
    }
    *count = i;
    return list;
}

void ibv_free_device_list(struct ibv_device **all) { (void)all; }

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr,
                           size_t size)
{
    uint32_t all = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
    /* As real ones: what the caller has room for is filled. */
    if (input || size < offsetof(struct ibv_device_attr_ex, completion_timestamp_mask)) return EINVAL;
    memset(attr, 0, size);
    attr->odp_caps.general_caps = IBV_ODP_SUPPORT;
    attr->odp_caps.per_transport_caps.rc_odp_caps = all;
    attr->odp_caps.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND;
    return ibv_query_device(context, &attr->orig_attr);
}

struct ibv_context *ibv_open_device(struct ibv_device *opened)
{
    struct verbs_context *extended = calloc(1, sizeof *extended);
    struct ibv_context *context = &extended->context;
    unsigned i;
    if (odp) {
        context->abi_compat = __VERBS_ABI_IS_EXTENDED;
        extended->sz = sizeof *extended;
        extended->query_device_ex = query_device_ex;
        extended->advise_mr = advise;
    }
    context->device = opened;
    context->async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    context->cmd_fd = -1;
    context->num_comp_vectors = 1;
    context->ops.poll_cq = poll_cq;
    context->ops.req_notify_cq = req_notify_cq;
    context->ops.post_send = post_send;
    context->ops.post_recv = post_recv;
    context->ops.post_srq_recv = post_srq_recv;
    pthread_mutex_lock(&lock);
    for (i = 0; contexts[i]; i++)
        if (i == MAX_CONTEXTS - 1) abort();
    contexts[i] = context;
    events[i].head = events[i].tail = 0;
    pthread_mutex_unlock(&lock);
    return context;
}

int ibv_close_device(struct ibv_context *context)
{
    unsigned i;
    pthread_mutex_lock(&lock);
    for (i = 0; contexts[i] != context; i++);
    contexts[i] = NULL;
    pthread_mutex_unlock(&lock);
    close(context->async_fd);
    free((char *)context - offsetof(struct verbs_context, context));
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    memset(attr, 0, sizeof *attr);
    attr->max_mr_size = ~0ul;
    attr->max_qp = MAX_QPS - 32;
    attr->max_qp_wr = 16384;
    attr->max_sge = attr->max_sge_rd = max_sge;
    attr->max_cq = 1024;
    attr->max_cqe = 1 << 20;
    attr->max_mr = MAX_REGIONS - 1;
    attr->max_pd = 1024;
    attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 16;
    attr->atomic_cap = atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
    attr->max_srq = has_srq ? 64 : 0;
    attr->max_srq_wr = has_srq ? 65536 : 0;
    attr->max_srq_sge = has_srq;
    attr->max_pkeys = 1;
    attr->phys_port_cnt = 1;
    return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *out)
{
    struct ibv_port_attr *attr = (void *)out;
    if (port != 1) return EINVAL;
    attr->state = port_state;
    attr->max_mtu = IBV_MTU_4096;
    attr->active_mtu = ethernet ? IBV_MTU_1024 : IBV_MTU_4096;
    attr->gid_tbl_len = ethernet ? 4 : 1;
    attr->max_msg_sz = 1u << 30;
    attr->pkey_tbl_len = 1;
    attr->lid = ethernet ? 0 : LID + number_of(context);
    attr->active_width = 2;
    attr->active_speed = (const long[]){32, speed, third_speed}[number_of(context)];
    attr->link_layer = ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    return 0;
}

/* Ethernet: a link-local IPv6 address and an IPv4 address, each for RoCE v1 and v2. */
int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    if (port != 1 || index >= (ethernet ? 4 : 1)) {
        errno = EINVAL;
        return -1;
    }
    if (only_gid >= 0 && index != only_gid) {
        memset(gid, 0, sizeof *gid);
        return 0;
    }
    gid->global.subnet_prefix = htobe64(0xfe80000000000000);
    gid->global.interface_id = htobe64(0x1122334455667788 + number_of(context));
    if (index >= 2) {
        gid->global.subnet_prefix = 0;
        gid->global.interface_id = htobe64(0x0000ffffc0000201 + number_of(context));
    }
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key)
{
    (void)context;
    if (port != 1 || index) {
        errno = EINVAL;
        return -1;
    }
    *key = htobe16(0xffff);
    return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_SUCCESS: return "success";
    case IBV_WC_RETRY_EXC_ERR: return "transport retry counter exceeded";
    case IBV_WC_WR_FLUSH_ERR: return "Work Request Flushed Error";
    default: return "error";
    }
}

const char *ibv_event_type_str(enum ibv_event_type type)
{
    switch (type) {
    case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
    case IBV_EVENT_PORT_ERR: return "port error";
    case IBV_EVENT_QP_FATAL: return "local work queue catastrophic error";
    default: return "event";
    }
}

int ibv_fork_init(void) { return 0; }
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    uint64_t count;
    unsigned i;
    if (read(context->async_fd, &count, sizeof count) != sizeof count) return -1;
    pthread_mutex_lock(&lock);
    for (i = 0; contexts[i] != context; i++);
    *event = events[i].ring[events[i].head++ % MAX_EVENTS];
    if (is_of_pair(event->event_type)) {
        if (event->element.qp) {
            ((struct qp *)event->element.qp)->events++;
        } else {
            /* Its queue pair is gone. */
            pthread_mutex_unlock(&lock);
            errno = EAGAIN;
            return -1;
        }
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    if (!is_of_pair(event->event_type)) return;
    pthread_mutex_lock(&lock);
    ((struct qp *)event->element.qp)->events--;
    pthread_cond_broadcast(&acknowledged);
    pthread_mutex_unlock(&lock);
}

/* ---- objects */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof *pd);
    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    pthread_mutex_lock(&lock);
    struct ah *ah = take(sizeof *ah);
    pthread_mutex_unlock(&lock);
    ah->attr = *attr;
    ah->v.context = pd->context;
    ah->v.pd = pd;
    return &ah->v;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    pthread_mutex_lock(&lock);
    give_back(ah);
    pthread_mutex_unlock(&lock);
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct channel *channel = calloc(1, sizeof *channel);
    channel->v.context = context;
    channel->v.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    return &channel->v;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    free(channel);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int length, void *argument, struct ibv_comp_channel *channel, int vector)
{
    struct cq *cq = calloc(1, sizeof *cq);
    (void)vector;
    cq->v.context = context;
    cq->v.channel = channel;
    cq->v.cq_context = argument;
    cq->v.cqe = length;
    cq->size = length;
    cq->ring = calloc(length, sizeof *cq->ring);
    return &cq->v;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(((struct cq *)cq)->ring);
    free(cq);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *v, struct ibv_cq **cq, void **argument)
{
    uint64_t count;
    if (read(v->fd, &count, sizeof count) != sizeof count) return -1;
    *cq = &((struct channel *)v)->queue->v;
    *argument = (*cq)->cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) { (void)cq, (void)count; }

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    struct srq *srq = has_srq ? calloc(1, sizeof *srq) : NULL;
    if (!srq) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    srq->v.context = pd->context;
    srq->v.pd = pd;
    srq->size = init->attr.max_wr;
    srq->ring = calloc(srq->size, sizeof *srq->ring);
    return &srq->v;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    free(((struct srq *)srq)->ring);
    free(srq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct qp *qp;
    unsigned tried;
    if ((init->qp_type != IBV_QPT_RC && (init->qp_type != IBV_QPT_UD || init->srq)) || init->cap.max_inline_data > max_inline || init->cap.max_send_sge > max_sge) {
        errno = EINVAL;
        return NULL;
    }
    pthread_mutex_lock(&lock);
    for (tried = 0; tried < MAX_QPS && qps[next_qp % MAX_QPS]; tried++) next_qp++;
    if (tried == MAX_QPS || (fail_qp && ++n_qp == fail_qp)) {
        pthread_mutex_unlock(&lock);
        errno = ENOMEM;
        return NULL;
    }
    init->cap.max_inline_data = max_inline;
    init->cap.max_send_sge = max_sge;
    qp = take(sizeof *qp);
    qp->v.context = pd->context;
    qp->v.pd = pd;
    qp->v.send_cq = init->send_cq;
    qp->v.recv_cq = init->recv_cq;
    qp->v.srq = init->srq;
    qp->v.qp_type = init->qp_type;
    qp->v.state = IBV_QPS_RESET;
    qp->attr.cap = init->cap;
    qp->last = &qp->first;
    if (!init->srq) {
        qp->own.size = init->cap.max_recv_wr;
        qp->own.ring = take(qp->own.size * sizeof *qp->own.ring);
    }
    /* Never the number of one that was there a moment ago. */
    qp->v.qp_num = next_qp++ & 0xffffff;
    qps[qp->v.qp_num % MAX_QPS] = qp;
    pthread_mutex_unlock(&lock);
    return &qp->v;
}

int ibv_modify_qp(struct ibv_qp *v, struct ibv_qp_attr *attr, int mask)
{
    struct qp *qp = (struct qp *)v;
    int error = 0;
    pthread_mutex_lock(&lock);
    if (attr->qp_state != IBV_QPS_ERR && attr->qp_state != v->state + 1) error = EINVAL;
    if (!error && (mask & IBV_QP_DEST_QPN)) qp->attr.dest_qp_num = attr->dest_qp_num;
    if (!error && (mask & IBV_QP_AV)) qp->attr.ah_attr = attr->ah_attr;
    if (!error && (mask & IBV_QP_RQ_PSN)) qp->attr.rq_psn = attr->rq_psn;
    if (!error && (mask & IBV_QP_SQ_PSN)) qp->attr.sq_psn = attr->sq_psn;
    if (!error && (mask & IBV_QP_QKEY)) qp->attr.qkey = attr->qkey;
    if (!error && (mask & IBV_QP_PATH_MTU)) qp->attr.path_mtu = attr->path_mtu;
    if (!error && attr->qp_state == IBV_QPS_ERR) stop(qp);
    else if (!error) v->state = attr->qp_state;
    kick();
    pthread_mutex_unlock(&lock);
    return error;
}

/* Its completions stay in their queue, as those of some devices do. */
int ibv_destroy_qp(struct ibv_qp *v)
{
    struct qp *qp = (struct qp *)v;
    unsigned i, at;
    pthread_mutex_lock(&lock);
    for (i = 0; i < MAX_CONTEXTS; i++)
        for (at = events[i].head; at != events[i].tail; at++)
            if (events[i].ring[at % MAX_EVENTS].element.qp == v) events[i].ring[at % MAX_EVENTS].element.qp = NULL;
    while (qp->events) pthread_cond_wait(&acknowledged, &lock);
    while (qp->first) {
        struct held *held = qp->first;
        qp->first = held->next;
        free(held);
        waiting--;
    }
    qps[v->qp_num % MAX_QPS] = NULL;
    kick();
    give_back(qp->own.ring);
    give_back(qp);
    pthread_mutex_unlock(&lock);
    return 0;
}
