/* Policies, as the core sees them: the door of src/policies.
 *
 * The core finds a policy with heddle_policy_find, parses the user's options for it, and drives it through the
 * callbacks of heddle/policy.h. Policies themselves include only that header and the containers of this folder.
 */
#ifndef HD_POLICIES_H
#define HD_POLICIES_H

#include <heddle/policy.h>

/* Options. What the unit of an option says decides what its values are:
 *   "a|b|c"                 one of these words; as a number, its place among them: 0, 1, 2
 *   anything else, min < max  a number from min to max
 *   anything else, min = max  any text without a comma
 *
 * Parses "name=value,name=value" (NULL or "": all defaults; blanks around names and values are ignored) and fills
 * *values with one text per option of the policy, in its order, ended by NULL. The caller frees it with
 * hd_policy_options_free. With `variables`, what the text leaves out is taken from the environment:
 * HEDDLE_<POLICY>_<OPTION>, before the default. HEDDLE_E_UNKNOWN: no such option; HEDDLE_E_INVALID: no such value, or
 * an option given twice; both list what is valid. */
int hd_policy_options_parse(const struct heddle_policy *policy, const char *text, int variables, char ***values);
void hd_policy_options_free(char **values);
int hd_policy_is_shipped(const struct heddle_policy *policy); /* not one that the program has registered */
/* The value as a number, as above. `text` is one that the parser accepted (0 for free text). */
double hd_policy_option_number(const struct heddle_option *option, const char *text);
/* Index of an option in the policy's table; -1: it has none of that name. */
int hd_policy_option_index(const struct heddle_policy *policy, const char *name);

/* The shipped policies, one line each, in the order that `heddle policies` prints. NAME stands for the structure
 * of that name behind `hd_policy_`, which a file of this folder defines. */
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
	POLICY(autoheteroprio)
#define HD_DECLARE_POLICY(name) extern const struct heddle_policy hd_policy_##name;
HD_SHIPPED_POLICIES(HD_DECLARE_POLICY)
#undef HD_DECLARE_POLICY

#endif
