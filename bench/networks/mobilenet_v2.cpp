#include <networks/mobilenet_v2.hpp>

#include "../registry.hpp"

static bool const entered[] = {
    bench::add_network<mobilenet_v2_224>("mobilenet_v2", 224),
    bench::add_network<mobilenet_v2_112>("mobilenet_v2", 112),
    bench::add_network<mobilenet_v2_56>("mobilenet_v2", 56),
};
