/* Remote memory: puts, gets, atomics, in all forms; fences and flushes between and after. Ranges of a round do
 * not overlap, so what is in them afterwards does not depend on time; nor do atomics that commute. */
#include "family.h"

/* The operands' operation on a local value: what the remote one becomes. */
static uint64_t apply(int opcode, uint64_t value, uint64_t operand, uint64_t second, unsigned size)
{
    uint64_t limit = size == 4 ? 0xffffffffull : ~0ull;

    operand &= limit;
    second &= limit;
    switch (opcode) {
    case UCP_ATOMIC_OP_ADD:
        return (value + operand) & limit;
    case UCP_ATOMIC_OP_SWAP:
        return operand;
    case UCP_ATOMIC_OP_CSWAP:
        return value == operand ? second : value;
    case UCP_ATOMIC_OP_AND:
        return value & operand;
    case UCP_ATOMIC_OP_OR:
        return value | operand;
    default:
        return value ^ operand;
    }
}

static uint64_t address_of(const op_t *op)
{
    return world.shared->nodes[op->peer].base[op->rma.region] + op->rma.offset;
}

static void transfer(const op_t *op, run_t *run, int put)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    ucp_rkey_h rkey = world.nodes[op->node].rkeys[op->peer][op->rma.region];
    buffer_t *buffer = &run->buffer;
    uint64_t address = address_of(op);
    ucp_request_param_t param;
    ucs_status_t status;

    switch (op->form) {
    case FORM_NBX:
        call_open(&run->call, ENDS_SEND, op->attributes, &param, buffer);
        call_posted(&run->call, put ? ucp_put_nbx(ep, buffer->pointer, buffer->count, address, rkey, &param)
                                    : ucp_get_nbx(ep, buffer->pointer, buffer->count, address, rkey, &param));
        return;
    case FORM_NB:
        call_open_old(&run->call, ENDS_SEND);
        call_posted(&run->call,
                    put ? ucp_put_nb(ep, buffer->pointer, buffer->count, address, rkey, old_send_callback)
                        : ucp_get_nb(ep, buffer->pointer, buffer->count, address, rkey, old_send_callback));
        return;
    case FORM_NBR: /* ends with the flush */
        status = put ? ucp_put_nbi(ep, buffer->pointer, buffer->count, address, rkey)
                     : ucp_get_nbi(ep, buffer->pointer, buffer->count, address, rkey);
        status = status == UCS_INPROGRESS ? UCS_OK : status;
        break;
    default:
        status = put ? ucp_put(ep, buffer->pointer, buffer->count, address, rkey)
                     : ucp_get(ep, buffer->pointer, buffer->count, address, rkey);
    }
    call_open_old(&run->call, ENDS_SEND);
    call_posted(&run->call, UCS_STATUS_PTR(status));
}

static void renew(run_t *run)
{
    call_wait(&run->call);
    note(run, " %d callbacks %s", run->call.status, call_callbacks(&run->call));
    call_close(&run->call);
}

static void flush(const op_t *op, run_t *run)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    note(run, " flush %d", world_wait(ucp_ep_flush_nbx(world.nodes[op->node].eps[op->peer], &param)));
}

/* What comes after this comes later at the peer. A fence may wait for the peer in upstream's library. */
static void put_in_order(const op_t *op, run_t *run)
{
    if (world.config.blocking) {
        note(run, " fence %d", ucp_worker_fence(world.nodes[op->node].worker));
    } else {
        flush(op, run);
    }
}

void transfer_post(const op_t *op, run_t *run)
{

    buffer_open(&run->buffer, op->layout, op->length, op->key);
    if (op->kind != GET) {
        buffer_fill(&run->buffer, op->key);
    }
    transfer(op, run, op->kind != GET);
    if (op->kind == PUT_TWICE) {
        /* The second wins; the first buffer is still in use by a put that ends with the flush. */
        renew(run);
        if (op->form == FORM_NBR) {
            flush(op, run);
        }
        put_in_order(op, run);
        buffer_fill(&run->buffer, op->key + 1);
        transfer(op, run, 1);
    } else if (op->kind == PUT_GET) {
        renew(run);
        flush(op, run);
        buffer_fill(&run->buffer, op->key + 1);
        transfer(op, run, 0);
    }
}

