/* The Paje format, for ViTE and pajeng (Schnorr, "Paje trace file format", 2016). The containers are nested: the run
 * contains the memory nodes, and each node the lanes of the workers that compute there. The state of a lane is the
 * codelet that runs in it, or the expansion of a hierarchical task, or idle, or retired while the worker is not driven.
 * While a kernel waits, its lane shows what the worker runs meanwhile, and afterwards the kernel's codelet again.
 * Transfers are links between nodes; changes of layouts are events of the run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"
#include "trace/trace.h"

enum event {
	CONTAINER_TYPE,
	STATE_TYPE,
	LINK_TYPE,
	VALUE,
	CREATE,
	DESTROY,
	STATE,
	START_LINK,
	END_LINK,
	EVENT_TYPE,
	EVENT
};

static const struct {
	const char *name, *fields[9]; /* each field as "Name type" */
} events[] = {
    [CONTAINER_TYPE] = {"DefineContainerType", {"Alias string", "Type string", "Name string"}},
    [STATE_TYPE] = {"DefineStateType", {"Alias string", "Type string", "Name string"}},
    [LINK_TYPE] = {"DefineLinkType",
                   {"Alias string", "Type string", "StartContainerType string", "EndContainerType string",
                    "Name string"}},
    [VALUE] = {"DefineEntityValue", {"Alias string", "Type string", "Name string", "Color color"}},
    [CREATE] = {"CreateContainer", {"Time date", "Alias string", "Type string", "Container string", "Name string"}},
    [DESTROY] = {"DestroyContainer", {"Time date", "Type string", "Name string"}},
    [STATE] = {"SetState",
               {"Time date", "Type string", "Container string", "Value string", "Task string", "Name string"}},
    [START_LINK] = {"StartLink",
                    {"Time date", "Type string", "Container string", "Value string", "StartContainer string",
                     "Key string", "Bytes string", "Name string"}},
    [END_LINK] = {"EndLink",
                  {"Time date", "Type string", "Container string", "Value string", "EndContainer string", "Key string",
                   "Bytes string", "Name string"}},
    [EVENT_TYPE] = {"DefineEventType", {"Alias string", "Type string", "Name string"}},
    [EVENT] = {"NewEvent",
               {"Time date", "Type string", "Container string", "Value string", "Data string", "Plan string",
                "Before string", "Name string"}},
};
enum { N_EVENTS = sizeof events / sizeof *events };

enum kind { TASK, TRANSFER, ABSENCE, EXPANSION, LAYOUT };

/* The beginning or the end of a task, a transfer, an expansion or an absence; a change of a layout has a beginning
 * only. */
struct moment {
	double time; /* us */
	enum kind kind;
	size_t of; /* index in the list of its kind */
	/* rank: the order of moments at the same time: ends come first, then both moments of events without duration,
	 * then beginnings */
	int is_end, rank;
};

static void put_header(struct hd_text *text)
{
	for (size_t i = 0; i < N_EVENTS; i++) {
		hd_text_format(text, "%%EventDef Paje%s %zu\n", events[i].name, i);
		for (size_t k = 0; k < 9 && events[i].fields[k]; k++)
			hd_text_format(text, "%% %s\n", events[i].fields[k]);
		hd_text_put(text, "%EndEventDef\n");
	}
}

/* Writes the name in double quotes. The format has no escapes, so double quotes within it become single ones, and
 * control characters become blanks. */
static void put_name(struct hd_text *text, const char *s)
{
	hd_text_put(text, " \"");
	for (; *s; s++)
		hd_text_char(text, *s == '"' ? '\'' : (unsigned char)*s < 0x20 ? ' ' : *s);
	hd_text_char(text, '"');
}

/* Writes the last field of a state or a link: the name that the program has given to the task or the datum, or "-". */
static void put_given_name(struct hd_text *text, const char *name)
{
	if (name)
		put_name(text, name);
	else
		hd_text_put(text, " -");
	hd_text_char(text, '\n');
}

