/* The shapes on Taskflow, as a program would give them to it: see on_taskflow.h. */
#include "taskflow.h"
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>
#include <taskflow/taskflow.hpp>

namespace
{

struct runtime {
	tf::Executor executor;
	bool async;
	void (*kernel)();
	/* The last writer of each datum, in one way or the other; empty: nobody since the last wait. */
	tf::Taskflow graph;
	std::vector<tf::Task> built;
	std::vector<tf::AsyncTask> submitted;

	runtime(std::size_t workers, bool how, void (*what)()) : executor(workers), async(how), kernel(what) {}
	void build(std::size_t w, const std::size_t *after, std::size_t n)
	{
		tf::Task task = graph.emplace([k = kernel] { k(); });
		for (std::size_t i = 0; i < n; i++)
			if (!built[after[i]].empty())
				built[after[i]].precede(task);
		built[w] = task;
	}
	void submit(std::size_t w, const std::size_t *after, std::size_t n)
	{
		tf::AsyncTask before[4];
		std::size_t count = 0;
		for (std::size_t i = 0; i < n; i++)
			if (!submitted[after[i]].empty())
				before[count++] = submitted[after[i]];
		submitted[w] = executor.silent_dependent_async([k = kernel] { k(); }, before, before + count);
	}
	void forget()
	{
		std::fill(built.begin(), built.end(), tf::Task());
		std::fill(submitted.begin(), submitted.end(), tf::AsyncTask());
	}
};

std::unique_ptr<runtime> rt;

} // namespace

void taskflow_start(std::size_t workers, int async, void (*kernel)())
{
	rt = std::make_unique<runtime>(workers, async != 0, kernel);
}

void taskflow_stop()
{
	rt.reset();
}

void taskflow_data(std::size_t n)
{
	rt->built.assign(rt->async ? 0 : n, tf::Task());
	rt->submitted.assign(rt->async ? n : 0, tf::AsyncTask());
}

void taskflow_task0()
{
	if (rt->async)
		rt->executor.silent_async([k = rt->kernel] { k(); });
	else
		rt->graph.emplace([k = rt->kernel] { k(); });
}

void taskflow_task(std::size_t w, const std::size_t *after, std::size_t n)
{
	if (rt->async)
		rt->submit(w, after, n);
	else
		rt->build(w, after, n);
}

void taskflow_wait()
{
	if (rt->async) {
		rt->executor.wait_for_all();
	} else {
		rt->executor.run(rt->graph).wait();
		rt->graph.clear();
	}
	rt->forget();
}

double taskflow_again()
{
	if (rt->async) {
		taskflow_wait();
		return 0;
	}
	rt->executor.run(rt->graph).wait();
	auto start = std::chrono::steady_clock::now();
	rt->executor.run(rt->graph).wait();
	std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
	rt->graph.clear();
	rt->forget();
	return took.count();
}
