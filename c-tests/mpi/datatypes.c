/* Messages of derived datatypes, short and long, against what packing and unpacking them in one process gives;
 * other types on the two sides; parts of a datatype; too little room. */
#include "mpi_check.h"

#include <stddef.h>

typedef struct {
    char letter;
    double number;
    int few[3];
    short last;
} record_t;

enum { TYPES = 8, LONGEST = 3000000 };
static const char *const names[TYPES] = {"contiguous", "vector", "hvector of vectors", "indexed", "blocks",
                                         "struct",     "subarray", "backwards"};
static MPI_Datatype types[TYPES];

static void make_types(void)
{
    static const int lengths[] = {3, 0, 1, 7, 2}, at[] = {20, 0, 17, 1, 40}, equal[] = {90, 5, 30, 60};
    static const int whole[] = {9, 10, 11}, taken[] = {4, 5, 6}, first[] = {2, 3, 4};
    static const int blocks[] = {1, 1, 3, 1};
    static const MPI_Aint places[] = {offsetof(record_t, letter), offsetof(record_t, number),
                                      offsetof(record_t, few), offsetof(record_t, last)};
    MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT}, inner;
    int i;

    MPI_Type_contiguous(13, MPI_INT, &types[0]);
    MPI_Type_vector(11, 3, 5, MPI_INT, &types[1]);
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &inner);
    MPI_Type_create_hvector(6, 1, 37, inner, &types[2]);
    MPI_Type_free(&inner);
    MPI_Type_indexed(5, lengths, at, MPI_DOUBLE, &types[3]);
    MPI_Type_create_indexed_block(4, 4, equal, MPI_CHAR, &types[4]);
    MPI_Type_create_struct(4, blocks, places, parts, &inner);
    MPI_Type_create_resized(inner, 0, sizeof(record_t), &types[5]);
    MPI_Type_free(&inner);
    MPI_Type_create_subarray(3, whole, taken, first, MPI_ORDER_C, MPI_FLOAT, &types[6]);
    MPI_Type_create_hvector(5, 2, -16, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -64, 80, &types[7]);
    MPI_Type_free(&inner);
    for (i = 0; i < TYPES; ++i) {
        MPI_Type_commit(&types[i]);
    }
}

/* `count` of a type to the right: as it is, packed before, and unpacked after. */
static void around(int which, int count)
{
    MPI_Datatype type = types[which];
    MPI_Aint low, extent;
    MPI_Request request;
    MPI_Status status;
    int packed_size, used, got, way;
    char *out, *in, *expected, *packed;
    size_t span, origin;

    MPI_Type_get_extent(type, &low, &extent);
    while ((size_t)count * extent > LONGEST) {
        count /= 2;
    }
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &packed_size);
    span = (size_t)extent * count + 4096;
    origin = 2048;
    out = room(span);
    in = room(span);
    expected = room(span);
    packed = room(packed_size);
    for (way = 0; way < 3; ++way) {
        if ((way == 1) && !strcmp(names[which], "struct")) {
            /* MPICH 4.0 calls such a message too long, with every UCX. */
            continue;
        }
        fill(expected, span, 99);
        fill(in, span, 99);
        /* What the left one has, through a buffer of this process. */
        fill(out, span, previous() + which);
        used = 0;
        MPI_Pack(out + origin, count, type, packed, packed_size, &used, MPI_COMM_WORLD);
        got = 0;
        MPI_Unpack(packed, used, &got, expected + origin, count, type, MPI_COMM_WORLD);
        fill(out, span, rank + which);
        if (way == 1) {
            used = 0;
            MPI_Pack(out + origin, count, type, packed, packed_size, &used, MPI_COMM_WORLD);
            MPI_Isend(packed, used, MPI_PACKED, next(), way, MPI_COMM_WORLD, &request);
        } else {
            MPI_Isend(out + origin, count, type, next(), way, MPI_COMM_WORLD, &request);
        }
        if (way == 2) {
            char *bytes = room(packed_size);

            MPI_Recv(bytes, packed_size, MPI_PACKED, previous(), way, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_PACKED, &used);
            got = 0;
            MPI_Unpack(bytes, used, &got, in + origin, count, type, MPI_COMM_WORLD);
            free(bytes);
        } else {
            MPI_Recv(in + origin, count, type, previous(), way, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, type, &got);
            CHECK_EQ(got, count);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (memcmp(in, expected, span)) {
            FAIL("%d of type %s, way %d: other bytes arrived", count, names[which], way);
        }
    }
    free(out);
    free(in);
    free(expected);
    free(packed);
}

/* Fewer than there is room for, and not a whole number of the receiver's type. */
static void parts_of_one(void)
{
    static int out[70000], in[70000];
    MPI_Datatype pair;
    MPI_Status status;
    int count, i, n;

    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (n = 1; n < 20000; n = n * 3 + 2) {
        for (i = 0; i < n; ++i) {
            out[i] = rank + i;
        }
        MPI_Sendrecv(out, n, MPI_INT, next(), 1, in, 20000, pair, previous(), 1, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, pair, &count);
        CHECK_EQ(count, n);
        MPI_Get_count(&status, pair, &count);
        CHECK_EQ(count, n % 2 ? MPI_UNDEFINED : n / 2);
        for (i = 0; i < n; ++i) {
            CHECK_EQ(in[i / 2 * 3 + i % 2 * 2], previous() + i);
        }
    }
    MPI_Type_free(&pair);
}

static void too_little_room(void)
{
    static int out[100000], in[100000];
    MPI_Request request;
    MPI_Datatype every_other;
    int n, error, class;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(1, 1, 1, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (n = 10; n <= 100000; n *= 10) {
        MPI_Isend(out, n, MPI_INT, next(), 2, MPI_COMM_WORLD, &request);
        error = MPI_Recv(in, n / 2, every_other, previous(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(error, &class);
        CHECK_EQ(class, MPI_ERR_TRUNCATE);
        CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    MPI_Type_free(&every_other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Every rank's column of a matrix to all others. */
static void collective(void)
{
    enum { ROWS = 300 };
    int *mine = room(ROWS * ranks * sizeof(int)), *all = room(ROWS * ranks * sizeof(int)), r, i;
    MPI_Datatype column, narrow;

    MPI_Type_vector(ROWS, 1, ranks, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_commit(&narrow);
    for (r = 0; r < ranks; ++r) {
        for (i = 0; i < ROWS; ++i) {
            mine[i * ranks + r] = rank * 100000 + r * 1000 + i;
        }
    }
    MPI_Alltoall(mine, 1, narrow, all, 1, narrow, MPI_COMM_WORLD);
    for (r = 0; r < ranks; ++r) {
        for (i = 0; i < ROWS; ++i) {
            CHECK_EQ(all[i * ranks + r], r * 100000 + rank * 1000 + i);
        }
    }
    MPI_Type_free(&narrow);
    MPI_Type_free(&column);
    free(mine);
    free(all);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 10, 300, 20000};
    unsigned i;
    int which;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    make_types();
    for (which = 0; which < TYPES; ++which) {
        for (i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
            around(which, counts[i]);
        }
        MPI_Type_free(&types[which]);
    }
    part("all types");
    parts_of_one();
    part("parts of a type");
    too_little_room();
    part("too little room");
    collective();
    part("columns to all");
    MPI_Finalize();
    return 0;
}