static void put_color(struct hd_text *text, uint32_t color)
{
	hd_text_format(text, " \"%.3f %.3f %.3f\"\n", (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
	               (color & 255) / 255.0);
}

/* Begins an event with its number and its time, which the file has in ms. */
static void put_event(struct hd_text *text, enum event event, double us)
{
	hd_text_int(text, event);
	hd_text_char(text, ' ');
	hd_text_fixed(text, us * 1e-3, 6);
}

/* Defines the states of workers that submit sub-graphs, one per codelet with an expansion. */
static int put_expanding(struct hd_text *text, const struct heddle_trace *trace)
{
	unsigned char *used = calloc(trace->n_codelets + 1, 1);
	if (!used)
		return hd_no_memory("the codelets of a trace");
	for (size_t i = 0; i < trace->n_expansions; i++)
		used[trace->expansions[i].codelet] = 1;
	for (size_t i = 0; i < trace->n_codelets; i++) {
		char *name = used[i] ? hd_format("expand %s", trace->codelets[i].name) : NULL;
		if (used[i]) {
			hd_text_format(text, "%d x%zu S", VALUE, i);
			put_name(text, name ? name : "expand");
			put_color(text, HD_EXPANSION);
		}
		free(name);
	}
	free(used);
	return 0;
}

/* Defines the steps of layouts, if the trace has any: other traces have no such kind of events. */
static void put_steps(struct hd_text *text, const struct heddle_trace *trace)
{
	if (trace->n_layouts)
		hd_text_format(text, "%d L R \"change of a layout\"\n", EVENT_TYPE);
	for (int i = 0; i < HD_LAYOUT_STEPS && trace->n_layouts; i++) {
		hd_text_format(text, "%d l%d L", VALUE, i);
		put_name(text, hd_layout_name((enum heddle_layout_step)i));
		put_color(text, HD_LAYOUT);
	}
}

static int put_types(struct hd_text *text, const struct heddle_trace *trace, int some_retire)
{
	static const uint32_t reasons[] = {0x000000, 0x0072b2, 0x999999};
	uint32_t *colors = hd_trace_colors(trace);
	if (!colors)
		return hd_no_memory("the colours of a trace");
	hd_text_format(text, "%d R 0 \"run\"\n%d N R \"memory node\"\n%d W N \"worker\"\n", CONTAINER_TYPE,
	               CONTAINER_TYPE, CONTAINER_TYPE);
	hd_text_format(text, "%d S W \"state\"\n%d T R N N \"transfer\"\n%d idle S \"idle\" \"0.900 0.900 0.900\"\n",
	               STATE_TYPE, LINK_TYPE, VALUE);
	if (some_retire)
		hd_text_format(text, "%d retired S \"retired\" \"1.000 1.000 1.000\"\n", VALUE);
	for (size_t i = 0; i < trace->n_codelets; i++) {
		hd_text_format(text, "%d c%zu S", VALUE, i);
		put_name(text, trace->codelets[i].name);
		put_color(text, colors[i]);
	}
	for (uint32_t i = 0; i < 3; i++) {
		hd_text_format(text, "%d r%u T", VALUE, (unsigned)i);
		put_name(text, hd_reason_name(i));
		put_color(text, reasons[i]);
	}
	free(colors);
	put_steps(text, trace);
	return put_expanding(text, trace);
}

static void put_containers(struct hd_text *text, const struct heddle_trace *trace, const struct hd_task_lanes *lanes)
{
	const struct heddle_platform *p = trace->platform;
	put_event(text, CREATE, 0);
	hd_text_put(text, " run R 0");
	char *name = hd_format("%s on %s", trace->policy, p->name);
	put_name(text, name ? name : "run");
	free(name);
	for (size_t i = 0; i < p->n_nodes; i++) {
		hd_text_char(text, '\n');
		put_event(text, CREATE, 0);
		hd_text_format(text, " n%zu N run", i);
		put_name(text, p->nodes[i].name);
	}
	hd_text_char(text, '\n');
	for (size_t lane = 0, w = 0; w < p->n_workers; w++) {
		for (; lane < lanes->first[w + 1]; lane++) {
			put_event(text, CREATE, 0);
			hd_text_format(text, " w%zu W n%u", lane, p->workers[w].node);
			put_name(text, p->workers[w].name);
			hd_text_char(text, '\n');
			put_event(text, STATE, 0);
			hd_text_format(text, " S w%zu idle - -\n", lane);
		}
	}
}

static void put_end(struct hd_text *text, const struct heddle_trace *trace, size_t n_lanes, double end)
{
	for (size_t w = 0; w < n_lanes; w++) {
		put_event(text, DESTROY, end);
		hd_text_format(text, " W w%zu\n", w);
	}
	for (size_t i = 0; i < trace->platform->n_nodes; i++) {
		put_event(text, DESTROY, end);
		hd_text_format(text, " N n%zu\n", i);
	}
	put_event(text, DESTROY, end);
	hd_text_put(text, " R run\n");
}

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return x->is_end - y->is_end;
}

