#include "models/nets/layers/image_layers.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Eigen::Index;

// Calls visit(feature without border, feature with border) for each pixel.
template <class Visit>
void for_each_pixel(const ImageExtent& image, Visit visit) {
    Index pixel = 0;
    for (Index c = 0; c < image.channels; ++c)
        for (Index y = 0; y < image.height; ++y)
            for (Index x = 0; x < image.width; ++x) visit(pixel++, image.feature(c, y, x));
}

template <class Scalar>
class AddBorder final : public Layer<Scalar> {
  public:
    explicit AddBorder(const ImageExtent& image) : image_(image) {}
    [[nodiscard]] Index in_features() const override { return image_.pixels(); }
    [[nodiscard]] Index out_features() const override { return image_.features(); }

    void forward(const Scalar*, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        for_each_pixel(image_, [&](Index pixel, Index at) { out.col(at) = in.col(pixel); });
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        if (pass.d_in == nullptr) return;
        for_each_pixel(image_,
                       [&](Index pixel, Index at) { pass.d_in->col(pixel) = pass.d_out.col(at); });
    }

  private:
    ImageExtent image_;
};

template <class Scalar>
class DropBorder final : public Layer<Scalar> {
  public:
    explicit DropBorder(const ImageExtent& image) : image_(image) {}
    [[nodiscard]] Index in_features() const override { return image_.features(); }
    [[nodiscard]] Index out_features() const override { return image_.pixels(); }

    void forward(const Scalar*, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        for_each_pixel(image_, [&](Index pixel, Index at) { out.col(pixel) = in.col(at); });
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        if (pass.d_in == nullptr) return;
        for_each_pixel(image_,
                       [&](Index pixel, Index at) { pass.d_in->col(at) = pass.d_out.col(pixel); });
    }

  private:
    ImageExtent image_;
};

template <class Scalar>
class MaxPool final : public Layer<Scalar> {
  public:
    explicit MaxPool(const ImageExtent& image) : image_(image), out_(after_max_pool(image)) {
        PACELINE_CHECK(image.height >= 2 && image.width >= 2, "a pooled image has 2 x 2 pixels");
    }
    [[nodiscard]] Index in_features() const override { return image_.features(); }
    [[nodiscard]] Index out_features() const override { return out_.features(); }

    void forward(const Scalar*, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        for_each_window([&](Index at, Index first) {
            out.col(at) = larger<Scalar>(
                larger<Scalar>(in.col(first), in.col(first + 1)),
                larger<Scalar>(in.col(first + below()), in.col(first + below() + 1)));
        });
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        if (pass.d_in == nullptr) return;
        for_each_window([&](Index at, Index first) {
            const Lanes<Scalar> max = pass.out.col(at);
            Lanes<Scalar> left = pass.d_out.col(at);
            for (const Index from : {first, first + 1, first + below(), first + below() + 1}) {
                const Lanes<Scalar> in = pass.in.col(from);
                Lanes<Scalar> d;
                for (Index lane = 0; lane < lanes; ++lane) {
                    d[lane] = in[lane] == max[lane] ? left[lane] : Scalar{0};
                    left[lane] = in[lane] == max[lane] ? Scalar{0} : left[lane];
                }
                pass.d_in->col(from) = d;
            }
        });
    }

  private:
    [[nodiscard]] Index below() const { return image_.width + 2; }

    // Calls visit(pixel of the output, first of its four pixels of the input).
    template <class Visit>
    void for_each_window(Visit visit) {
        for (Index c = 0; c < out_.channels; ++c)
            for (Index y = 0; y < out_.height; ++y)
                for (Index x = 0; x < out_.width; ++x)
                    visit(out_.feature(c, y, x), image_.feature(c, 2 * y, 2 * x));
    }

    ImageExtent image_;
    ImageExtent out_;
};

template <class Scalar>
class AveragePool final : public Layer<Scalar> {
  public:
    explicit AveragePool(const ImageExtent& image)
        : image_(image), share_(Scalar{1} / static_cast<Scalar>(image.height * image.width)) {}
    [[nodiscard]] Index in_features() const override { return image_.features(); }
    [[nodiscard]] Index out_features() const override { return image_.channels; }

    void forward(const Scalar*, const Panel<Scalar>& in, Panel<Scalar>& out) override {
        for (Index c = 0; c < image_.channels; ++c) {
            Lanes<Scalar> sum = Lanes<Scalar>::Zero();
            for (Index y = 0; y < image_.height; ++y)
                for (Index x = 0; x < image_.width; ++x) sum += in.col(image_.feature(c, y, x));
            out.col(c) = share_ * sum;
        }
    }

    void backward(const BackwardPass<Scalar>& pass) override {
        if (pass.d_in == nullptr) return;
        for (Index c = 0; c < image_.channels; ++c) {
            const Lanes<Scalar> d = share_ * pass.d_out.col(c);
            for (Index y = 0; y < image_.height; ++y)
                for (Index x = 0; x < image_.width; ++x)
                    pass.d_in->col(image_.feature(c, y, x)) = d;
        }
    }

  private:
    ImageExtent image_;
    Scalar share_;
};

}  // namespace

ImageExtent after_max_pool(const ImageExtent& image) {
    return {image.channels, image.height / 2, image.width / 2};
}

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_add_border(const ImageExtent& image) {
    return std::make_unique<AddBorder<Scalar>>(image);
}

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_drop_border(const ImageExtent& image) {
    return std::make_unique<DropBorder<Scalar>>(image);
}

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_max_pool(const ImageExtent& image) {
    return std::make_unique<MaxPool<Scalar>>(image);
}

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_average_pool(const ImageExtent& image) {
    return std::make_unique<AveragePool<Scalar>>(image);
}

template std::unique_ptr<Layer<float>> make_add_border(const ImageExtent&);
template std::unique_ptr<Layer<double>> make_add_border(const ImageExtent&);
template std::unique_ptr<Layer<float>> make_drop_border(const ImageExtent&);
template std::unique_ptr<Layer<double>> make_drop_border(const ImageExtent&);
template std::unique_ptr<Layer<float>> make_max_pool(const ImageExtent&);
template std::unique_ptr<Layer<double>> make_max_pool(const ImageExtent&);
template std::unique_ptr<Layer<float>> make_average_pool(const ImageExtent&);
template std::unique_ptr<Layer<double>> make_average_pool(const ImageExtent&);

}  // namespace paceline
