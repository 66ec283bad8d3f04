/* ucp_config_modify takes names of options that are not a context's alone: Mercury's na_ucx sets HANDLE_ERRORS, LOG_LEVEL and
 * CM_REUSEADDR so. An unknown name and a level that is none are refused; upstream's 1.13 took unknown names. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_LOG_FILE=stderr */
#include "check.h"

#include <ucp/api/ucp.h>

int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_context_h context;
    ucp_config_t *config;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK_OK(ucp_config_modify(config, "HANDLE_ERRORS", "none"));
    CHECK_OK(ucp_config_modify(config, "CM_REUSEADDR", "y"));
    CHECK_OK(ucp_config_modify(config, "TCP_CM_REUSEADDR", "y"));
    CHECK_OK(ucp_config_modify(config, "TLS", "self"));
    CHECK(ucp_config_modify(config, "LOG_LEVEL", "nonsense") != UCS_OK);
    CHECK(ucp_config_modify(config, "NO_SUCH", "1") != UCS_OK);
    CHECK_OK(ucp_config_modify(config, "LOG_LEVEL", "fatal"));
    CHECK_OK(ucp_init(&params, config, &context));
    ucp_config_release(config);
    ucp_cleanup(context);
    OK("config_modify_global");
    return 0;
}
