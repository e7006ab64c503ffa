/* In C++: a lambda as a task. What it reads is const; what it throws, the wait throws. */
#include <heddle.hpp>
#include <cstdio>
#include <vector>

int main()
try {
	std::vector<double> a(1000, 1), b(1000, 2);
	const double factor = 3;
	heddle::runtime rt;
	heddle::data x(rt, a);
	heddle::data y(rt, b);
	rt.submit("axpy", in(x), inout(y), [factor](auto from, auto to) {
		for (std::size_t i = 0; i < to.size(); i++)
			to[i] += factor * from[i];
	});
	rt.wait();
	double last = y.acquire_read()[999];
	std::printf("%g\n", last);
	return last != 5;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
