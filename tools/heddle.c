/* The `heddle` command: finds the subcommand and runs it. */
#include "shared/tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <heddle/plugin.h>
#include "start/start.h"

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

static int help(int argc, char **argv);

static int version(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return tool_usage_error("heddle version takes no arguments");
	printf("heddle %s\n", heddle_version());
	return TOOL_OK;
}

#define ENTRY(name, summary) {#name, summary, tool_##name},
static const struct command commands[] = {
    TOOL_COMMANDS(ENTRY) /* the next two subcommands are in this file */
    {"help", "this text, or the help of one command", help},
    {"version", "the version of the library", version},
};
#undef ENTRY
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const struct command *find_command(const char *name)
{
	if (strcmp(name, "platform") == 0)
		name = "platforms";
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[N_COMMANDS];
	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	return tool_unknown("command", name, names, N_COMMANDS);
}

static void print_usage(FILE *out)
{
	fputs("Usage: heddle COMMAND [OPTION...]\n"
	      "Runs task graphs on all processors of this machine, or simulates them on any machine.\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nOptions of every command, besides those that `heddle COMMAND --help` lists:\n\n"
	      "  -?, --help             This text, or the help of the command\n"
	      "      --plugin=LIBRARY   Add the policies, drivers and applications of a plug-in; may be repeated,\n"
	      "                         and may stand before the command\n\n"
	      "To begin with:\n\n"
	      "    heddle demo\n"
	      "    heddle run cholesky --n 2048\n"
	      "    heddle sim cholesky --platform haswell-k40m --sched all\n\n"
	      "Exit status: 0 success, 1 failure, 2 wrong usage.\n",
	      out);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	char *name = tool_format("heddle %s", argv[0]); /* argp shows this name in messages */
	argv[0] = name;
	int status = command->run(argc, argv);
	argv[0] = NULL;
	free(name);
	return status;
}

static int help(int argc, char **argv)
{
	if (argc < 2 || argv[1][0] == '-') {
		print_usage(stdout);
		return TOOL_OK;
	}
	const struct command *command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	if (command->run == help || command->run == version) {
		print_usage(stdout);
		return TOOL_OK;
	}
	char option[] = "--help";
	char *arguments[] = {argv[1], option, NULL};
	return run_command(command, 2, arguments);
}

/* Checks at exit that all output was written. It runs at exit because argp ends the program itself after --help. */
static void check_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	tool_failure("cannot write to standard output: %s", strerror(errno));
	_exit(TOOL_FAILURE);
}

/* Loads the plug-ins of the settings and of --plugin. --plugin may stand anywhere and is removed from the arguments.
 * Plug-ins are loaded first, because the names that they register must be known when other options are parsed. */
static int load_plugins(int *argc, char **argv)
{
	static const char option[] = "--plugin";
	size_t length = sizeof option - 1;
	int left = 1, status = hd_plugins_configured(), rest = 0;
	for (int i = 1; i < *argc; i++) {
		rest |= strcmp(argv[i], "--") == 0;
		if (rest || strncmp(argv[i], option, length) != 0 || (argv[i][length] && argv[i][length] != '=')) {
			argv[left++] = argv[i];
			continue;
		}
		const char *path = argv[i][length] ? argv[i] + length + 1 : argv[++i];
		if (!path || !*path)
			return tool_usage_error("--plugin needs the path of a shared library");
		if (!status)
			status = heddle_plugin_load(path);
	}
	argv[left] = NULL;
	*argc = left;
	return status ? tool_failure("%s", heddle_last_error()) : TOOL_OK;
}

int main(int argc, char **argv)
{
	if (atexit(check_output))
		return tool_failure("out of memory");
	int status = load_plugins(&argc, argv);
	if (status)
		return status;
	if (argc < 2) {
		print_usage(stderr);
		return TOOL_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "-?") == 0) {
		print_usage(stdout);
		return TOOL_OK;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return version(1, argv);
	const struct command *command = find_command(argv[1]);
	if (!command && argv[1][0] == '-')
		return tool_usage_error(
		    "options come after the command: `heddle COMMAND %s`; `heddle help` lists the commands", argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return run_command(command, argc - 1, argv + 1);
}
