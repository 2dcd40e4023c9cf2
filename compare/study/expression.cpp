#include "compare/study/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/run/runner.h"
#include "core/scene/json.h"
#include "core/scene/runs/run_record.h"

namespace exemplar {

namespace {

const std::vector<std::string> k_values_of_runs{"surface_rms",
                                                "surface_max",
                                                "surface_rms_aligned",
                                                "surface_max_aligned",
                                                "surface_rms_worst",
                                                "surface_rms_uncertainty",
                                                "surface_rms_aligned_uncertainty",
                                                "shape_change",
                                                "displacement",
                                                "wall_time",
                                                "setup_time",
                                                "cost_ratio",
                                                "peak_memory",
                                                "real_time_factor",
                                                "status",
                                                "size_x",
                                                "size_y",
                                                "size_z",
                                                "centre_x",
                                                "centre_y",
                                                "centre_z",
                                                "low_x",
                                                "low_y",
                                                "low_z",
                                                "high_x",
                                                "high_y",
                                                "high_z",
                                                "twist_x",
                                                "twist_y",
                                                "twist_z"};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
}

class ExpressionParser {
 public:
  ExpressionParser(const std::string& text, const std::vector<RunName>& runs) : m_text(text), m_runs(runs) {}

  Expression parse() {
    Expression expression{m_text, {Term{}}};
    expression.terms.back().factors.push_back({operand(), false});
    while (m_at < m_text.size()) {
      const char sign = next_operator();
      if (sign == '+' || sign == '-') expression.terms.push_back({{}, sign == '-'});
      expression.terms.back().factors.push_back({operand(), sign == '/'});
    }
    return expression;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("'{}': {}", m_text, message));
  }

  char next_operator() {
    const std::string rest = m_text.substr(m_at);
    if (rest.size() < 4 || rest[0] != ' ' || rest[2] != ' ' ||
        std::string("+-*/").find(rest[1]) == std::string::npos)
      fail(fmt::format("expected \" + \", \" - \", \" * \" or \" / \" before '{}'", rest));
    m_at += 3;
    return rest[1];
  }

  // The run whose name stands here, the longest one: names may hold dots, commas and spaces.
  const RunName* run_here(std::size_t& length) const {
    const RunName* found = nullptr;
    length = 0;
    for (const RunName& run : m_runs) {
      for (const std::string* name : {&run.name, &run.directory}) {
        if (name->size() > length && m_text.compare(m_at, name->size() + 1, *name + ".") == 0) {
          found = &run;
          length = name->size();
        }
      }
    }
    return found;
  }

  // An operator or the end; the space of "64 cells" is part of a name.
  bool ends_operand(std::size_t at) const {
    if (at == m_text.size()) return true;
    const std::string next = m_text.substr(at, 3);
    return next == " + " || next == " - " || next == " * " || next == " / ";
  }

  // Numbers first: the folder of a run may be called 0, and 0.01 is no value of it.
  Operand operand() {
    double number = 0;
    const char* const begin = m_text.data() + m_at;
    const auto [end, error] = std::from_chars(begin, m_text.data() + m_text.size(), number);
    if (error == std::errc() && ends_operand(static_cast<std::size_t>(end - m_text.data()))) {
      m_at += static_cast<std::size_t>(end - begin);
      return {std::nullopt, number};
    }
    std::size_t length = 0;
    if (const RunName* run = run_here(length)) {
      m_at += length + 1;
      return {value_of(run->name), 0};
    }
    const std::string word = m_text.substr(m_at, m_text.find(' ', m_at) - m_at);
    if (const std::optional<double> status = status_number(word)) {
      m_at += word.size();
      return {std::nullopt, *status};
    }
    fail_without_run();
  }

  [[noreturn]] void fail_without_run() const {
    const std::string rest = m_text.substr(m_at), given = rest.substr(0, rest.rfind('.'));
    std::vector<std::string> names;
    for (const RunName& run : m_runs) names.push_back(run.name);
    if (rest.find('.') == std::string::npos)
      fail("expected RUN.VALUE, as in " + names.front() + ".surface_rms");
    fail(fmt::format("there is no run called '{}'{}", given, did_you_mean(given, names)));
  }

  RunValue value_of(const std::string& run) {
    RunValue value{run, name(), {}, Moment::end, 0};
    const std::vector<std::string> known = value_names();
    if (std::find(known.begin(), known.end(), value.name) == known.end()) {
      // Methods have columns of their own, so only what looks like a slip is refused here.
      const std::string hint = did_you_mean(value.name, known);
      if (!hint.empty()) fail(fmt::format("there is no value '{}'{}", value.name, hint));
    }
    if (m_at < m_text.size() && m_text[m_at] == '(') {
      const std::size_t close = m_text.find(')', m_at);
      if (close == std::string::npos) fail("a ')' is missing");
      value.body = m_text.substr(m_at + 1, close - m_at - 1);
      m_at = close + 1;
    }
    if (m_at < m_text.size() && m_text[m_at] == '@') read_moment(value);
    return value;
  }

  std::string name() {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && is_name_character(m_text[m_at])) ++m_at;
    if (m_at == begin) fail("expected the name of a value after the run's");
    return m_text.substr(begin, m_at - begin);
  }

  void read_moment(RunValue& value) {
    const std::size_t end = std::min(m_text.find(' ', m_at), m_text.size());
    const std::string word = m_text.substr(m_at + 1, end - m_at - 1);
    m_at = end;
    const std::vector<std::pair<std::string, Moment>> k_moments{
        {"end", Moment::end}, {"start", Moment::start}, {"max", Moment::most}, {"min", Moment::least}};
    for (const auto& [name, moment] : k_moments) {
      if (word != name) continue;
      value.moment = moment;
      return;
    }
    value.moment = Moment::at;
    const char* const first = word.data() + std::min<std::size_t>(2, word.size());
    const auto [rest, error] = std::from_chars(first, word.data() + word.size(), value.time);
    if (!word.starts_with("t=") || error != std::errc() || rest != word.data() + word.size() ||
        !std::isfinite(value.time) || value.time < 0)
      fail("expected @end, @start, @max, @min or @t=SECONDS instead of @" + word);
  }

  const std::string& m_text;
  const std::vector<RunName>& m_runs;
  std::size_t m_at = 0;
};

