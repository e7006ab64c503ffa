/* Finds the links that the transfers of a trace used, and gives each transfer a lane of its link, so that transfers
 * that overlap in time can be drawn side by side. */
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "trace/trace.h"
#include "base/grow.h"

/* The lanes of one link, while its transfers are visited in the order of their starts. */
struct lanes {
	double *ends;   /* owns; per lane, us: end of its last transfer */
	size_t n, size; /* n: number of lanes in use; size: capacity of `ends` */
	double last;    /* us: latest end of a transfer so far */
};

/* Takes the first lane that is free at `start`, and occupies it until `end`. SIZE_MAX: out of memory. */
static size_t take_lane(struct lanes *lanes, double start, double end)
{
	size_t lane = 0;
	while (lane < lanes->n && lanes->ends[lane] > start)
		lane++;
	if (HD_GROW(lanes->ends, lane, lanes->size, 4))
		return SIZE_MAX;
	lanes->n = lane == lanes->n ? lane + 1 : lanes->n;
	lanes->ends[lane] = end;
	return lane;
}

/* Fills links->links and links->link. */
static int find_links(struct hd_links *links, const struct heddle_trace *trace)
{
	size_t n_nodes = trace->platform->n_nodes;
	uint32_t *seen = calloc(n_nodes * n_nodes + 1, sizeof *seen);
	if (!seen)
		return hd_no_memory("the links of a trace");
	for (size_t i = 0; i < trace->n_transfers; i++)
		seen[trace->transfers[i].from * n_nodes + trace->transfers[i].to] = 1;
	for (size_t i = 0; i < n_nodes * n_nodes; i++)
		links->n += seen[i];
	links->links = calloc(links->n + 1, sizeof *links->links);
	uint32_t n = 0;
	for (size_t i = 0; i < n_nodes * n_nodes && links->links; i++) {
		if (!seen[i])
			continue;
		links->links[n] = (struct hd_link){.from = (uint32_t)(i / n_nodes), .to = (uint32_t)(i % n_nodes)};
		seen[i] = n++;
	}
	for (size_t i = 0; i < trace->n_transfers; i++)
		links->link[i] = seen[trace->transfers[i].from * n_nodes + trace->transfers[i].to];
	free(seen);
	return links->links ? 0 : hd_no_memory("the links of a trace");
}

static int find_lanes(struct hd_links *links, const struct heddle_trace *trace)
{
	struct lanes *lanes = calloc(links->n + 1, sizeof *lanes);
	int failed = !lanes;
	for (size_t i = 0; i < links->n && lanes; i++)
		lanes[i].last = -INFINITY;
	for (size_t i = 0; i < trace->n_transfers && !failed; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		struct lanes *mine = &lanes[links->link[i]];
		struct hd_link *link = &links->links[links->link[i]];
		size_t lane = take_lane(mine, t->start, t->end);
		failed = lane == SIZE_MAX;
		links->lane[i] = (uint32_t)lane;
		link->n_lanes = (uint32_t)mine->n;
		link->busy += fmax(0, t->end - fmax(t->start, mine->last));
		mine->last = fmax(mine->last, t->end);
	}
	for (size_t i = 0; i < links->n && lanes; i++)
		free(lanes[i].ends);
	free(lanes);
	return failed ? hd_no_memory("the links of a trace") : 0;
}

int hd_links_init(struct hd_links *links, const struct heddle_trace *trace)
{
	*links = (struct hd_links){0};
	links->link = malloc((trace->n_transfers + 1) * sizeof *links->link);
	links->lane = malloc((trace->n_transfers + 1) * sizeof *links->lane);
	int status = links->link && links->lane ? 0 : hd_no_memory("the links of a trace");
	if (!status)
		status = find_links(links, trace);
	if (!status)
		status = find_lanes(links, trace);
	if (status)
		hd_links_free(links);
	return status;
}

void hd_links_free(struct hd_links *links)
{
	free(links->links);
	free(links->link);
	free(links->lane);
	*links = (struct hd_links){0};
}
