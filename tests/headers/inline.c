/* What the inline functions and macros of include/ do, seen from a program. Exit code 0 and "ok" when right. */

#include <ucp/api/ucp.h>
#include <ucs/datastruct/list.h>
#include <ucs/sys/math.h>
#include <ucs/type/init_once.h>
#include <ucs/type/spinlock.h>
#include <uct/api/uct.h>
#include <stdlib.h>
#include <string.h>

#if UCT_API < UCT_VERSION(1, 7) || UCP_API_VERSION < UCP_VERSION(1, 22) || UCP_API_VERSION >= UCP_VERSION(1, 23)
#  error "versions are compared by the preprocessor too"
#endif

#define CHECK(_cond) \
    do { \
        if (!(_cond)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_cond); \
            exit(1); \
        } \
    } while (0)

struct item {
    int             value;
    ucs_list_link_t link;
};

static void status(void)
{
    int object;

    CHECK(sizeof(ucs_status_t) == 1);
    CHECK(UCS_PTR_STATUS(NULL) == UCS_OK);
    CHECK(UCS_PTR_STATUS(&object) == UCS_INPROGRESS);
    CHECK(UCS_PTR_STATUS(UCS_STATUS_PTR(UCS_ERR_BUSY)) == UCS_ERR_BUSY);
    CHECK(UCS_PTR_IS_ERR(UCS_STATUS_PTR(UCS_ERR_LAST)) && !UCS_PTR_IS_ERR(&object));
    CHECK(UCS_PTR_IS_PTR(&object) && !UCS_PTR_IS_PTR(NULL));
    CHECK(!UCS_PTR_IS_PTR(UCS_STATUS_PTR(UCS_ERR_NO_MEMORY)));
    CHECK(UCS_STATUS_IS_ERR(UCS_ERR_NO_ELEM) && !UCS_STATUS_IS_ERR(UCS_INPROGRESS));
    CHECK(UCS_IS_ENDPOINT_ERROR(UCS_ERR_ENDPOINT_TIMEOUT) && !UCS_IS_LINK_ERROR(UCS_ERR_ENDPOINT_TIMEOUT));
}

static void macros(void)
{
    struct item item;
    int array[3] = {1, 2, 3}, *each, sum = 0, a = 1, b = 2;

    CHECK(UCS_BIT(40) == 1ull << 40);
    CHECK(UCS_MASK(0) == 0 && UCS_MASK(3) == 7 && UCS_MASK(64) == ~0ul);
    CHECK(UCS_BIT_GET(4, 2) == 1 && UCS_BIT_GET(4, 1) == 0);
    CHECK(ucs_container_of(&item.link, struct item, link) == &item);
    CHECK(UCS_PTR_BYTE_OFFSET(&array[1], -(int)sizeof(int)) == &array[0]);
    CHECK(UCS_PTR_BYTE_DIFF(&array[2], &array[0]) == -(ptrdiff_t)(2 * sizeof(int)));
    CHECK(UCS_PTR_TYPE_OFFSET(&array[0], int) == &array[1]);
    ucs_carray_for_each(each, array, 3) {
        sum += *each;
    }
    CHECK(sum == 6);
    ucs_swap(&a, &b);
    CHECK(a == 2 && b == 1);
    UCS_STATIC_ASSERT(sizeof(int) == 4);
    CHECK(ucp_dt_make_contig(8) == 64 && ucp_dt_make_iov() == 2 && ucp_dt_make_sgl() == 4);
    CHECK(UCP_API_VERSION == 0x01160000 && UCT_API == 0x01160000);
    CHECK(ucs_min(2, 3) == 2 && ucs_max(2, 3) == 3 && ucs_div_round_up(7, 3) == 3);
    CHECK(ucs_test_flags(6, 1, 2) == 2 && ucs_test_all_flags(6, 6) && !ucs_test_all_flags(6, 7));
    CHECK(UCS_CIRCULAR_COMPARE8((uint8_t)1, >, (uint8_t)255));
    sum = 0;
    ucs_for_each_bit(a, UCS_BIT(63) | UCS_BIT(0)) {
        sum += a;
    }
    CHECK(sum == 63);
    sum = 0;
    ucs_for_each_submask(a, 5) {
        sum = sum * 10 + a;
    }
    CHECK(sum == 145);
}

static void lists(void)
{
    UCS_LIST_HEAD(one);
    UCS_LIST_HEAD(two);
    struct item items[4], *item, *next;
    int digits = 0;

    CHECK(ucs_list_is_empty(&one));
    for (int i = 0; i < 4; ++i) {
        items[i].value = i + 1;
    }
    ucs_list_add_tail(&one, &items[1].link);
    ucs_list_add_head(&one, &items[0].link);
    ucs_list_add_tail(&two, &items[2].link);
    CHECK(ucs_list_is_only(&two, &items[2].link));
    ucs_list_splice_tail(&one, &two);
    ucs_list_head_init(&two);
    ucs_list_splice_tail(&one, &two);
    ucs_list_for_each(item, &one, link) {
        digits = digits * 10 + item->value;
    }
    CHECK(digits == 123 && ucs_list_length(&one) == 3);
    CHECK(ucs_list_is_first(&one, &items[0].link) && ucs_list_is_last(&one, &items[2].link));
    CHECK(ucs_list_head(&one, struct item, link) == &items[0]);
    CHECK(ucs_list_tail(&one, struct item, link) == &items[2]);
    ucs_list_replace(&items[1].link, &items[3].link);
    CHECK(ucs_list_extract_head(&one, struct item, link)->value == 1);
    ucs_list_for_each_safe(item, next, &one, link) {
        digits = digits * 10 + item->value;
        ucs_list_del(&item->link);
    }
    CHECK(digits == 12343 && ucs_list_is_empty(&one));
}

