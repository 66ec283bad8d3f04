/* Makes a context of all features and ends, so that what that takes can be counted from outside. Run by tests/no_rdma. */
#include "check.h"

#include <ucp/api/ucp.h>

int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM | UCP_FEATURE_STREAM};
    ucp_context_h context;

    CHECK_OK(ucp_init(&params, NULL, &context));
    ucp_cleanup(context);
    return 0;
}
