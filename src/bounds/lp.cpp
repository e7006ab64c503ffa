/* Where CLP throws, which C cannot catch. */
#include <CoinError.hpp>
#include <new>

extern "C" {
#include "base/base.h"
int hd_lp_run(int (*work)(void *arg), void *arg); /* lp.h */
}

int hd_lp_run(int (*work)(void *arg), void *arg)
{
	try {
		return work(arg);
	} catch (const std::bad_alloc &) {
		return hd_no_memory("a linear program");
	} catch (const CoinError &error) {
		return hd_error(HEDDLE_E_UNSUPPORTED, "CLP cannot solve a linear program: %s", error.message().c_str());
	} catch (...) {
		return hd_error(HEDDLE_E_UNSUPPORTED, "CLP cannot solve a linear program");
	}
}
