/* What a lambda costs: the time of an empty task in C and in C++, and their ratio. The two are measured in turn, many
 * times, and the median ratio of neighbours counts, so that what disturbs the machine disturbs both.
 * heddle_lambda [WORKERS]; with empty_c, empty_cpp, access_c or access_cpp as a second argument only such tasks are
 * run, once: instructions.py counts the instructions of the function of that name, and of all that it calls. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <heddle.hpp>

static const int n_tasks = 50000, n_repeats = 31;

static int empty(heddle_context *)
{
	return 0;
}

struct bench {
	double x = 0;
	heddle::runtime rt;
	heddle::data<double, 0> datum;
	heddle_codelet *codelet;

	explicit bench(const heddle::settings &s) : rt(s), datum(rt, x), codelet(rt.codelet("empty", empty)) {}
	[[gnu::noinline]] void empty_c()
	{
		for (int i = 0; i < n_tasks; i++)
			if (heddle_submit(rt.get(), heddle_call(codelet)))
				std::exit(1);
		rt.wait();
	}
	[[gnu::noinline]] void empty_cpp()
	{
		for (int i = 0; i < n_tasks; i++)
			rt.submit("empty", [] {});
		rt.wait();
	}
	[[gnu::noinline]] void access_c()
	{
		double factor = 3;
		for (int i = 0; i < n_tasks; i++)
			if (heddle_submit(rt.get(), heddle_call(codelet), heddle_rw(datum.get()), heddle_value(factor)))
				std::exit(1);
		rt.wait();
	}
	[[gnu::noinline]] void access_cpp()
	{
		double factor = 3;
		for (int i = 0; i < n_tasks; i++)
			rt.submit("empty", inout(datum), [factor](double *y) { static_cast<void>(y + (factor > 3)); });
		rt.wait();
	}
	double seconds(void (bench::*run)())
	{
		auto start = std::chrono::steady_clock::now();
		(this->*run)();
		return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
	}
};

static double median(std::vector<double> x)
{
	std::sort(x.begin(), x.end());
	return x[x.size() / 2];
}

static const struct {
	const char *name;
	void (bench::*run)();
} ways[] = {{"empty_c", &bench::empty_c},
            {"empty_cpp", &bench::empty_cpp},
            {"access_c", &bench::access_c},
            {"access_cpp", &bench::access_cpp}};

static int run_alone(bench &b, const char *name)
{
	for (const auto &way : ways)
		if (std::strcmp(way.name, name) == 0)
			return (b.*way.run)(), 0;
	std::fprintf(stderr, "%s is none of empty_c, empty_cpp, access_c, access_cpp\n", name);
	return 1;
}

static void compare(bench &b, int workers, const char *name, void (bench::*in_c)(), void (bench::*in_cpp)())
{
	std::vector<double> c, cpp, ratio;
	for (int i = 0; i < n_repeats; i++) {
		c.push_back(b.seconds(in_c));
		cpp.push_back(b.seconds(in_cpp));
		ratio.push_back(cpp.back() / c.back());
	}
	std::printf("%s_c,%d,us/task,%.4g\n", name, workers, median(c) * 1e6 / n_tasks);
	std::printf("%s_cpp,%d,us/task,%.4g\n", name, workers, median(cpp) * 1e6 / n_tasks);
	std::printf("%s,%d,ratio,%.3f\n", name, workers, median(ratio));
}

int main(int argc, char **argv)
try {
	heddle::settings s;
	int workers = argc > 1 ? std::atoi(argv[1]) : 2;
	s.n_cpu = workers;
	s.caller_works = 1;
	s.model_dir = "none";
	bench b(s);
	if (argc > 2)
		return run_alone(b, argv[2]);
	compare(b, workers, "empty", &bench::empty_c, &bench::empty_cpp);
	compare(b, workers, "access", &bench::access_c, &bench::access_cpp);
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
