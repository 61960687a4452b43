#include "stories260k_llama.hpp"
#include <subject.hpp>
int main(int argc, char** argv) {
  ago::importer::subject const all[] = {
    ago::importer::subject_of<stories260k_llama::network>("stories260k_llama"),
  };
  return ago::importer::compare(all, 1, argc, argv);
}