void remote_note_pointer(const op_t *op, run_t *run)
{
    void *pointer;

    if (op->kind == GET && op->layout.kind == CONTIG && run->call.status == UCS_OK &&
        ucp_rkey_ptr(world.nodes[op->node].rkeys[op->peer][op->rma.region], address_of(op), &pointer) == UCS_OK &&
        memcmp(pointer, run->buffer.memory, op->length)) {
        note(run, " the pointer shows something else");
    }
}

void transfer_note(const op_t *op, run_t *run)
{
    note(run, " %d callbacks %s bytes %016lx", run->call.status, call_callbacks(&run->call),
         (unsigned long)buffer_hash(&run->buffer));
}

static int post_opcode(int opcode)
{
    return opcode == UCP_ATOMIC_OP_ADD ? UCP_ATOMIC_POST_OP_ADD : opcode == UCP_ATOMIC_OP_AND ? UCP_ATOMIC_POST_OP_AND :
           opcode == UCP_ATOMIC_OP_OR ? UCP_ATOMIC_POST_OP_OR : UCP_ATOMIC_POST_OP_XOR;
}

static int fetch_opcode(int opcode)
{
    static const int fetch[] = {
        [UCP_ATOMIC_OP_ADD] = UCP_ATOMIC_FETCH_OP_FADD,  [UCP_ATOMIC_OP_SWAP] = UCP_ATOMIC_FETCH_OP_SWAP,
        [UCP_ATOMIC_OP_CSWAP] = UCP_ATOMIC_FETCH_OP_CSWAP, [UCP_ATOMIC_OP_AND] = UCP_ATOMIC_FETCH_OP_FAND,
        [UCP_ATOMIC_OP_OR] = UCP_ATOMIC_FETCH_OP_FOR,   [UCP_ATOMIC_OP_XOR] = UCP_ATOMIC_FETCH_OP_FXOR,
    };
    return fetch[opcode];
}

/* The calls that block exist for some operations only; the others go by ..._nbx. */
static int atomic_blocking(ucp_ep_h ep, ucp_rkey_h rkey, uint64_t address, unsigned size, int opcode, int fetch,
                           run_t *run, ucs_status_t *status)
{
    uint32_t result = 0;

    if (opcode == UCP_ATOMIC_OP_ADD && !fetch) {
        *status = size == 4 ? ucp_atomic_add32(ep, run->operand, address, rkey)
                            : ucp_atomic_add64(ep, run->operand, address, rkey);
    } else if (opcode == UCP_ATOMIC_OP_ADD) {
        *status = size == 4 ? ucp_atomic_fadd32(ep, run->operand, address, rkey, &result)
                            : ucp_atomic_fadd64(ep, run->operand, address, rkey, &run->result);
    } else if (opcode == UCP_ATOMIC_OP_SWAP) {
        *status = size == 4 ? ucp_atomic_swap32(ep, run->operand, address, rkey, &result)
                            : ucp_atomic_swap64(ep, run->operand, address, rkey, &run->result);
    } else if (opcode == UCP_ATOMIC_OP_CSWAP) {
        *status = size == 4 ? ucp_atomic_cswap32(ep, run->operand, run->second, address, rkey, &result)
                            : ucp_atomic_cswap64(ep, run->operand, run->second, address, rkey, &run->result);
    } else {
        return 0;
    }
    run->result = size == 4 ? result : run->result;
    return 1;
}

