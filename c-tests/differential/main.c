/* Runs programs of UCP calls that follow from their seeds, in several processes, and writes what came out.
 *
 *     differential FIRST COUNT FOLDER
 *
 * COUNT programs from seed FIRST on, all of one block (plan.h); process r writes FOLDER/r, one line an
 * operation and "end SEED" after each program. The same seeds on another library have to give the same files.
 * DIFFERENTIAL_BREAK=SEED falsifies one received byte of that program: the test of the comparison.
 * DIFFERENTIAL_OTHER=FOLDER has the libraries of processes 1 and 3, DIFFERENTIAL_TLS, DIFFERENTIAL_DEVICE and
 * DIFFERENTIAL_RNDV_THRESH what they all use then (tests/interop). DIFFERENTIAL_RELEASE=MINOR: plans are drawn around
 * what release 1.MINOR gets wrong, too.
 * Exit status 0: all ran; 1: something cannot be; 3: a program did not end. */
#define _GNU_SOURCE
#include "family.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

round_t current;
run_t acting[MAX_OPS], reacting[MAX_OPS];

static const char *const names[] = {"tag_send", "tag_recv", "am",      "stream_send", "stream_recv", "put",     "get",
                                    "put_twice", "put_get", "atomic", "atomics",     "fence",       "ep_flush"};

void note(run_t *run, const char *format, ...)
{
    size_t used = strlen(run->text);
    va_list args;

    va_start(args, format);
    vsnprintf(run->text + used, sizeof(run->text) - used, format, args);
    va_end(args);
}

static void post(const op_t *op, run_t *run)
{
    ucp_request_param_t param;

    switch (op->kind) {
    case TAG_SEND:
        tag_send_post(op, run);
        break;
    case TAG_RECV:
        tag_recv_post(op, run);
        break;
    case AM_SEND:
        am_post(op, run);
        break;
    case STREAM_SEND:
        stream_send_post(op, run);
        break;
    case STREAM_RECV:
        stream_recv_post(op, run);
        break;
    case FENCE:
        note(run, " %d", ucp_worker_fence(world.nodes[op->node].worker));
        break;
    case EP_FLUSH:
        call_open(&run->call, ENDS_SEND, 0, &param, NULL);
        call_posted(&run->call, ucp_ep_flush_nbx(world.nodes[op->node].eps[op->peer], &param));
        break;
    case AMO:
    case AMO_SEQUENCE:
        atomic_post(op, run);
        break;
    default:
        transfer_post(op, run);
    }
}

/* Whether this process has nothing to wait for in operation `i`. */
static int done(unsigned i)
{
    const op_t *op = &current.ops[i];
    run_t *run = &acting[i];
    int all = 1;

    if (op->kind == AM_SEND) {
        all = !world_is_mine(op->peer) || am_receiver_done(op, &reacting[i]);
        return (!world_is_mine(op->node) || am_sender_done(op, run)) && all;
    }
    if (!world_is_mine(op->node)) {
        return 1;
    }
    if (op->kind == STREAM_RECV) {
        return stream_recv_done(op, run);
    }
    return !run->call.posted || call_done(&run->call);
}

static void show_pending(void)
{
    const op_t *op;
    unsigned i;

    for (i = 0; i < current.count; ++i) {
        op = &current.ops[i];
        if (!done(i)) {
            fprintf(stderr, "  waits: op %u %s node %u peer %u phase %u form %u match %d length %zu attributes 0x%x"
                    " posted %d got %zu turns %u all %d:%s%s\n",
                    i, names[op->kind], op->node, op->peer, op->phase, op->form, op->match, op->length,
                    op->attributes, acting[i].call.posted, acting[i].got, acting[i].turns, op->stream.wait_all,
                    acting[i].text, reacting[i].text);
        }
    }
}

static void wait_all(void)
{
    unsigned i, left;

    do {
        world_progress();
        for (i = left = 0; i < current.count; ++i) {
            left += !done(i);
        }
    } while (left);
}

static void note_actor(const op_t *op, run_t *run)
{
    switch (op->kind) {
    case TAG_SEND:
        tag_send_note(op, run);
        break;
    case TAG_RECV:
        tag_recv_note(op, run);
        break;
    case AM_SEND:
        am_sender_note(op, run);
        break;
    case STREAM_RECV:
        stream_recv_note(op, run);
        break;
    case STREAM_SEND:
        note(run, " %d callbacks %s dt %d bytes %016lx", run->call.status, call_callbacks(&run->call),
             buffer_callbacks_right(&run->buffer), (unsigned long)buffer_hash(&run->buffer));
        break;
    case FENCE:
        break;
    case EP_FLUSH:
    case AMO:
    case AMO_SEQUENCE:
        atomic_note(op, run);
        break;
    default:
        transfer_note(op, run);
    }
}

