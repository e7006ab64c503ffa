/* The columns of table 4 of the paper. The paper does not define "close", "far" and "many"; docs/lab.md says where
 * these limits come from. */
#include "lab.h"
#include <math.h>

#define CLOSE 1.5 /* the classes are close if time on the slower / time on the faster is less than this */
#define FAR 2.0   /* the classes are far if it is at least this */
enum { MANY_PREDECESSORS = 4, MANY_SUCCESSORS = 5 };

static void add_type(struct hd_lab_statistics *s, const struct hd_lab_dag *dag, uint32_t type)
{
	double cpu = dag->cost[type][HD_LAB_CPU], gpu = dag->cost[type][HD_LAB_GPU], tasks = dag->tasks[type];
	if (dag->tasks[type] == 0)
		return;
	double ratio = fmax(cpu, gpu) / fmin(cpu, gpu);
	s->close += ratio < CLOSE ? tasks : 0;
	s->far += ratio >= FAR ? tasks : 0;
	s->mean_diff += tasks * fabs(cpu - gpu) / (double)dag->least_work;
}

struct hd_lab_statistics hd_lab_statistics(const struct hd_lab_dag *dag)
{
	struct hd_lab_statistics s = {.close = 0};
	double n = dag->n_tasks;
	for (uint32_t t = 0; t < dag->n_types; t++)
		add_type(&s, dag, t);
	for (uint32_t i = 0; i < dag->n_tasks; i++) {
		uint32_t preds = dag->n_preds[i], succs = dag->first[i + 1] - dag->first[i];
		s.mean_predecessors += preds;
		s.max_predecessors = fmax(s.max_predecessors, preds);
		s.max_successors = fmax(s.max_successors, succs);
		s.many_predecessors += preds >= MANY_PREDECESSORS;
		s.many_successors += succs >= MANY_SUCCESSORS;
		s.no_successor += succs == 0;
	}
	s.close /= n;
	s.far /= n;
	s.mean_predecessors /= n;
	s.many_predecessors /= n;
	s.many_successors /= n;
	s.no_successor /= n;
	return s;
}
