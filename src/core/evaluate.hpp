// Values of a programme of kernels for every judged topic.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "judgements.hpp"
#include "kernels/table.hpp"
#include "ranking.hpp"

namespace cranfield {

struct Call {
    const KernelEntry* kernel;
    Params params;
};
using Programme = std::vector<Call>;

// Kernels by name with their parameters; KernelCallError when one does not fit.
Programme programme_of(const std::vector<std::pair<std::string, Params>>& calls);

// How far a piece of work has come, and whether its caller still wants it.
struct Progress {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};
    std::atomic<bool> cancelled{false};
};

// Evaluates topics one at a time into a matrix (topics x calls). One per thread.
class TopicEvaluator {
  public:
    TopicEvaluator(const Programme& programme, const Options& options)
        : programme_(programme), options_(options) {}

    bool evaluate(const Block& block, const TopicJudgements& judgements, double* row,
                  std::vector<Duplicate>& duplicates);
    // The values of a ranking without items, for a topic that the run misses.
    void evaluate_empty(const TopicJudgements& judgements, double* row);

  private:
    void run(double* row);
    void average_over_orders(const std::vector<std::size_t>& calls, double* row);

    const Programme& programme_;
    Options options_;
    Ranker ranker_;
    Ranking ranking_;
    View view_;
};

// Evaluates a table that is already in memory. Rows of the result follow the index; `present`
// says which topics the table has. Duplicates are reported as rows of the table.
struct TableDuplicate {
    std::int64_t first, second;
};
void evaluate_table(const JudgementIndex& index, const Columns& run, const Programme& programme,
                    const Options& options, unsigned jobs, double* values, std::uint8_t* present,
                    std::vector<TableDuplicate>& duplicates);

// Fills the rows of the topics that are not present.
void fill_missing(const JudgementIndex& index, const Programme& programme, const Options& options,
                  double* values, const std::uint8_t* present);

// Of one column, over the counted rows: the sum, the number of values that exist, and the sum of
// the logarithms of values raised to a smallest one.
struct ColumnSum {
    double sum = 0;
    std::int64_t defined = 0;
    double logarithms = 0;
};
// Values are added one after the other in `order`, which holds rows.
std::vector<ColumnSum> column_sums(const double* values, std::size_t columns, const char* counted,
                                   const std::vector<std::size_t>& order, double smallest);

}  // namespace cranfield
