/* Many simulations on several threads: see campaign.h. Each simulation has a runtime of its own, so that the threads
 * share only the graphs and platforms, which do not change. */
#include "campaign.h"
#include <math.h>
#include <stdlib.h>

int campaign_init(struct campaign *c, const struct campaign_plan *plan)
{
	int status = TOOL_OK;
	size_t n = plan->n_works * (plan->configs ? 1 : plan->n_platforms);
	*c = (struct campaign){.n_seeds = plan->n_seeds, .unbounded = plan->unbounded};
	c->problems = tool_alloc(n * sizeof *c->problems);
	for (size_t i = 0; i < n && !status; i++) {
		struct problem *p = &c->problems[c->n_problems++];
		p->work = &plan->works[plan->configs ? i : i / plan->n_platforms];
		p->platform = plan->platforms[i % plan->n_platforms];
		p->config = plan->configs ? &plan->configs[i] : NULL;
		p->seeds = tool_alloc(plan->n_seeds * sizeof *p->seeds);
		for (size_t k = 0; k < plan->n_seeds && !status; k++)
			status = comparison_init(&p->seeds[k], plan->policies);
		recording_init(&p->recording, plan->n_seeds * p->seeds[0].n + !plan->unbounded);
		if (!status)
			status = work_check_platform(p->platform, p->work);
		if (status)
			break;
		p->seeds[0].untimed = work_untimed(p->platform, p->work);
		if (p->seeds[0].untimed)
			work_warn_untimed(p->platform, p->work, p->seeds[0].untimed);
	}
	if (status) {
		campaign_free(c);
		return status;
	}
	c->policies = c->problems[0].seeds[0].policies;
	c->n_policies = c->problems[0].seeds[0].n;
	return TOOL_OK;
}