/* Appends the two moments of an event to a list. */
static void add_moments(struct moment **at, enum kind kind, size_t of, double start, double end)
{
	int is_short = start == end;
	*(*at)++ = (struct moment){start, kind, of, 0, is_short ? 1 : 2};
	*(*at)++ = (struct moment){end, kind, of, 1, is_short ? 1 : 0};
}

static struct moment *find_moments(const struct heddle_trace *trace, const struct hd_absences *absences, size_t *n)
{
	size_t room = 2 * (trace->n_tasks + trace->n_transfers + absences->n + trace->n_expansions) + trace->n_layouts;
	struct moment *moments = malloc((room + 1) * sizeof *moments), *at = moments;
	if (!moments)
		return NULL;
	for (size_t i = 0; i < trace->n_tasks; i++)
		add_moments(&at, TASK, i, trace->tasks[i].start, trace->tasks[i].end);
	for (size_t i = 0; i < trace->n_transfers; i++)
		add_moments(&at, TRANSFER, i, trace->transfers[i].start, trace->transfers[i].end);
	for (size_t i = 0; i < absences->n; i++)
		add_moments(&at, ABSENCE, i, absences->list[i].from, absences->list[i].to);
	for (size_t i = 0; i < trace->n_expansions; i++)
		add_moments(&at, EXPANSION, i, trace->expansions[i].start, trace->expansions[i].end);
	for (size_t i = 0; i < trace->n_layouts; i++)
		*at++ = (struct moment){trace->layouts[i].at, LAYOUT, i, 0, 1};
	*n = (size_t)(at - moments);
	qsort(moments, *n, sizeof *moments, compare_moments);
	return moments;
}

static void put_transfer(struct hd_text *text, const struct heddle_trace *trace, const struct moment *m, double begin)
{
	const struct heddle_trace_transfer *t = &trace->transfers[m->of];
	put_event(text, m->is_end ? END_LINK : START_LINK, m->time - begin);
	hd_text_format(text, " T run r%u n%u t%zu %llu", (unsigned)t->reason, (unsigned)(m->is_end ? t->to : t->from),
	               m->of, (unsigned long long)t->bytes);
	put_given_name(text, heddle_name_of(&trace->data_names, t->data));
}

static void put_layout(struct hd_text *text, const struct heddle_trace *trace, const struct moment *m, double begin)
{
	const struct heddle_trace_layout *l = &trace->layouts[m->of];
	put_event(text, EVENT, m->time - begin);
	hd_text_format(text, " L run l%d %u ", (int)l->step, (unsigned)l->data);
	if (l->plan >= 0)
		hd_text_int(text, l->plan);
	else
		hd_text_char(text, '-');
	hd_text_char(text, ' ');
	if (l->before)
		hd_text_uint(text, l->before - 1);
	else
		hd_text_char(text, '-');
	put_given_name(text, heddle_name_of(&trace->data_names, l->data));
}

/* The state of all lanes while the moments are written in order. A task or an expansion is given by a number: 1 + the
 * index of the task, or 1 + the number of tasks + the index of the expansion. */
struct running {
	struct hd_task_lanes lanes;
	struct hd_absences absences; /* owns */
	size_t *what;                /* owns; per lane: the number of the task or expansion that it shows, or 0 */
	/* owns; per number of a running task or expansion: the number of the suspended task below it, which the lane
	 * has shown before, or 0 */
	size_t *below;
};

/* Notes that a task or an expansion begins or ends in a lane. Returns 0 if the state that the lane shows does not
 * change, because a later task runs in it or the worker is retired; then the caller writes nothing. */
static int set_state(struct running *r, size_t lane, size_t what, int is_end)
{
	size_t *at = &r->what[lane];
	if (!is_end) {
		r->below[what] = *at;
		*at = what;
		return 1;
	}
	while (*at && *at != what)
		at = &r->below[*at];
	if (!*at)
		return 0;
	*at = r->below[what];
	return at == &r->what[lane];
}

/* What a lane shows while a worker is busy there. */
struct state {
	size_t lane;
	char kind; /* 'c': a task of the codelet; 'x': an expansion: the letters of put_types */
	uint32_t codelet;
	uint64_t id; /* id of the task */
};

/* The state of a task or an expansion, by its number. While a worker submits a sub-graph, its other lanes are empty. */
static struct state state_of(const struct heddle_trace *trace, const struct running *r, size_t what)
{
	size_t i = what - 1;
	if (i < trace->n_tasks) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		return (struct state){r->lanes.of[i], 'c', (uint32_t)t->codelet, t->id};
	}
	const struct heddle_trace_expansion *e = &trace->expansions[i - trace->n_tasks];
	return (struct state){r->lanes.first[e->worker], 'x', (uint32_t)e->codelet, e->id};
}

