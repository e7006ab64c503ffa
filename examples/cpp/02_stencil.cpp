/* In C++: a stencil. Heat spreads along a bar; each step computes the new temperatures of each block from the old ones
 * of the block and of its neighbours. */
#include <heddle.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

int main()
try {
	const std::size_t n = 100000, n_blocks = 8;
	const int n_steps = 50;
	std::vector<double> bar(n, 0), next(n, 0);
	bar[n / 2] = next[n / 2] = 1e6;

	heddle::runtime rt;
	{
		heddle::data<double, 1> data[] = {{rt, bar}, {rt, next}};
		for (int step = 0; step < n_steps; step++) {
			/* The blocks that are read overlap by one element, those that are written do not. So each
			 * step waits for all of the one before; if tasks named the blocks beside, for these alone. */
			auto from = data[step % 2].split_halo(n_blocks, 1);
			auto to = data[(step + 1) % 2].split(n_blocks);
			for (std::size_t b = 0; b < n_blocks; b++) {
				const std::size_t left = b > 0; /* the first block has no neighbour on its left */
				rt.submit("heat", in(from[b]), out(to[b]), [left](auto old, auto now) {
					for (std::size_t i = 0; i < now.size(); i++) {
						std::size_t k = i + left;
						double west = k > 0 ? old[k - 1] : old[k];
						double east = k + 1 < old.size() ? old[k + 1] : old[k];
						now[i] = old[k] + 0.25 * (west - 2 * old[k] + east);
					}
				});
			}
		} /* the blocks are put together here, as a step of the graph: nothing waits */

		heddle::data<double, 0> heat(rt);
		heat.set_reduction(heddle::sum());
		auto blocks = data[n_steps % 2].split(n_blocks);
		for (const auto &block : blocks)
			rt.submit("sum", in(block), reduce(heat), [](auto part, double *sum) {
				for (double t : part)
					*sum += t;
			});
		rt.wait(); /* throws what has gone wrong */
		double total = *heat.acquire_read();
		std::printf("heat: %.0f\n", total);
		if (std::fabs(total - 1e6) > 1e-3)
			return 1;
	}
	std::printf("in the middle: %.0f\n", bar[n / 2]);
	return bar[n / 2] < 1e6 ? 0 : 1;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