static void atomic(const op_t *op, run_t *run, int opcode, int fetch)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    ucp_rkey_h rkey = world.nodes[op->node].rkeys[op->peer][op->rma.region];
    uint64_t address = address_of(op);
    unsigned size = op->rma.size;
    ucp_request_param_t param;
    ucs_status_t status;

    run->result = opcode == UCP_ATOMIC_OP_CSWAP ? run->second : 0;
    if (op->form == FORM_BLOCKING && atomic_blocking(ep, rkey, address, size, opcode, fetch, run, &status)) {
        call_open_old(&run->call, ENDS_SEND);
        call_posted(&run->call, UCS_STATUS_PTR(status));
    } else if (op->form == FORM_NB && fetch) {
        call_open_old(&run->call, ENDS_SEND);
        call_posted(&run->call, ucp_atomic_fetch_nb(ep, fetch_opcode(opcode), run->operand, &run->result, size,
                                                    address, rkey, old_send_callback));
    } else if (op->form == FORM_NB) {
        call_open_old(&run->call, ENDS_SEND);
        status = ucp_atomic_post(ep, post_opcode(opcode), run->operand, size, address, rkey);
        call_posted(&run->call, UCS_STATUS_PTR(status == UCS_INPROGRESS ? UCS_OK : status));
    } else {
        call_open(&run->call, ENDS_SEND, op->attributes, &param, NULL);
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = ucp_dt_make_contig(size);
        if (fetch) {
            param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
            param.reply_buffer = &run->result;
        }
        call_posted(&run->call, ucp_atomic_op_nbx(ep, opcode, &run->operand, 1, address, rkey, &param));
    }
}

/* One after the other on a cell that nobody else touches: every value that comes back is known. */
static void sequence(const op_t *op, run_t *run)
{
    numbers_t numbers = {mix(op->key)};
    uint64_t value = 0;
    int opcode, fetch, known = 0;
    unsigned i;

    for (i = 0; i < op->rma.count; ++i) {
        opcode = below(&numbers, UCP_ATOMIC_OP_LAST);
        fetch = opcode == UCP_ATOMIC_OP_SWAP || opcode == UCP_ATOMIC_OP_CSWAP || percent(&numbers, 60);
        run->operand = percent(&numbers, 20) ? ~0ull : draw(&numbers);
        run->second = draw(&numbers);
        if (opcode == UCP_ATOMIC_OP_CSWAP && known && percent(&numbers, 70)) {
            run->operand = value;
        }
        atomic(op, run, opcode, fetch);
        renew(run);
        if (fetch) {
            buffer_break((unsigned char *)&run->result, op->rma.size);
            note(run, " %d:%lx", opcode, (unsigned long)run->result);
            value = run->result;
            known = 1;
        } else {
            put_in_order(op, run);
        }
        value = apply(opcode, value, run->operand, run->second, op->rma.size);
    }
    call_open_old(&run->call, ENDS_SEND);
    call_posted(&run->call, NULL);
}

void atomic_post(const op_t *op, run_t *run)
{
    if (op->kind == AMO_SEQUENCE) {
        sequence(op, run);
    } else {
        run->operand = op->key;
        atomic(op, run, op->rma.opcode, op->rma.fetch);
    }
}

void atomic_note(const op_t *op, run_t *run)
{
    note(run, " %d callbacks %s", run->call.status, call_callbacks(&run->call));
}

void remote_flush(unsigned form)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    unsigned i, peer;
    node_t *node;

    for (i = 0; i < world.config.nodes; ++i) {
        if (!world_is_mine(i)) {
            continue;
        }
        node = &world.nodes[i];
        if (form == 0) {
            MUST(world_wait(ucp_worker_flush_nbx(node->worker, &param)));
        } else if (form == 2) {
            MUST(ucp_worker_flush(node->worker));
        }
        for (peer = 0; peer < world.config.nodes; ++peer) {
            if (form == 1) {
                MUST(world_wait(ucp_ep_flush_nbx(node->eps[peer], &param)));
            } else if (form == 3) {
                MUST(ucp_ep_flush(node->eps[peer]));
            }
        }
    }
}

void remote_note_owner(const op_t *op, run_t *run)
{
    unsigned char *region = world.nodes[op->peer].region[op->rma.region];
    size_t from = op->rma.offset, length = op->length;

    if (op->kind == AMO || op->kind == AMO_SEQUENCE) {
        length = 8;
    } else { /* and what is around it */
        from -= 8;
        length += 16;
    }
    if (from + length > world.config.region_length) {
        length = world.config.region_length - from;
    }
    note(run, " memory %016lx", (unsigned long)bytes_hash(0, region + from, length));
}
