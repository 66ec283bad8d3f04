/* Two processes greet each other with tagged messages. A receive names the tag and the bits of it that have to match; a
 * message whose length is not known is probed first. Read example.h for the start and the end. */
#include "example.h"

static const char HELP[] = "Two processes of this program greet each other with tagged messages.";

enum { TAG_GREETING = 1, TAG_ANSWER = 2 };

static const ucp_tag_t WHOLE_TAG = ~(ucp_tag_t)0;

static void greet(side_t *side)
{
    static const char greeting[] = "hello from the parent";
    ucp_request_param_t param = {0};
    ucp_tag_recv_info_t info = {0};
    ucs_status_ptr_t answered;
    char answer[64] = "";

    /* The receive is posted before the greeting goes out, so the answer is written straight into the buffer. The result
     * of a receive that ends at once comes in `info`. */
    param.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO;
    param.recv_info.tag_info = &info;
    answered = ucp_tag_recv_nbx(side->worker, answer, sizeof(answer), TAG_ANSWER, WHOLE_TAG, &param);

    param.op_attr_mask = 0;
    finish(side, ucp_tag_send_nbx(side->ep, greeting, sizeof(greeting), TAG_GREETING, &param), "ucp_tag_send_nbx");
    finish(side, answered, "ucp_tag_recv_nbx");
    printf("the child answered: %s\n", answer);
}

static void answer(side_t *side)
{
    ucp_request_param_t param = {0};
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;
    char *greeting, text[64];
    int length;

    /* Wait for a message and take it; what `info` says of its length decides on the buffer. */
    while ((message = ucp_tag_probe_nb(side->worker, TAG_GREETING, WHOLE_TAG, 1, &info)) == NULL) {
        check(side->ep_status, "ucp_tag_probe_nb");
        ucp_worker_progress(side->worker);
    }
    if ((greeting = malloc(info.length)) == NULL) {
        fail("malloc", "no memory");
    }
    finish(side, ucp_tag_msg_recv_nbx(side->worker, greeting, info.length, message, &param), "ucp_tag_msg_recv_nbx");
    length = snprintf(text, sizeof(text), "%zu bytes, %s", info.length, greeting);
    finish(side, ucp_tag_send_nbx(side->ep, text, length + 1, TAG_ANSWER, &param), "ucp_tag_send_nbx");
    free(greeting);
}

int main(int argc, char **argv)
{
    side_t side;

    read_options(argc, argv, HELP);
    fork_peer(&side);
    open_side(&side, UCP_FEATURE_TAG);
    connect_by_channel(&side, UCP_ERR_HANDLING_MODE_PEER);
    if (side.child != 0) {
        greet(&side);
    } else {
        answer(&side);
    }
    return part(&side);
}
