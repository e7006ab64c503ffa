/* All policies: the shipped policies, which policies.h lists, and the policies that the program has registered. */
#include "policies.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#define ENTRY(name) &hd_policy_##name,
static const struct heddle_policy *const shipped[] = {HD_SHIPPED_POLICIES(ENTRY)};
#undef ENTRY
enum { N_SHIPPED = sizeof shipped / sizeof *shipped };

/* The list of the program's own policies is global, not part of a runtime, because policies are registered before a
 * runtime is started. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
/* guarded by registry_lock; owns the array, borrows the policies for ever */
static const struct heddle_policy **registered;
static size_t n_registered; /* guarded by registry_lock */

int hd_policy_is_shipped(const struct heddle_policy *policy)
{
	for (size_t i = 0; i < N_SHIPPED; i++)
		if (shipped[i] == policy)
			return 1;
	return 0;
}

/* The caller holds registry_lock. */
static const struct heddle_policy *find_policy(const char *name)
{
	for (size_t i = 0; i < N_SHIPPED; i++)
		if (strcmp(shipped[i]->name, name) == 0)
			return shipped[i];
	for (size_t i = 0; i < n_registered; i++)
		if (strcmp(registered[i]->name, name) == 0)
			return registered[i];
	return NULL;
}

static int check_policy(const struct heddle_policy *p)
{
	if (!p || !p->name || !*p->name)
		return hd_error(HEDDLE_E_INVALID, "a policy without a name cannot be registered: set its field name");
	if (p->abi != HEDDLE_POLICY_ABI)
		return hd_error(HEDDLE_E_INVALID,
		                "policy '%s' was made for interface %u, this library has %d: set .abi = "
		                "HEDDLE_POLICY_ABI and compile it again",
		                p->name, p->abi, HEDDLE_POLICY_ABI);
	const char *missing = !p->create    ? "create"
	                      : !p->destroy ? "destroy"
	                      : !p->ready   ? "ready"
	                      : !p->pick    ? "pick"
	                                    : NULL;
	if (missing)
		return hd_error(HEDDLE_E_INVALID,
		                "policy '%s' has no %s callback: create, destroy, ready and pick are required", p->name,
		                missing);
	if (strcmp(p->name, "auto") == 0)
		return hd_error(HEDDLE_E_INVALID, "no policy can be called 'auto': it means that Heddle chooses one");
	char **defaults;
	int status = hd_policy_options_parse(p, NULL, 0, &defaults);
	if (status < 0)
		return status;
	hd_policy_options_free(defaults);
	return HEDDLE_OK;
}

static int add_policy(const struct heddle_policy *policy)
{
	const struct heddle_policy *same_name = find_policy(policy->name);
	if (same_name == policy)
		return HEDDLE_OK;
	if (same_name)
		return hd_error(HEDDLE_E_INVALID, "there is already a policy called '%s': give yours another name",
		                policy->name);
	const struct heddle_policy **grown = realloc(registered, (n_registered + 1) * sizeof *grown);
	if (!grown)
		return hd_no_memory("the list of policies");
	registered = grown;
	registered[n_registered++] = policy;
	return HEDDLE_OK;
}

int heddle_policy_register(const struct heddle_policy *policy)
{
	int status = check_policy(policy);
	if (status < 0)
		return status;
	pthread_mutex_lock(&registry_lock);
	status = add_policy(policy);
	pthread_mutex_unlock(&registry_lock);
	return status;
}

const struct heddle_policy **heddle_policies(void)
{
	pthread_mutex_lock(&registry_lock);
	const struct heddle_policy **all = malloc((N_SHIPPED + n_registered + 1) * sizeof *all);
	if (all) {
		memcpy(all, shipped, sizeof shipped);
		if (n_registered)
			memcpy(all + N_SHIPPED, registered, n_registered * sizeof *all);
		all[N_SHIPPED + n_registered] = NULL;
	}
	pthread_mutex_unlock(&registry_lock);
	if (!all)
		hd_no_memory("the list of policies");
	return all;
}

static void explain_unknown(const char *name)
{
	const struct heddle_policy **all = heddle_policies();
	char *list = hd_format("%s", "");
	const char *near = NULL;
	size_t fewest = 3; /* a name with this many misspelt letters is not suggested */
	for (size_t i = 0; all && all[i] && list; i++) {
		char *longer = hd_format("%s%s%s", list, i ? ", " : "", all[i]->name);
		free(list);
		list = longer;
		size_t slips = hd_slips(name, all[i]->name);
		if (slips < fewest && slips < strlen(all[i]->name)) {
			near = all[i]->name;
			fewest = slips;
		}
	}
	if (all && list && strcmp(name, "auto") == 0)
		hd_error(HEDDLE_E_UNKNOWN, "'auto' is no policy, it means that Heddle chooses one of %s", list);
	else if (all && list)
		hd_error(HEDDLE_E_UNKNOWN, "there is no policy '%s'; %s%s%s: %s, and auto: Heddle chooses", name,
		         near ? "did you mean '" : "", near ? near : "", near ? "'? Known" : "known", list);
	else
		hd_no_memory("the list of policies");
	free(list);
	free(all);
}

const struct heddle_policy *heddle_policy_find(const char *name)
{
	if (!name) {
		hd_error(HEDDLE_E_INVALID, "heddle_policy_find was given no name");
		return NULL;
	}
	pthread_mutex_lock(&registry_lock);
	const struct heddle_policy *found = find_policy(name);
	pthread_mutex_unlock(&registry_lock);
	if (!found)
		explain_unknown(name);
	return found;
}
