#pragma once

namespace carom {

/// The multiples of an interval. Where it is a decimal number of a few digits, each is the double nearest to what one
/// means by it: 3 times 0.1 is 0.3, and not beyond the end of a run until 0.3.
class Multiples {
public:
    explicit Multiples(double every);
    [[nodiscard]] double operator()(double count) const;

private:
    double every_;
    double digits_ = 0.0;  ///< every = digits / scale; 0: none are known
    double scale_ = 1.0;
};

}  // namespace carom
