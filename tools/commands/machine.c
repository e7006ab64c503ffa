/* heddle machine: shows this machine as the library sees it, with the emulated accelerators that are configured. */
#include "shared/tool.h"

static const struct argp argp = {
    .parser = tool_view_parse,
    .children = tool_view_children,
    .doc = "Shows what this machine is made of: memory nodes, classes of workers, workers and the cores they "
           "are bound to, links. Emulated accelerators appear when they are configured (HEDDLE_EMULATED or "
           "--set n_emulated=2).\v"
           "Bandwidths of real links are measured when a runtime first needs them: `heddle platform calibrate` "
           "writes them down.",
};

int tool_machine(int argc, char **argv)
{
	struct tool_view o = {.format = TABLE_TEXT};
	int status = tool_parse(&argp, argc, argv, &o);
	struct heddle_config config;
	if (!status)
		status = tool_config_init(&config, &o.settings);
	if (status)
		return status;
	struct heddle_platform *platform;
	if (heddle_platform_configured(&config, &platform))
		return tool_library_error("cannot describe this machine");
	tool_describe(platform, o.format);
	heddle_platform_free(platform);
	return status;
}
