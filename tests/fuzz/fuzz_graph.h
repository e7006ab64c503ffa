/* What the fuzzers of task graphs share: no input may crash, leak or hang a reader; what it accepts passes the check,
 * can be used, and is written to JSON that reads back to a graph written the same way. */
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

#include <string.h>
#include "taskgraph/graph.h"
#include "fuzz.h"

static void use(const struct heddle_graph *g)
{
	struct heddle_graph_edge *edges;
	struct hd_text dot = {0};
	size_t n;
	require(heddle_graph_check(g) == 0, "an accepted graph fails the check");
	require(heddle_graph_edges(g, &edges, &n) == 0, "a graph has no edges");
	for (size_t e = 0; e < n; e++)
		require(edges[e].from < edges[e].to && edges[e].to < g->n_tasks, "an edge leads nowhere");
	require(hd_graph_write_dot(g, &dot) == 0 && !dot.failed, "a graph cannot be written as DOT");
	hd_text_free(&dot);
	free(edges);
}

static int try_reader(int (*parse)(const char *, const char *, size_t, struct heddle_graph **), const uint8_t *data,
                      size_t size)
{
	struct heddle_graph *g = NULL, *again = NULL;
	struct hd_text first = {0}, second = {0};
	char *text = malloc(size + 1); /* readers want a NUL behind it */
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	int status = parse("fuzz", text, size, &g);
	free(text);
	if (status) {
		require(status == HEDDLE_E_FORMAT && !g, "a refusal is not HEDDLE_E_FORMAT");
		require(strlen(heddle_last_error()) > 0, "a refusal says nothing");
		return 0;
	}
	use(g);
	hd_graph_write_json(g, &first);
	hd_text_char(&first, '\0');
	require(!first.failed, "a graph cannot be written");
	require(hd_graph_parse_json("again", first.data, first.length - 1, &again) == 0,
	        "what was written cannot be read");
	hd_graph_write_json(again, &second);
	hd_text_char(&second, '\0');
	require(first.length == second.length && memcmp(first.data, second.data, first.length) == 0,
	        "a round trip changes the graph");
	hd_text_free(&first);
	hd_text_free(&second);
	heddle_graph_free(g);
	heddle_graph_free(again);
	return 0;
}

#endif
