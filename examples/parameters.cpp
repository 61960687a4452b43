// Prints what lies where in the weight blob of a network, in JSON: what tools/weights.py makes blobs by.
#include <ago/graph/write_parameters.hpp>

#include <networks/mobilevit.hpp>

#include <iostream>

int main() { ago::write_parameters<networks::mobilevit_s<256>>(std::cout, "mobilevit_s_256"); }
