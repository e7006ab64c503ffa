// A program outside Heddle's tree that uses heddle.hpp. Prints the version.
#include <cstdio>
#include <heddle.hpp>

int main()
try {
	long sum = 0;
	heddle::runtime rt;
	{
		heddle::data total(rt, sum);
		for (long i = 1; i <= 100; i++)
			rt.submit("add", inout(total), [i](long *x) { *x += i; });
	}
	std::printf("%s\n", heddle_version());
	return sum != 5050;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