struct Scale {
  std::string name, unit;  // of what it measures, SI
  double factor;
};

const std::vector<Scale> k_scales{
    {"m", "m", 1},    {"cm", "m", 1e2},       {"mm", "m", 1e3}, {"µm", "m", 1e6},  {"s", "s", 1},
    {"ms", "s", 1e3}, {"min", "s", 1.0 / 60}, {"J", "J", 1},    {"kJ", "J", 1e-3}, {"mJ", "J", 1e3},
    {"%", "", 1e2},   {"×", "", 1},           {"N", "N", 1},    {"kN", "N", 1e-3}, {"MPa", "Pa", 1e-6},
    {"°", "°", 1},    {"MB", "MB", 1}};

// The largest of the scales for lengths, times and energies in which the number is at least 1.
Scale readable_scale(double value, const std::string& unit) {
  const std::vector<std::string> choices = unit == "m"   ? std::vector<std::string>{"m", "mm", "µm"}
                                           : unit == "s" ? std::vector<std::string>{"min", "s", "ms"}
                                           : unit == "J" ? std::vector<std::string>{"kJ", "J", "mJ"}
                                                         : std::vector<std::string>{};
  for (const std::string& choice : choices) {
    const auto scale =
        std::find_if(k_scales.begin(), k_scales.end(), [&](const Scale& s) { return s.name == choice; });
    if (std::abs(value) * scale->factor >= 1 && !(choice == "min" && std::abs(value) < 120)) return *scale;
  }
  return {unit, unit, 1};
}

// Without an exponent and zeros at the end: 12300 rather than 1.23e+04, 95 rather than 95.0.
std::string digits_text(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (exponent < -4 || exponent > 8) return fmt::format("{:.{}g}", value, digits);
  const double grain = std::pow(10.0, exponent - digits + 1);
  std::string text =
      fmt::format("{:.{}f}", std::round(value / grain) * grain, std::max(0, digits - 1 - exponent));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text;
}

}  // namespace

std::vector<RunValue> Expression::values() const {
  std::vector<RunValue> all;
  for (const Term& term : terms) {
    for (const Factor& factor : term.factors) {
      if (factor.operand.value) all.push_back(*factor.operand.value);
    }
  }
  return all;
}

int BoundText::words() const {
  std::string text;
  for (const Placeholder& placeholder : placeholders) text += placeholder.before + "0";
  text += rest;
  int count = 0;
  bool inside = false;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    count += !is_space && !inside;
    inside = !is_space;
  }
  return count;
}

Expression parse_expression(const std::string& text, const std::vector<RunName>& runs) {
  if (text.empty()) throw InputError("expected an expression, as in fem.surface_rms");
  return ExpressionParser(text, runs).parse();
}

BoundText parse_bound_text(const std::string& text, const std::vector<RunName>& runs) {
  BoundText bound;
  std::size_t from = 0;
  for (std::size_t open = 0; (open = text.find('{', from)) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos)
      throw InputError("a '}' is missing after '" + text.substr(open, 30) + "'");
    const std::string inside = text.substr(open + 1, close - open - 1);
    const std::size_t colon = inside.rfind(':');
    Placeholder placeholder;
    placeholder.before = text.substr(from, open - from);
    placeholder.expression = parse_expression(inside.substr(0, colon), runs);
    if (colon != std::string::npos) placeholder.format = inside.substr(colon + 1);
    bound.placeholders.push_back(std::move(placeholder));
    from = close + 1;
  }
  bound.rest = text.substr(from);
  return bound;
}

std::vector<std::string> value_names() {
  std::vector<std::string> names = k_values_of_runs;
  for (const Metric& metric : metrics_of(FrameMetrics{})) names.push_back(metric.name);
  return names;
}

std::optional<double> status_number(const std::string& word) {
  for (const RunStatus status : {RunStatus::done, RunStatus::failed, RunStatus::interrupted}) {
    if (word == to_string(status)) return static_cast<double>(status);
  }
  return std::nullopt;
}

std::string number_text(double value, const std::string& unit, const std::string& format) {
  std::string wanted = format;
  const bool is_bare = wanted.ends_with('#');
  if (is_bare) wanted.pop_back();
  int digits = 3;
  if (wanted.size() > 1 && wanted[0] == '.' && wanted[1] >= '1' && wanted[1] <= '9') {
    digits = wanted[1] - '0';
    wanted.erase(0, 2);
  }
  wanted.erase(0, wanted.find_first_not_of(' '));
  Scale scale = readable_scale(value, unit);
  if (!wanted.empty()) {
    const auto found =
        std::find_if(k_scales.begin(), k_scales.end(), [&](const Scale& s) { return s.name == wanted; });
    if (found == k_scales.end())
      throw InputError("unknown format '" + format + "': expected [.DIGITS][UNIT]");
    if (found->unit != unit)
      throw InputError(fmt::format("the format '{}' does not fit a value in {}", format,
                                   unit.empty() ? "plain numbers" : unit));
    scale = *found;
  }
  const std::string number = digits_text(value * scale.factor, digits);
  if (is_bare || scale.name.empty()) return number;
  return number + (scale.name == "°" ? "" : " ") + scale.name;
}

}  // namespace exemplar