static int is_remote(const op_t *op)
{
    return op->kind >= PUT && op->kind <= AMO_SEQUENCE;
}

static void print_line(unsigned i, const char *side, unsigned node, unsigned other, run_t *run)
{
    const op_t *op = &current.ops[i];

    fprintf(world.out, "%lu.%u.%u process %u %s%s %u-%u form %u phase %u attributes 0x%x layout %u/%u/%u length %zu:%s\n",
            (unsigned long)world.seed, world.round, i, world.rank, names[op->kind], side, node, other, op->form,
            op->phase, op->attributes, op->layout.kind, op->layout.a, op->layout.b, op->length, run->text);
}

static void note_and_close(void)
{
    const op_t *op;
    unsigned i;

    for (i = 0; i < current.count; ++i) {
        op = &current.ops[i];
        if (world_is_mine(op->node)) {
            note_actor(op, &acting[i]);
            print_line(i, "", op->node, op->peer, &acting[i]);
        }
        if (op->kind == AM_SEND && world_is_mine(op->peer)) {
            am_receiver_note(op, &reacting[i]);
            print_line(i, " arrives", op->peer, op->node, &reacting[i]);
        } else if (is_remote(op) && world_is_mine(op->peer)) {
            remote_note_owner(op, &reacting[i]);
            print_line(i, " owner", op->peer, op->node, &reacting[i]);
        }
    }
    for (i = 0; i < current.count; ++i) {
        op = &current.ops[i];
        if (op->kind == AM_SEND) {
            am_close(op, &acting[i], &reacting[i]);
        } else if (op->kind == STREAM_RECV && world_is_mine(op->node)) {
            stream_recv_close(op, &acting[i]);
        } else if (world_is_mine(op->node)) {
            call_close(&acting[i].call);
            buffer_close(&acting[i].buffer);
        }
    }
    world.arena_used = 0;
}

static void run_round(void)
{
    const op_t *op;
    unsigned i, phase;

    memset(acting, 0, sizeof(acting));
    memset(reacting, 0, sizeof(reacting));
    am_expect();
    for (phase = 0; phase < 3; ++phase) {
        world_barrier(); /* all handlers are set; all of the phase before is issued */
        for (i = 0; i < current.count; ++i) {
            op = &current.ops[i];
            if (phase == 1 && op->kind == TAG_SEND && world_is_mine(op->node) && op->form >= FORM_SYNC_NBX &&
                op->form <= FORM_SYNC_NB && current.ops[op->match].phase >= 1) {
                acting[i].early = call_done(&acting[i].call);
            }
        }
        if (phase == 1) {
            world_barrier();
        }
        for (i = 0; i < current.count; ++i) {
            op = &current.ops[i];
            if (!world_is_mine(op->node)) {
                continue;
            }
            if (op->phase == phase) {
                post(op, &acting[i]);
            } else if (phase == 2 && op->kind == TAG_RECV) {
                tag_recv_cancel(op, &acting[i]);
            }
        }
    }
    wait_all();
    if (current.remote_memory) {
        remote_flush(current.flush_form);
    }
    for (i = 0; i < current.count; ++i) {
        if (world_is_mine(current.ops[i].node)) {
            remote_note_pointer(&current.ops[i], &acting[i]);
        }
    }
    world_barrier();
    note_and_close();
}

static void run_program(uint64_t seed, uint64_t broken)
{
    unsigned rounds = plan_rounds(seed);

    world_fill_regions(); /* the first barrier comes before anybody writes to them */
    world.break_byte = seed == broken;
    for (world.round = 0; world.round < rounds; ++world.round) {
        plan_round(&current, &world.config, seed, world.round);
        run_round();
    }
    fprintf(world.out, "end %lu\n", (unsigned long)seed);
    fflush(world.out);
}

static int run_process(uint64_t first, unsigned count, const char *folder)
{
    const char *broken = getenv("DIFFERENTIAL_BREAK");
    char path[1024];
    uint64_t seed;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(path, sizeof(path), "%s/%u", folder, world.rank);
    world.out = fopen(path, "w");
    if (!world.out) {
        STOP("%s: %s", path, strerror(errno));
    }
    world.seed = first;
    world_start_watch();
    world_open();
    for (seed = first; seed < first + count; ++seed) {
        world.seed = seed;
        atomic_store(&world.shared->seed, seed);
        world_start_watch();
        if (seed == first || seed % PROGRAMS_PER_GENERATION == 0) {
            world_open_generation();
        }
        run_program(seed, broken ? strtoull(broken, NULL, 10) : UINT64_MAX);
        if (seed + 1 == first + count || (seed + 1) % PROGRAMS_PER_GENERATION == 0) {
            world.round = 1000; /* that is, between the programs */
            world_close_generation();
        }
    }
    world_close();
    fclose(world.out);
    return 0;
}

