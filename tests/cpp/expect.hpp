/* What the tests in C++ share: expectations, a small runtime, and a list of tests that are run one after the other. */
#ifndef TESTS_CPP_EXPECT_HPP
#define TESTS_CPP_EXPECT_HPP

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <heddle.hpp>

#define EXPECT(condition)                                                                                      \
	do {                                                                                                   \
		if (!(condition)) {                                                                            \
			std::fprintf(stderr, "%s:%d: it is not so that %s\n", __FILE__, __LINE__, #condition); \
			std::exit(1);                                                                          \
		}                                                                                              \
	} while (0)

/* The exception of type E that f throws. */
template <class E, class F> E thrown_by(F f)
{
	try {
		f();
	} catch (const E &e) {
		return e;
	} catch (const std::exception &other) {
		std::fprintf(stderr, "another exception: %s\n", other.what());
	}
	std::fprintf(stderr, "the exception that was expected was not thrown\n");
	std::exit(1);
}

/* At most n_cpu workers: fewer where there are not so many cores, for more are refused. */
inline heddle::settings small(int n_cpu = 2)
{
	heddle_platform *here;
	EXPECT(heddle_platform_discover(-1, &here) == 0);
	heddle::settings s;
	s.n_cpu = std::min(n_cpu, static_cast<int>(here->n_workers));
	heddle_platform_free(here);
	s.bind = 0;
	s.sched = "eager";
	s.model_dir = "none";
	return s;
}

struct named_test {
	const char *name;
	void (*run)();
};
#define TEST(f)       \
	{             \
#f, f \
	}

inline int run_tests(std::initializer_list<named_test> tests)
{
	for (const named_test &t : tests) {
		std::printf("%s\n", t.name);
		std::fflush(stdout);
		t.run();
	}
	return 0;
}

#endif
