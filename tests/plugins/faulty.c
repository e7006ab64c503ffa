/* Plug-ins that must be refused, one for each FAULT, which tests/CMakeLists.txt defines; tests/cli/plugins.py loads
 * them. */
#include <heddle/plugin.h>
#include <heddle/status.h>
#include <stdlib.h>

enum { VERSION = 1, NAMELESS, TAKEN, INCOMPLETE, DEVICE, OUTSIDE, NO_SYMBOL, FAILING };

static int create(heddle_sched *sched, void **state)
{
	(void)sched;
	*state = NULL;
	return 0;
}

static void ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state, (void)batch, (void)n, (void)releaser;
}

static heddle_task *pick(void *state, unsigned worker)
{
	(void)state, (void)worker;
	return NULL;
}

static int start(void)
{
	static const struct heddle_policy taken = {
	    .abi = HEDDLE_POLICY_ABI, .name = "eager", .create = create, .destroy = free, .ready = ready, .pick = pick};
	static const struct heddle_policy incomplete = {.abi = HEDDLE_POLICY_ABI, .name = "mine", .create = create};
	static const struct heddle_driver device = {.abi = HEDDLE_DRIVER_ABI, .kind = "mine", .close = free};
	static const struct heddle_parameter outside[] = {{"n", HEDDLE_PARAMETER_SIZE, 64, "1", "", 1, 9, NULL, 0, 0},
	                                                  {.name = NULL}};
	static struct heddle_application application = {
	    .abi = HEDDLE_APPLICATION_ABI, .name = "mine", .parameters = outside, .size = 8};
	application.open =
	    (int (*)(const struct heddle_application *, heddle_runtime *, int, const void *, void **))abort;
	application.submit = application.close = (int (*)(void *))abort;
	switch (FAULT) {
	case TAKEN: return heddle_policy_register(&taken);
	case INCOMPLETE: return heddle_policy_register(&incomplete);
	case DEVICE: return heddle_driver_register(&device);
	case OUTSIDE: return heddle_application_register(&application);
	case FAILING: return heddle_error(HEDDLE_E_UNSUPPORTED, "the moon is full");
	default: return 0;
	}
}

#if FAULT == 7
extern const struct heddle_plugin another_name;
#define SYMBOL another_name
#else
#define SYMBOL heddle_plugin
#endif
const struct heddle_plugin SYMBOL = {FAULT == VERSION ? 99 : HEDDLE_PLUGIN_ABI, FAULT == NAMELESS ? "" : "faulty",
                                     "must be refused", start};
