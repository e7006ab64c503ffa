/* Sums over the tasks of each codelet, and over the transfers of each link, of a trace. */
#include <stdlib.h>
#include "base/base.h"
#include "trace/trace.h"

static struct hd_sum *make_sums(size_t n)
{
	struct hd_sum *sums = calloc(n ? n : 1, sizeof *sums);
	if (!sums)
		hd_no_memory("what a trace adds up to");
	return sums;
}

struct hd_sum *hd_trace_codelet_sums(const struct heddle_trace *trace)
{
	const struct heddle_platform *p = trace->platform;
	struct hd_sum *sums = make_sums(trace->n_codelets * p->n_classes);
	for (size_t i = 0; i < trace->n_tasks && sums; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		struct hd_sum *sum = &sums[t->codelet * p->n_classes + p->workers[t->worker].class_id];
		sum->n++;
		sum->time += t->end - t->start;
		sum->work += t->flops;
	}
	return sums;
}

struct hd_sum *hd_trace_link_sums(const struct heddle_trace *trace)
{
	size_t n_nodes = trace->platform->n_nodes;
	struct hd_sum *sums = make_sums(n_nodes * n_nodes);
	for (size_t i = 0; i < trace->n_transfers && sums; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		struct hd_sum *sum = &sums[t->from * n_nodes + t->to];
		sum->n++;
		sum->time += t->end - t->start;
		sum->work += (double)t->bytes;
		sum->prefetched += t->reason == 1;
	}
	return sums;
}
