/* Graph files: chooses the reader or writer by the extension of the path. */
#include "graph.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef int (*reader)(const char *name, const char *text, size_t length, struct heddle_graph **out);

static const struct {
	const char *extension;
	reader read;
} formats[] = {{".json", hd_graph_parse_json},
               {".dot", hd_graph_parse_dot},
               {".gv", hd_graph_parse_dot},
               {".stg", hd_graph_parse_stg}};

int hd_graph_bad(const char *name, size_t line, const char *format, ...)
{
	char what[512];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return hd_error(HEDDLE_E_FORMAT, "%s:%zu: %s", name, line, what);
}

static const char *extension_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot ? dot : "";
}

int heddle_graph_load(const char *path, struct heddle_graph **out)
{
	if (!path || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_load needs a path and a place for the graph");
	reader read = NULL;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcasecmp(extension_of(path), formats[i].extension) == 0)
			read = formats[i].read;
	if (!read)
		return hd_error(HEDDLE_E_INVALID, "%s: a task graph is read from .json, .dot, .gv or .stg", path);
	char *text;
	size_t length;
	int status = hd_file_read(path, &text, &length);
	if (status)
		return status;
	status = read(path, text, length, out);
	free(text);
	return status;
}

int heddle_graph_save(const struct heddle_graph *graph, const char *path)
{
	if (!path)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_save needs a graph and a path");
	int dot = strcasecmp(extension_of(path), ".dot") == 0 || strcasecmp(extension_of(path), ".gv") == 0;
	if (!dot && strcasecmp(extension_of(path), ".json") != 0)
		return hd_error(HEDDLE_E_INVALID, "%s: a task graph is written to .json, .dot or .gv", path);
	int status = heddle_graph_check(graph);
	if (status)
		return status;
	struct hd_text text = {0};
	if (dot)
		status = hd_graph_write_dot(graph, &text);
	else
		hd_graph_write_json(graph, &text);
	if (status) {
		hd_text_free(&text);
		return status;
	}
	return hd_text_write(&text, path);
}