static void show_config(void)
{
    const config_t *config = &world.config;

    fprintf(stderr, "  UCX_TLS=%s RNDV_THRESH=%s RNDV_SCHEME=%s ZCOPY_THRESH=%s processes %u nodes %u multi %d wakeup %d"
            " alignment %zu regions %zu\n", config->tls, config->rndv_thresh ? config->rndv_thresh : "-",
            config->rndv_scheme ? config->rndv_scheme : "-", config->zcopy_thresh ? config->zcopy_thresh : "-",
            config->processes, config->nodes, config->multi, config->wakeup, config->am_alignment,
            config->region_length);
}

/* Ends all when one fails. */
static int wait_for(pid_t *children)
{
    int status, result = 0;
    unsigned i, rank, left = world.config.processes;
    pid_t pid;

    while (left > 0) {
        pid = wait(&status);
        for (i = 0; i < world.config.processes && children[i] != pid; ++i) {
        }
        children[i] = 0;
        rank = i;
        left--;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            continue;
        }
        if (!result) {
            result = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGALRM ? 3 : 128 + WTERMSIG(status);
            fprintf(stderr, "seed %lu: process %u ended with wait status 0x%x\n",
                    (unsigned long)atomic_load(&world.shared->seed), rank, status);
            show_config();
            usleep(200000); /* others may have a word to say about it */
            for (i = 0; i < world.config.processes; ++i) {
                if (children[i]) {
                    kill(children[i], SIGKILL);
                }
            }
        }
    }
    return result;
}

static void set(const char *name, const char *value)
{
    if (value) {
        setenv(name, value, 1);
    }
}

/* Begins this program again as process `rank`, on the libraries of the folder `other`. */
static void begin_again(char **argv, const char *other, unsigned rank, int shared)
{
    char number[2][16];

    snprintf(number[0], sizeof(number[0]), "%u", rank);
    snprintf(number[1], sizeof(number[1]), "%d", shared);
    set("DIFFERENTIAL_RANK", number[0]);
    set("DIFFERENTIAL_SHARED", number[1]);
    set("LD_LIBRARY_PATH", other);
    execv("/proc/self/exe", argv);
    STOP("%s: %s", argv[0], strerror(errno));
}

int main(int argc, char **argv)
{
    const char *other = getenv("DIFFERENTIAL_OTHER"), *rank = getenv("DIFFERENTIAL_RANK");
    const char *device = getenv("DIFFERENTIAL_DEVICE"), *rndv_thresh = getenv("DIFFERENTIAL_RNDV_THRESH");
    pid_t children[MAX_PROCESSES];
    uint64_t first;
    unsigned i;
    int shared;

    if (argc != 4) {
        fprintf(stderr, "usage: %s FIRST COUNT FOLDER\n", argv[0]);
        return 2;
    }
    first = strtoull(argv[1], NULL, 10);
    world.config = plan_config(first);
    world.show_pending = show_pending;
    shared = rank ? atoi(getenv("DIFFERENTIAL_SHARED")) : memfd_create("differential", 0);
    if (shared < 0 || (!rank && ftruncate(shared, sizeof(*world.shared)) != 0)) {
        return 2;
    }
    world.shared = mmap(NULL, sizeof(*world.shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (world.shared == MAP_FAILED) {
        return 2;
    }
    set("UCX_TLS", world.config.tls);
    set("UCX_NET_DEVICES", device ? device : "lo");
    set("UCX_RNDV_THRESH", rndv_thresh ? rndv_thresh : world.config.rndv_thresh);
    set("UCX_RNDV_SCHEME", world.config.rndv_scheme);
    set("UCX_ZCOPY_THRESH", world.config.zcopy_thresh);
    if (rank) {
        world.rank = atoi(rank);
        return run_process(first, strtoul(argv[2], NULL, 10), argv[3]);
    }
    for (i = 0; i < world.config.processes; ++i) {
        children[i] = fork();
        if (children[i] == 0) {
            world.rank = i;
            if (other && i % 2) {
                begin_again(argv, other, i, shared);
            }
            exit(run_process(first, strtoul(argv[2], NULL, 10), argv[3]));
        }
    }
    return wait_for(children);
}
