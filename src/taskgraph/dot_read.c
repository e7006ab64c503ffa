/* Reads graphs from DOT, the language of Graphviz. Only nodes, edges and the attributes in docs/graphs.md have a
 * meaning. Nodes become tasks, in the order in which the file first mentions them, unless edges demand another
 * order. */
#include "graph.h"
#include "dot_lex.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "machine/machine.h"

struct attribute {
	struct hd_dot_token key, value;
};
struct attributes {
	struct attribute *list; /* owns */
	size_t n, max;
};

/* The information in a node's attributes for which its task has no field. */
struct node {
	uint32_t color;
	/* typed: 1: an attribute gives the type, so the label does not; timed: 1: the node has a time */
	uint8_t typed, timed;
	struct hd_dot_token label;
};

/* An open brace: the numbers of default attributes at this brace, to which its closing brace returns. */
struct scope {
	size_t n_node, n_edge;
};

struct reader {
	const char *name;
	struct hd_dot_lexer lexer;
	struct hd_dot_token token; /* the next token */
	struct hd_build build;
	struct hd_names ids; /* names of nodes; a node and its task have the same number */
	struct node *nodes;  /* owns */
	size_t n_nodes, max_nodes;
	struct attributes node_defaults, edge_defaults, here;
	struct scope *scopes; /* owns */
	size_t n_scopes, max_scopes;
	uint32_t *chain; /* owns; the tasks of the statement a -> b -> c that is being read */
	size_t n_chain, max_chain;
};

static int next(struct reader *r)
{
	hd_dot_next(&r->lexer, &r->token);
	return r->token.kind == HD_DOT_BAD ? hd_graph_bad(r->name, r->lexer.line, "%s", r->lexer.why) : 0;
}

static int expect(struct reader *r, int kind, const char *what)
{
	return r->token.kind == kind ? next(r) : hd_graph_bad(r->name, r->token.line, "%s expected", what);
}

static int is_word(const struct hd_dot_token *t, const char *word)
{
	return t->kind == HD_DOT_ID && strlen(word) == t->length && strncasecmp(t->text, word, t->length) == 0;
}

static int is_keyword(const struct hd_dot_token *t, const char *word)
{
	return !t->quoted && is_word(t, word);
}

/* --- Attributes --------------------------------------------------------------------------------------------------- */

/* Reads any number of lists [a = b, c = d], and appends their attributes to `to`. */
static int read_attributes(struct reader *r, struct attributes *to)
{
	int status = 0;
	while (r->token.kind == '[' && !status) {
		status = next(r);
		while (!status && r->token.kind != ']') {
			struct attribute a = {.key = r->token, .value = {.text = ""}};
			status = expect(r, HD_DOT_ID, "the name of an attribute, or ]");
			if (!status && r->token.kind == '=') {
				status = next(r);
				a.value = r->token;
				if (!status)
					status = expect(r, HD_DOT_ID, "the value of an attribute");
			}
			if (!status && (r->token.kind == ',' || r->token.kind == ';'))
				status = next(r);
			if (!status && hd_build_room(&r->build, &to->list, to->n, &to->max, sizeof a) == 0)
				to->list[to->n++] = a;
		}
		if (!status)
			status = next(r);
	}
	return status;
}

static int read_number(const struct reader *r, const struct attribute *a, double *out)
{
	char text[64], *after;
	size_t n = a->value.length < sizeof text - 1 ? a->value.length : 0;
	memcpy(text, a->value.text, n);
	text[n] = '\0';
	*out = hd_real(text, &after) + 0.0; /* -0 becomes 0 */
	if (n == 0 || *after || !isfinite(*out) || *out < 0)
		return hd_graph_bad(r->name, a->key.line, "%.*s is \"%.*s\": it must be a number from 0",
		                    (int)a->key.length, a->key.text, (int)(a->value.length < 80 ? a->value.length : 80),
		                    a->value.text);
	return 0;
}

static int read_priority(struct reader *r, uint32_t task, const struct attribute *a)
{
	struct attribute size = *a;
	double value = 0;
	int negative = a->value.length > 1 && a->value.text[0] == '-';
	size.value.text += negative;
	size.value.length -= (size_t)negative;
	int status = read_number(r, &size, &value);
	if (!status && (value > INT32_MAX || value != floor(value)))
		status = hd_graph_bad(r->name, a->key.line, "priority is a whole number of 32 bits");
	if (!status)
		r->build.tasks[task].priority = (int32_t)(negative ? -value : value);
	return status;
}

