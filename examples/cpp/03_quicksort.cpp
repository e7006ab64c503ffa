/* In C++: a recursive program. Each task sorts a range: it submits a task for one half, sorts the other half itself,
 * and waits for its tasks. Its worker runs other tasks meanwhile, so one worker is enough, and no thread is idle. */
#include <heddle.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <random>
#include <vector>

using numbers = heddle::span<double>;

static std::atomic<int> n_tasks{0};

static void quicksort(heddle::runtime &rt, numbers x)
{
	heddle::group halves(rt);
	n_tasks++;
	while (x.size() > 2000) {
		const double pivot = x[x.size() / 2];
		double *middle = std::partition(x.begin(), x.end(), [pivot](double a) { return a < pivot; });
		double *right = std::partition(middle, x.end(), [pivot](double a) { return !(pivot < a); });
		const std::size_t left = static_cast<std::size_t>(middle - x.begin());
		const numbers rest(right, static_cast<std::size_t>(x.end() - right));
		halves.submit("quicksort", [&rt, rest] { quicksort(rt, rest); });
		x = x.subspan(0, left);
	}
	std::sort(x.begin(), x.end());
	halves.wait(); /* throws what a half has thrown */
}

int main()
try {
	std::vector<double> x(300000);
	std::mt19937 random(7);
	for (double &a : x)
		a = static_cast<double>(random());
	heddle::settings settings;
	settings.n_emulated = 0; /* kernels that wait need CPU workers: an accelerator cannot run others meanwhile */
	heddle::runtime rt(settings);
	{
		heddle::data all(rt, x);
		rt.submit("quicksort", inout(all), [&rt](numbers a) { quicksort(rt, a); });
		rt.wait();
	}
	const bool sorted = std::is_sorted(x.begin(), x.end());
	std::printf("%s by %s\n", sorted ? "sorted" : "not sorted", n_tasks > 1 ? "many tasks" : "one task");
	return !sorted || n_tasks < 2;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