void campaign_free(struct campaign *c)
{
	for (size_t i = 0; i < c->n_problems; i++) {
		for (size_t k = 0; k < c->n_seeds; k++)
			comparison_free(&c->problems[i].seeds[k]);
		free(c->problems[i].seeds);
		recording_free(&c->problems[i].recording);
		for (size_t k = 0; c->problems[i].chosen && k < c->n_policies; k++) {
			free(c->problems[i].chosen[k].clusters);
			heddle_platform_free(c->problems[i].chosen[k].platform);
		}
		free(c->problems[i].chosen);
		heddle_platform_free(c->problems[i].declared);
	}
	free(c->problems);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

/* The common data of all jobs. Each job writes other results of the campaign. */
struct shared {
	struct campaign *campaign;
	const struct heddle_config *config;
};

/* How many jobs a problem has. */
static size_t jobs_of_problem(const struct campaign *c)
{
	return c->n_seeds * c->n_policies;
}

/* The work without a recording if cluster sets are chosen, because the cluster set may decide which tasks are
 * submitted. */
static struct work work_of(struct problem *p)
{
	struct work work = *p->work;
	work.recording = p->chosen ? NULL : &p->recording;
	return work;
}

static const struct heddle_config *config_of(const struct shared *shared, const struct problem *p)
{
	return p->config ? p->config : shared->config;
}

/* Runs a policy with a seed. TOOL_FAILURE: there is no cluster set for it, or the run failed. */
static int run_policy(const struct shared *shared, struct problem *p, size_t seed, size_t policy)
{
	const struct campaign *c = shared->campaign;
	struct comparison *results = &p->seeds[seed];
	struct heddle_config config = *config_of(shared, p);
	const struct work work = work_of(p);
	config.seed += seed;
	comparison_choose(&p->seeds[0], policy, &config);
	config.time_policy = c->timed;
	const struct heddle_platform *platform = p->platform;
	if (p->chosen) {
		if (!p->chosen[policy].clusters)
			return TOOL_FAILURE;
		config.clusters = clusters_setting(p->chosen[policy].clusters);
		platform = p->chosen[policy].platform;
	}
	int status = work_sim(&config, platform, &work, &results->outcomes[policy]);
	if (status)
		tool_warn("policy %s gave no result for %s on %s", c->policies[policy], p->work->name,
		          p->platform->name);
	return status;
}

/* The jobs of a problem are all policies with the first seed, then with the second, and so on. The first job also finds
 * the bounds. */
static int run_job(void *arg, size_t job)
{
	const struct shared *shared = arg;
	const struct campaign *c = shared->campaign;
	struct problem *p = &c->problems[job / jobs_of_problem(c)];
	size_t k = job % jobs_of_problem(c), seed = k / c->n_policies, policy = k % c->n_policies;
	int status = run_policy(shared, p, seed, policy), bounded = TOOL_OK;
	p->seeds[seed].status[policy] = status;
	if (k == 0 && !c->unbounded) {
		const struct work work = work_of(p);
		bounded = comparison_bounds(&p->seeds[0], config_of(shared, p), p->platform, &work);
	}
	return status ? status : bounded;
}

static int choose_job(void *arg, size_t job)
{
	const struct shared *shared = arg;
	const struct campaign *c = shared->campaign;
	const struct problem *p = &c->problems[job / c->n_policies];
	struct chosen *chosen = &p->chosen[job % c->n_policies];
	struct heddle_config config = *shared->config;
	struct table tried;
	config.sched = c->policies[job % c->n_policies];
	chosen->platform = clusters_grouped(p->platform, "none");
	if (!chosen->platform)
		return tool_start_error("no clusters");
	int status = clusters_choose(&config, chosen->platform, p->work, &tried, &chosen->clusters);
	if (!status)
		table_free(&tried);
	return status;
}

int campaign_choose(struct campaign *c, const struct heddle_config *config, size_t n_threads)
{
	struct shared shared = {.campaign = c, .config = config};
	for (size_t i = 0; i < c->n_problems; i++)
		c->problems[i].chosen = tool_alloc(c->n_policies * sizeof *c->problems[i].chosen);
	int status = tool_jobs(choose_job, &shared, c->n_problems * c->n_policies, n_threads);
	for (size_t i = 0; i < c->n_problems; i++) {
		struct problem *p = &c->problems[i];
		p->declared = clusters_grouped(p->platform, "none");
		int declared = p->declared ? clusters_declare_all(p->declared) : tool_start_error("no clusters");
		if (!declared)
			p->platform = p->declared;
		status = status ? status : declared;
	}
	return status;
}

/* Compares all makespans with the bounds. Copies the bounds to where comparison_check looks for them. */
static int check(struct campaign *c)
{
	int status = TOOL_OK;
	for (size_t i = 0; i < c->n_problems; i++) {
		for (size_t k = 0; k < c->n_seeds; k++) {
			c->problems[i].seeds[k].bounds = c->problems[i].seeds[0].bounds;
			int sound = comparison_check(&c->problems[i].seeds[k]);
			status = status ? status : sound;
		}
	}
	return status;
}

int campaign_run(struct campaign *c, const struct heddle_config *config, size_t n_threads)
{
	struct shared shared = {.campaign = c, .config = config};
	int status = tool_jobs(run_job, &shared, c->n_problems * jobs_of_problem(c), n_threads);
	return status || c->unbounded || config->virtual_time.noise > 0 ? status : check(c);
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

struct cell campaign_cell(const struct campaign *c, size_t problem, size_t policy)
{
	const struct problem *p = &c->problems[problem];
	struct cell cell = {.sched_time = INFINITY};
	double squares = 0;
	for (size_t k = 0; k < c->n_seeds; k++) {
		const struct outcome *r = &p->seeds[k].outcomes[policy];
		if (p->seeds[k].status[policy])
			continue;
		cell.n++;
		cell.seconds += r->seconds;
		squares += r->seconds * r->seconds;
		cell.bytes_moved += r->bytes_moved;
		cell.idle += r->idle;
		cell.sched_time = fmin(cell.sched_time, r->sched_time / r->tasks);
	}
	double n = cell.n ? (double)cell.n : NAN, bound = comparison_bound(&p->seeds[0]) * 1e-6;
	cell.seconds /= n;
	cell.bytes_moved /= n;
	cell.idle /= n;
	cell.sched_time = cell.n && c->timed ? cell.sched_time : NAN;
	cell.deviation = cell.n > 1 ? sqrt(fmax(0, (squares - n * cell.seconds * cell.seconds) / (n - 1))) : NAN;
	cell.ratio = bound > 0 ? cell.seconds / bound : NAN;
	return cell;
}