/* Writes the state that a lane shows from now on. */
static void put_state(struct hd_text *text, const struct heddle_trace *trace, double time, const struct running *r,
                      size_t lane)
{
	const char *name = NULL;
	put_event(text, STATE, time);
	hd_text_format(text, " S w%zu ", lane);
	if (r->what[lane]) {
		const struct state s = state_of(trace, r, r->what[lane]);
		hd_text_format(text, "%c%u %llu", s.kind, (unsigned)s.codelet, (unsigned long long)s.id);
		name = heddle_name_of(&trace->task_names, s.id);
	} else {
		hd_text_put(text, "idle -");
	}
	put_given_name(text, name);
}

/* Writes that a worker begins or ends a task or an expansion. */
static void put_work(struct hd_text *text, const struct heddle_trace *trace, const struct moment *m, double begin,
                     struct running *r)
{
	size_t what = 1 + m->of + (m->kind == EXPANSION ? trace->n_tasks : 0);
	size_t lane = state_of(trace, r, what).lane;
	if (set_state(r, lane, what, m->is_end))
		put_state(text, trace, m->time - begin, r, lane);
}

/* Writes that a worker retires or is driven again. If the worker still expands a task, the end of the expansion is not
 * written. */
static void put_absence(struct hd_text *text, const struct moment *m, double begin, struct running *r)
{
	size_t worker = r->absences.list[m->of].worker;
	for (size_t lane = r->lanes.first[worker]; lane < r->lanes.first[worker + 1]; lane++) {
		r->what[lane] = 0;
		put_event(text, STATE, m->time - begin);
		hd_text_format(text, " S w%zu %s - -\n", lane, m->is_end ? "idle" : "retired");
	}
}

/* Finds when workers were retired, between the first and the last moment of the trace. */
static int find_absences(const struct heddle_trace *trace, struct hd_absences *out)
{
	double begin = INFINITY, end = -INFINITY;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		begin = fmin(begin, trace->tasks[i].start);
		end = fmax(end, trace->tasks[i].end);
	}
	for (size_t i = 0; i < trace->n_transfers; i++) {
		begin = fmin(begin, trace->transfers[i].start);
		end = fmax(end, trace->transfers[i].end);
	}
	for (size_t i = 0; i < trace->n_expansions; i++) {
		begin = fmin(begin, trace->expansions[i].start);
		end = fmax(end, trace->expansions[i].end);
	}
	if (trace->n_layouts) {
		begin = fmin(begin, trace->layouts[0].at);
		end = fmax(end, trace->layouts[trace->n_layouts - 1].at);
	}
	return hd_trace_absences(trace, begin, end, out);
}

static int put_moments(struct hd_text *text, const struct heddle_trace *trace, struct running *r)
{
	size_t n = 0, n_lanes = r->lanes.first[trace->platform->n_workers];
	struct moment *moments = find_moments(trace, &r->absences, &n);
	r->what = calloc(n_lanes + 1, sizeof *r->what);
	r->below = calloc(1 + trace->n_tasks + trace->n_expansions, sizeof *r->below);
	int status = moments && r->what && r->below ? 0 : hd_no_memory("a Paje trace");
	double begin = n && !status ? moments[0].time : 0;
	if (!status)
		put_containers(text, trace, &r->lanes);
	for (size_t i = 0; i < n && !status; i++) {
		const struct moment *m = &moments[i];
		switch (m->kind) {
		case TASK:
		case EXPANSION: put_work(text, trace, m, begin, r); break;
		case TRANSFER: put_transfer(text, trace, m, begin); break;
		case ABSENCE: put_absence(text, m, begin, r); break;
		case LAYOUT: put_layout(text, trace, m, begin); break;
		}
	}
	if (!status)
		put_end(text, trace, n_lanes, n ? moments[n - 1].time - begin : 0);
	free(moments);
	free(r->what);
	free(r->below);
	return status;
}

int hd_export_paje(const struct heddle_trace *trace, const char *path)
{
	struct hd_text text = {0};
	struct running running = {.what = NULL};
	int status = hd_task_lanes_init(&running.lanes, trace);
	if (!status)
		status = find_absences(trace, &running.absences);
	put_header(&text);
	if (!status)
		status = put_types(&text, trace, running.absences.n > 0);
	if (!status)
		status = put_moments(&text, trace, &running);
	if (!status)
		status = hd_text_write(&text, path);
	hd_task_lanes_free(&running.lanes);
	hd_absences_free(&running.absences);
	hd_text_free(&text);
	return status;
}
