#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/io/state_text.hpp"

namespace carom {

namespace {

class CsvExporter final : public Exporter {
public:
    explicit CsvExporter(const ExportTarget& target) : target_(target), file_(target.path) {
        file_.write((target.series ? "time," : "") + ball_columns(target.header->dimension()) + "\n");
    }

    void add(const Frame& frame) override {
        std::string time;
        if (target_.series) {
            append_number(time, frame.time);
            time += ',';
        }
        std::string line;
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (frame.gone[id]) continue;
            line = time;
            append_ball_line(line, *target_.header, frame, id);
            file_.write(line);
        }
        ++frames_;
    }

    std::string finish() override {
        file_.commit();
        return fmt::format("{}: {} frame{}", target_.path, frames_, frames_ == 1 ? "" : "s");
    }

private:
    ExportTarget target_;
    ReplacementFile file_;
    std::size_t frames_ = 0;
};

std::unique_ptr<Exporter> make_csv_exporter(const ExportTarget& target) {
    return std::make_unique<CsvExporter>(target);
}

}  // namespace

/// The columns of `carom state --csv`, and before them the time if there are several frames.
ExportFormat csv_format() { return {".csv", "a table, one line a ball", OneFile{make_csv_exporter}}; }

}  // namespace carom