static void sets_functions_locks(void)
{
    ucs_cpu_set_t cpus;
    ucs_linear_func_t f = ucs_linear_func_make(1, 2), g = ucs_linear_func_make(3, 1);
    ucs_recursive_spinlock_t lock;
    static ucs_init_once_t once = UCS_INIT_ONCE_INITIALIZER;
    double x;
    int runs = 0;

    UCS_CPU_ZERO(&cpus);
    CHECK(ucs_cpu_set_is_empty(&cpus));
    UCS_CPU_SET(130, &cpus);
    UCS_CPU_SET(5000, &cpus);
    CHECK(ucs_cpu_is_set(130, &cpus) && !ucs_cpu_is_set(5000, &cpus) && !ucs_cpu_is_set(-1, &cpus));
    CHECK(ucs_cpu_set_find_lcs(&cpus) == 130);
    UCS_CPU_CLR(130, &cpus);
    CHECK(ucs_cpu_set_is_empty(&cpus));

    CHECK(ucs_linear_func_apply(f, 10) == 21);
    CHECK(ucs_linear_func_apply(ucs_linear_func_add3(f, g, g), 1) == 11);
    CHECK(ucs_linear_func_apply(ucs_linear_func_sub(f, g), 1) == -1);
    CHECK(ucs_linear_func_apply(ucs_linear_func_compose(f, g), 1) == 9);
    CHECK(ucs_linear_func_intersect(f, g, &x) == UCS_OK && x == 2);
    CHECK(ucs_linear_func_intersect(f, f, &x) == UCS_ERR_INVALID_PARAM);
    CHECK(ucs_linear_func_is_equal(f, f, 1e-9) && !ucs_linear_func_is_zero(f, 1e-9));
    ucs_linear_func_add_value_at(&f, g, 4);
    CHECK(f.c == 8 && f.m == 2);

    CHECK(ucs_recursive_spinlock_init(&lock, 0) == UCS_OK);
    ucs_recursive_spin_lock(&lock);
    CHECK(ucs_recursive_spin_trylock(&lock) == 1);
    ucs_recursive_spin_unlock(&lock);
    CHECK(ucs_recursive_spin_is_owner(&lock, pthread_self()));
    ucs_recursive_spin_unlock(&lock);
    CHECK(!ucs_recursive_spin_is_owner(&lock, pthread_self()));

    for (int i = 0; i < 3; ++i) {
        UCS_INIT_ONCE(&once) {
            ++runs;
        }
    }
    CHECK(runs == 1);
}

static int calls;

static unsigned count_call(void *arg)
{
    calls += *(int*)arg;
    return 1;
}

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header, const void *payload, unsigned length)
{
    CHECK(ep != NULL && id == 3 && header == 4 && length == 5 && strcmp((const char*)payload, "data") == 0);
    return UCS_INPROGRESS;
}

static ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack, void *arg, uint64_t addr, uct_rkey_t rkey)
{
    (void)ep;
    return (ssize_t)(pack(NULL, arg) + addr + rkey);
}

static ucs_status_t tag_cancel(uct_iface_h iface, uct_tag_context_t *ctx, int force)
{
    CHECK(iface != NULL && ctx == NULL && force == 1);
    return UCS_ERR_BUSY;
}

static size_t pack(void *dest, void *arg)
{
    (void)dest;
    return *(size_t*)arg;
}

static void release(uct_recv_desc_t *self, void *desc)
{
    CHECK(uct_recv_desc(desc) == self);
    ++calls;
}

static void uct(void)
{
    uct_iface_t iface;
    uct_ep_t ep = {&iface};
    uct_worker_t worker;
    uct_completion_t comp = {NULL, 1, UCS_OK};
    uct_recv_desc_t desc = {release};
    void *buffer[2]      = {&desc, NULL};
    size_t packed        = 100;
    int step             = 7;

    memset(&iface, 0, sizeof(iface));
    memset(&worker, 0, sizeof(worker));
    iface.ops.ep_am_short           = am_short;
    iface.ops.ep_put_bcopy          = put_bcopy;
    iface.ops.iface_tag_recv_cancel = tag_cancel;
    CHECK(uct_ep_am_short(&ep, 3, 4, "data", 5) == UCS_INPROGRESS);
    CHECK(uct_ep_put_bcopy(&ep, pack, &packed, 20, 3) == 123);
    CHECK(uct_iface_tag_recv_cancel(&iface, NULL, 1) == UCS_ERR_BUSY);

    CHECK(uct_worker_progress(&worker) == 0);
    worker.progress_q.fast_elems[0].cb  = count_call;
    worker.progress_q.fast_elems[0].arg = &step;
    CHECK(uct_worker_progress(&worker) == 1 && calls == 7);

    uct_iface_release_desc(&buffer[1]);
    CHECK(calls == 8);

    uct_completion_update_status(&comp, UCS_ERR_CANCELED);
    uct_completion_update_status(&comp, UCS_ERR_BUSY);
    CHECK(comp.status == UCS_ERR_CANCELED);
}

int main(void)
{
    status();
    macros();
    lists();
    sets_functions_locks();
    uct();
    printf("ok\n");
    return 0;
}
