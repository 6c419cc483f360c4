#include "writers/labels.hpp"

namespace cranfield {

namespace {

void append_value(Text& text, double value) { text.append_number(value); }
void append_value(Text& text, std::uint8_t value) { text.append(value ? '1' : '0'); }

}  // namespace

template <class Value>
void append_rows(Text& text, const LabelRows<Value>& rows, char separator, bool quoted) {
    const Value* value = rows.values;
    for (const Id item : rows.items) {
        if (quoted)
            text.append_cell(item, separator);
        else
            text.append(item);
        for (std::size_t j = 0; j < rows.concepts; ++j) {
            text.append(separator);
            append_value(text, *value++);
        }
        text.append('\n');
    }
}

template <class Value>
void append_long_rows(Text& text, const LabelRows<Value>& rows, const std::vector<Id>& concepts) {
    const Value* value = rows.values;
    for (const Id item : rows.items) {
        const auto append = [&](std::size_t j) {
            text.append_cell(item, ',');
            text.append(',');
            text.append_cell(concepts[j], ',');
            text.append(',');
            append_value(text, value[j]);
            text.append('\n');
        };
        bool any = false;
        for (std::size_t j = 0; j < rows.concepts; ++j) {
            if (value[j] == 0) continue;
            append(j);
            any = true;
        }
        if (!any) append(0);
        value += rows.concepts;
    }
}

template void append_rows(Text&, const LabelRows<double>&, char, bool);
template void append_rows(Text&, const LabelRows<std::uint8_t>&, char, bool);
template void append_long_rows(Text&, const LabelRows<double>&, const std::vector<Id>&);
template void append_long_rows(Text&, const LabelRows<std::uint8_t>&, const std::vector<Id>&);

}  // namespace cranfield