static int read_time(struct reader *r, uint32_t task, const struct attribute *a, const char *class_, size_t length)
{
	double us = 0;
	int status = read_number(r, a, &us);
	if (!status && us >= HD_MOST_US)
		status = hd_graph_bad(r->name, a->key.line, "node %s takes %g us: times are from 0 to below %g us",
		                      r->ids.names[task], us, HD_MOST_US);
	if (!status && length == 0)
		status = hd_graph_bad(r->name, a->key.line, "time_ lacks the name of a class");
	if (!status)
		hd_build_time(&r->build, task, hd_build_class(&r->build, class_, length), us);
	r->nodes[task].timed = 1;
	return status;
}

/* The length of the first word of a label; the word is the type: "potrf(3)" is of type potrf. */
static size_t first_word(const struct hd_dot_token *t)
{
	size_t n = 0;
	while (n < t->length && (strchr("_.-", t->text[n]) ? t->text[n] != '\0'
	                                                   : ((t->text[n] | 32) >= 'a' && (t->text[n] | 32) <= 'z') ||
	                                                         (t->text[n] >= '0' && t->text[n] <= '9')))
		n++;
	return n;
}

static void read_color(struct reader *r, uint32_t task, const struct hd_dot_token *t)
{
	uint32_t color = 0;
	if (t->length != 7 || t->text[0] != '#')
		return; /* the value is the name of a colour, which only Graphviz knows */
	for (size_t i = 1; i < 7; i++) {
		const char *digit = memchr("0123456789abcdef", t->text[i] | 32, 16);
		if (!digit)
			return;
		color = color * 16 + (uint32_t)(digit - (const char *)memchr("0123456789abcdef", '0', 16));
	}
	r->nodes[task].color = color;
}

static void read_label(struct reader *r, uint32_t task, const struct hd_dot_token *t)
{
	size_t n = first_word(t);
	r->nodes[task].label = *t;
	if (n && !r->nodes[task].typed)
		r->build.tasks[task].type = hd_build_type(&r->build, t->text, n);
}

static int read_type(struct reader *r, uint32_t task, const struct attribute *a)
{
	if (a->value.length == 0 || memchr(a->value.text, '\0', a->value.length))
		return hd_graph_bad(r->name, a->key.line, "type is not a name");
	r->build.tasks[task].type = hd_build_type(&r->build, a->value.text, a->value.length);
	r->nodes[task].typed = 1;
	return 0;
}

static int apply_to_node(struct reader *r, uint32_t task, const struct attribute *a)
{
	static const char *const costs[] = {"cost", "weight"}, *const work[] = {"flops", "size"};
	const struct hd_dot_token *key = &a->key;
	if (r->build.failed)
		return hd_no_memory(r->name);
	for (size_t i = 0; i < HD_N_KINDS; i++)
		if (is_word(key, hd_kinds[i]))
			return read_time(r, task, a, hd_kinds[i], strlen(hd_kinds[i]));
	for (size_t i = 0; i < 2; i++)
		if (is_word(key, costs[i]))
			return read_time(r, task, a, "cpu", 3);
	for (size_t i = 0; i < 2; i++)
		if (is_word(key, work[i]))
			return read_number(r, a, &r->build.tasks[task].flops);
	if (key->length >= 5 && strncmp(key->text, "time_", 5) == 0)
		return read_time(r, task, a, key->text + 5, key->length - 5);
	if (is_word(key, "type"))
		return read_type(r, task, a);
	if (is_word(key, "priority"))
		return read_priority(r, task, a);
	if (is_word(key, "label"))
		read_label(r, task, &a->value);
	else if (is_word(key, "fillcolor"))
		read_color(r, task, &a->value);
	return 0;
}

static int apply_all_to_node(struct reader *r, uint32_t task, const struct attributes *from)
{
	int status = 0;
	for (size_t i = 0; i < from->n && !status; i++)
		status = apply_to_node(r, task, &from->list[i]);
	return status;
}

