/* Data that does not lie in one piece, sent without a copy of the program's own: an iov is a list of pieces, a generic
 * datatype packs and unpacks by the program's functions. Only the bytes travel, so the receiver may lay them out in
 * another way. */
#include "example.h"

static const char HELP[] = "A process sends lists of buffers and columns of a matrix to its child.";

enum { TAG_TEXT = 1, TAG_COLUMN = 2, ROWS = 50000, COLUMNS = 3 };

static const ucp_tag_t WHOLE_TAG = ~(ucp_tag_t)0;

typedef int matrix_t[ROWS][COLUMNS];

/* ---- A generic datatype: `count` ints, each COLUMNS ints after the one before ---- */

typedef struct {
    char *first;
    size_t length; /* packed */
} column_t;

/* Where byte `at` of the packed column lies. The library cuts where it likes, also within an int. */
static char *place(const column_t *column, size_t at)
{
    return column->first + at / sizeof(int) * sizeof(int[COLUMNS]) + at % sizeof(int);
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    column_t *column = malloc(sizeof(*column));

    (void)context;
    if (column == NULL) {
        fail("malloc", "no memory");
    }
    *column = (column_t){.first = buffer, .length = count * sizeof(int)};
    return column;
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return start_unpack(context, (void *)buffer, count);
}

static size_t packed_size(void *state)
{
    return ((column_t *)state)->length;
}

/* Writes the packed bytes from `offset` on, as many as there are and fit; returns their number. */
static size_t pack(void *state, size_t offset, void *dest, size_t max_length)
{
    column_t *column = state;
    size_t left = column->length - offset, length = left < max_length ? left : max_length;

    for (size_t i = 0; i < length; ++i) {
        ((char *)dest)[i] = *place(column, offset + i);
    }
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *source, size_t length)
{
    column_t *column = state;

    if (offset > column->length || length > column->length - offset) {
        return UCS_ERR_MESSAGE_TRUNCATED;
    }
    for (size_t i = 0; i < length; ++i) {
        *place(column, offset + i) = ((const char *)source)[i];
    }
    return UCS_OK;
}

static const ucp_generic_dt_ops_t COLUMN_OPS = {.start_pack = start_pack,
                                                .start_unpack = start_unpack,
                                                .packed_size = packed_size,
                                                .pack = pack,
                                                .unpack = unpack,
                                                .finish = free};

/* ---- Both processes ---- */

static void send_or_receive(side_t *side, void *buffer, size_t count, ucp_tag_t tag, ucp_datatype_t datatype)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = datatype};

    if (side->child != 0) {
        finish(side, ucp_tag_send_nbx(side->ep, buffer, count, tag, &param), "ucp_tag_send_nbx");
    } else {
        finish(side, ucp_tag_recv_nbx(side->worker, buffer, count, tag, WHOLE_TAG, &param), "ucp_tag_recv_nbx");
    }
}

static void iov(side_t *side)
{
    char name[] = "matrix", unit[] = ", metres", together[16] = "";
    ucp_dt_iov_t pieces[] = {{name, sizeof(name) - 1}, {unit, sizeof(unit)}};
    ucp_dt_iov_t halves[] = {{together, 4}, {together + 4, sizeof(together) - 4}};

    if (side->child != 0) {
        send_or_receive(side, pieces, 2, TAG_TEXT, ucp_dt_make_iov());
    } else {
        send_or_receive(side, halves, 2, TAG_TEXT, ucp_dt_make_iov());
        if (strcmp(together, "matrix, metres") != 0) {
            fail("iov", "wrong text");
        }
    }
}

static void columns(side_t *side)
{
    matrix_t *matrix = calloc(1, sizeof(*matrix));
    ucp_datatype_t column;

    if (matrix == NULL) {
        fail("malloc", "no memory");
    }
    check(ucp_dt_create_generic(&COLUMN_OPS, NULL, &column), "ucp_dt_create_generic");
    for (int row = 0; row < ROWS && side->child != 0; ++row) {
        (*matrix)[row][0] = row;
    }
    /* From the first column of the parent's matrix to the last of the child's. */
    send_or_receive(side, &(*matrix)[0][side->child != 0 ? 0 : COLUMNS - 1], ROWS, TAG_COLUMN, column);
    for (int row = 0; row < ROWS && side->child == 0; ++row) {
        if ((*matrix)[row][COLUMNS - 1] != row || (*matrix)[row][0] != 0) {
            fail("column", "wrong numbers");
        }
    }
    ucp_dt_destroy(column);
    free(matrix);
}

int main(int argc, char **argv)
{
    side_t side;
    int status;

    read_options(argc, argv, HELP);
    fork_peer(&side);
    open_side(&side, UCP_FEATURE_TAG);
    connect_by_channel(&side, UCP_ERR_HANDLING_MODE_PEER);
    iov(&side);
    columns(&side);
    if ((status = part(&side)) == EXIT_SUCCESS && side.child != 0) {
        printf("the child has a text of two buffers and a column of %d numbers\n", ROWS);
    }
    return status;
}
