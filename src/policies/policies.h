/* The interface of src/policies for the core.
 *
 * The core finds a policy with heddle_policy_find, parses the user's options for it, and calls its callbacks
 * (heddle/policy.h). Policies include only this public header and headers of this folder.
 */
#ifndef HD_POLICIES_POLICIES_H
#define HD_POLICIES_POLICIES_H

#include <heddle/policy.h>

/* Options. The unit, min and max of an option say what its values are:
 *   "a|b|c"                 one of these words; as a number, its place among them: 0, 1, 2
 *   anything else, min < max  a number from min to max
 *   anything else, min = max  any text without a comma
 *
 * hd_policy_options_parse parses "name=value,name=value" (NULL or "": all defaults; blanks around names and values are
 * ignored). It sets *values to an array with one text per option of the policy, in its order, and a final NULL; the
 * caller frees the array with hd_policy_options_free. An option that the text does not name gets the value of the
 * environment variable HEDDLE_<POLICY>_<OPTION>, if `variables` is not 0 and the variable is set; otherwise the value
 * in the preset that the option `preset` names; otherwise the default. HEDDLE_E_UNKNOWN: no such option;
 * HEDDLE_E_INVALID: no such value, or an option given twice; both list what is valid. */
int hd_policy_options_parse(const struct heddle_policy *policy, const char *text, int variables, char ***values);
void hd_policy_options_free(char **values);

/* Other defaults of a shipped policy, which the option `preset=NAME` selects. */
struct hd_preset {
	const char *policy, *name;
	const char *values; /* "name=value,name=value" */
};
extern const struct hd_preset hd_presets[]; /* an entry whose policy is NULL ends the array */
/* 1: the policy is shipped; 0: the program has registered it */
int hd_policy_is_shipped(const struct heddle_policy *policy);
/* The value as a number, as listed above; 0 for free text. `text` must be a value that hd_policy_options_parse has
 * accepted. */
double hd_policy_option_number(const struct heddle_option *option, const char *text);
/* Index of an option in the policy's table; -1: the policy has no option of that name. */
int hd_policy_option_index(const struct heddle_policy *policy, const char *name);

/* The shipped policies, one line each, in the order that `heddle policies` prints. The structure that a file of this
 * folder defines for a policy is called `hd_policy_` followed by the policy's name. */
#define HD_SHIPPED_POLICIES(POLICY) \
	POLICY(eager)               \
	POLICY(prio)                \
	POLICY(random)              \
	POLICY(ws)                  \
	POLICY(lws)                 \
	POLICY(dm)                  \
	POLICY(dmda)                \
	POLICY(dmdar)               \
	POLICY(dmdas)               \
	POLICY(heft)                \
	POLICY(dada)                \
	POLICY(multiprio)           \
	POLICY(critprio)            \
	POLICY(heteroprio)          \
	POLICY(laheteroprio)        \
	POLICY(autoheteroprio)      \
	POLICY(horizon)
#define HD_DECLARE_POLICY(name) extern const struct heddle_policy hd_policy_##name;
HD_SHIPPED_POLICIES(HD_DECLARE_POLICY)
#undef HD_DECLARE_POLICY

/* Creates an instance of lws with its default options for another policy, which calls the functions of hd_policy_lws
 * with *state. */
int hd_lws_create(heddle_sched *sched, void **state);

#endif