static int read_bytes(const struct reader *r, const struct attributes *from, double *bytes)
{
	int status = 0;
	for (size_t i = 0; i < from->n && !status; i++) {
		const struct attribute *a = &from->list[i];
		if (is_word(&a->key, "bytes") || is_word(&a->key, "size") || is_word(&a->key, "data"))
			status = read_number(r, a, bytes);
		if (!status && *bytes >= 0x1p62)
			status = hd_graph_bad(r->name, a->key.line, "more bytes than there are");
	}
	return status;
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

/* Reads the name of a node and, if there is one, its port, which is ignored. *task: the task of this name, which is
 * created when the name occurs for the first time. */
static int read_node(struct reader *r, uint32_t *task)
{
	struct hd_dot_token id = r->token;
	int status = expect(r, HD_DOT_ID, "a node");
	while (!status && r->token.kind == ':') {
		status = next(r);
		if (!status)
			status = expect(r, HD_DOT_ID, "a port");
	}
	if (!status && (is_keyword(&id, "node") || is_keyword(&id, "edge") || is_keyword(&id, "graph") ||
	                is_keyword(&id, "digraph") || is_keyword(&id, "subgraph") || is_keyword(&id, "strict")))
		status = hd_graph_bad(r->name, id.line, "\"%.*s\" is no name of a node, unless in quotes",
		                      (int)id.length, id.text);
	if (!status && memchr(id.text, '\0', id.length))
		status = hd_graph_bad(r->name, id.line, "the name of a node contains a NUL");
	if (status)
		return status;
	*task = hd_build_intern(&r->build, &r->ids, id.text, id.length);
	if (*task < r->n_nodes || hd_build_room(&r->build, &r->nodes, r->n_nodes, &r->max_nodes, sizeof *r->nodes))
		return r->build.failed ? hd_no_memory(r->name) : 0;
	r->nodes[r->n_nodes++] = (struct node){0};
	hd_build_task(&r->build, hd_build_type(&r->build, "task", 4));
	return r->build.failed ? hd_no_memory(r->name) : apply_all_to_node(r, *task, &r->node_defaults);
}

static int end_chain(struct reader *r)
{
	double bytes = 0;
	int status = read_attributes(r, &r->here);
	if (!status && r->n_chain == 1)
		return apply_all_to_node(r, r->chain[0], &r->here);
	if (!status)
		status = read_bytes(r, &r->edge_defaults, &bytes);
	if (!status)
		status = read_bytes(r, &r->here, &bytes);
	for (size_t i = 1; i < r->n_chain && !status; i++)
		hd_build_edge(&r->build, r->chain[i - 1], r->chain[i], (uint64_t)bytes);
	return status;
}

/* Reads a node "a" or a chain of edges "a -> b -> c", and the attributes behind it. */
static int read_chain(struct reader *r)
{
	int status;
	uint32_t task = 0;
	r->n_chain = r->here.n = 0;
	do {
		if (r->n_chain && r->token.kind == HD_DOT_EDGE && (status = next(r)))
			return status;
		if (r->n_chain && (r->token.kind == '{' || is_keyword(&r->token, "subgraph")))
			return hd_graph_bad(r->name, r->token.line, "an edge to a subgraph: write one edge per node");
		status = read_node(r, &task);
		if (!status && hd_build_room(&r->build, &r->chain, r->n_chain, &r->max_chain, sizeof *r->chain) == 0)
			r->chain[r->n_chain++] = task;
	} while (!status && !r->build.failed && r->token.kind == HD_DOT_EDGE);
	if (status || r->build.failed)
		return status ? status : hd_no_memory(r->name);
	return end_chain(r);
}

static int open_scope(struct reader *r)
{
	int status = expect(r, '{', "{");
	if (status || hd_build_room(&r->build, &r->scopes, r->n_scopes, &r->max_scopes, sizeof *r->scopes))
		return status ? status : hd_no_memory(r->name);
	r->scopes[r->n_scopes++] = (struct scope){r->node_defaults.n, r->edge_defaults.n};
	return 0;
}

static int close_scope(struct reader *r)
{
	const struct scope *s = &r->scopes[--r->n_scopes];
	r->node_defaults.n = s->n_node;
	r->edge_defaults.n = s->n_edge;
	int status = next(r);
	if (!status && r->token.kind == HD_DOT_EDGE)
		status = hd_graph_bad(r->name, r->token.line, "an edge from a subgraph: write one edge per node");
	return status;
}

static int read_statement(struct reader *r)
{
	struct hd_dot_token word = r->token;
	if (word.kind == ';' || word.kind == ',')
		return next(r);
	if (word.kind == '}')
		return close_scope(r);
	if (word.kind == '{')
		return open_scope(r);
	if (is_keyword(&word, "subgraph")) {
		int status = next(r);
		if (!status && r->token.kind == HD_DOT_ID)
			status = next(r);
		return status ? status : open_scope(r);
	}
	if (word.kind != HD_DOT_ID)
		return hd_graph_bad(r->name, word.line, "a node, an edge or } expected");
	char second = hd_dot_peek(&r->lexer);
	if (second == '=') { /* ignores an attribute of the graph */
		int status = next(r) ? HEDDLE_E_FORMAT : next(r);
		return status ? status : expect(r, HD_DOT_ID, "the value of an attribute");
	}
	if (second == '[' && (is_keyword(&word, "node") || is_keyword(&word, "edge") || is_keyword(&word, "graph"))) {
		struct attributes *to = (word.text[0] | 32) == 'n'   ? &r->node_defaults
		                        : (word.text[0] | 32) == 'e' ? &r->edge_defaults
		                                                     : &r->here;
		int status = next(r);
		return status ? status : read_attributes(r, to);
	}
	return read_chain(r);
}

static int read_graph(struct reader *r)
{
	int status = next(r);
	if (!status && is_keyword(&r->token, "strict"))
		status = next(r);
	if (!status && !is_keyword(&r->token, "digraph") && !is_keyword(&r->token, "graph"))
		status = hd_graph_bad(r->name, r->token.line, "a DOT file begins with digraph or graph");
	if (!status)
		status = next(r);
	if (!status && r->token.kind == HD_DOT_ID) {
		char *name = strndup(r->token.text, r->token.length);
		if (name)
			hd_build_name(&r->build, name);
		free(name);
		status = next(r);
	}
	if (!status)
		status = open_scope(r);
	while (!status && r->n_scopes) {
		if (r->token.kind == HD_DOT_END)
			return hd_graph_bad(r->name, r->token.line, "the graph does not end: } expected");
		status = read_statement(r);
	}
	if (!status && r->token.kind != HD_DOT_END)
		status = hd_graph_bad(r->name, r->token.line, "something follows the graph: a file has one");
	return status;
}

static int is_text(const struct hd_dot_token *t, const char *text)
{
	return strlen(text) == t->length && memcmp(t->text, text, t->length) == 0;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

/* Called when all attributes are read: completes the nodes. A node with flops and without a time gets the time of a 1
 * Gflop/s core. */
static void finish_nodes(struct reader *r)
{
	uint32_t cpu = 0;
	int some = 0;
	for (size_t i = 0; i < r->n_nodes && !r->build.failed; i++) {
		const struct heddle_graph_task *t = &r->build.tasks[i];
		const struct hd_dot_token *label = &r->nodes[i].label;
		if (r->nodes[i].typed && label->length && !is_text(label, r->build.types.names[t->type]))
			hd_build_task_name(&r->build, (uint32_t)i, label->text, label->length);
		if (r->nodes[i].color)
			r->build.colors[t->type] = r->nodes[i].color;
		if (r->nodes[i].timed || !(t->flops > 0))
			continue;
		if (!some++)
			cpu = hd_build_class(&r->build, "cpu", 3);
		hd_build_time(&r->build, (uint32_t)i, cpu, t->flops * 1e-3);
	}
}

static int finish(struct reader *r, struct heddle_graph **out)
{
	uint32_t where = 0;
	finish_nodes(r);
	if (hd_build_sort(&r->build, &where))
		return hd_error(HEDDLE_E_FORMAT, "%s: the edges make a circle through node %s", r->name,
		                r->ids.names[where]);
	int status = hd_build_end(&r->build, out);
	return status == HEDDLE_E_INVALID ? hd_error_context(HEDDLE_E_FORMAT, "%s", r->name) : status;
}

int hd_graph_parse_dot(const char *name, const char *text, size_t length, struct heddle_graph **out)
{
	char *copy = malloc(length + 1);
	if (!copy)
		return hd_no_memory(name);
	memcpy(copy, text, length);
	struct reader r = {.name = name, .lexer = {.p = copy, .end = copy + length, .line = 1, .line_begins = 1}};
	int status = read_graph(&r);
	if (!status)
		status = finish(&r, out);
	hd_build_free(&r.build);
	hd_names_free(&r.ids);
	free(r.nodes);
	free(r.node_defaults.list);
	free(r.edge_defaults.list);
	free(r.here.list);
	free(r.scopes);
	free(r.chain);
	free(copy);
	return status;
}
