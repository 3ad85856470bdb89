#pragma once

#include "kernels/cuda/cuda_engine.hpp"
#include "kernels/cuda/picture_bodies.hpp"
#include "kernels/cuda/shared_buffer.hpp"

namespace carom::CAROM_PROCESSOR {

template <class Real, int Dim>
std::unique_ptr<SharedBuffer> CudaEngine<Real, Dim>::share_buffer(unsigned buffer) {
    return register_buffer(buffer);
}

template <class Real, int Dim>
void CudaEngine<Real, Dim>::give_picture_values(std::span<const float> values) {
    if (picture_given_.size() != count_) picture_given_ = DeviceArray<float>(count_);
    queue_.upload(values.data(), picture_given_.data(), count_);
    queue_.wait();
}

template <class Real, int Dim>
bool CudaEngine<Real, Dim>::write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) {
    if (count_ == 0) return true;
    if (order.value == PictureOrder::Value::kGiven && picture_given_.size() != count_) return false;
    sort_if_due();
    queue_.launch(count_, HideGoneBody{gone_.data(), to});
    with_kind([&](auto kind) {
        using Kind = decltype(kind);
        queue_.launch(seen().active,
                      DrawBody<Kind>{params_, state_view(motion_), record_.data(), order, picture_given_.data(), to});
    });
    if (!sample.empty()) {
        if (picture_sample_.size() < sample.size()) {
            picture_sample_ = DeviceArray<float>(sample.size());
            picture_sample_here_ = PinnedArray<float>(sample.size());
        }
        queue_.launch(sample.size(), SampleBody{to.values, count_, sample.size(), picture_sample_.data()});
        queue_.download(picture_sample_.data(), picture_sample_here_.data(), sample.size());
    }
    queue_.wait();
    std::copy_n(picture_sample_here_.data(), sample.size(), sample.begin());
    return true;
}

}  // namespace carom::CAROM_PROCESSOR
