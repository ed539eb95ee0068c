#include "compiler/driver/reshard/written_shardings.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text/parse_line.h"
#include "support/plural.h"
#include "support/quoted.h"

namespace tap::driver {
namespace {

constexpr std::int64_t most_devices = 1 << 20;

// The text of an option, as a file that messages show.
class Written {
 public:
  Written(Session& session, const std::string& option, const std::string& text)
      : file_(session.sources.add(option, text)), text_(text), line_(text, 1) {}
  ir::Line& line() { return line_; }

  Failure wrong(Code code, std::size_t column, const std::string& message, const std::string& help) const {
    const std::size_t begin = std::min(column, text_.size());
    const std::size_t end = std::min(text_.find_first_of(",;{}[]: ", begin + 1), text_.size());
    Diagnostic diagnostic(code, Span{file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
                          message);
    diagnostic.help(help);
    return {exit_code::wrong_command_line, std::move(diagnostic)};
  }

 private:
  FileId file_;
  const std::string& text_;
  ir::Line line_;
};

constexpr char mesh_help[] = "write for example --mesh 'pod = [data: 4, model: 2]', or --mesh x=4";
constexpr char sharding_help[] = "for each axis of the tensor, write the mesh axes that divide it: 'pod[{data}, {}]'";

// pod = [data: 4]
std::string declared(const std::vector<ir::Mesh>& meshes) {
  std::string text;
  for (const ir::Mesh& mesh : meshes) {
    std::vector<std::string> axes;
    for (const ir::MeshAxis& axis : mesh.axes) axes.push_back(fmt::format("{}: {}", axis.name, axis.size));
    text += fmt::format("{}{} = [{}]", text.empty() ? "" : ", ", mesh.name, fmt::join(axes, ", "));
  }
  return text;
}

void require_devices(const Written& written, const ir::Mesh& mesh, std::int64_t count) {
  const auto listed = static_cast<std::int64_t>(mesh.devices.size());
  if (listed != count)
    throw written.wrong(Code::bad_mesh, 0,
                        fmt::format("the mesh `{}` has {}, and lists {}", mesh.name, plural(count, "device"), listed),
                        "");
  if (mesh.axes.empty()) return;
  std::vector<std::int64_t> sorted = mesh.devices;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t id = 0; id < count; ++id)
    if (sorted[static_cast<std::size_t>(id)] != id)
      throw written.wrong(
          Code::bad_mesh, 0,
          fmt::format("the devices of the mesh `{}` are not the numbers 0 to {}, each once", mesh.name, count - 1), "");
}

void require_form(const Written& written, const ir::Mesh& mesh) {
  std::int64_t count = 1;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const ir::MeshAxis& axis = mesh.axes[a];
    for (std::size_t b = 0; b < a; ++b)
      if (mesh.axes[b].name == axis.name)
        throw written.wrong(Code::bad_mesh, 0, fmt::format("the mesh `{}` has two axes `{}`", mesh.name, axis.name),
                            "");
    if (axis.size < 1)
      throw written.wrong(Code::bad_mesh, 0,
                          fmt::format("the size of the axis `{}` must be at least 1; got {}", axis.name, axis.size),
                          "");
    if (axis.size > most_devices / count)
      throw written.wrong(Code::bad_mesh, 0,
                          fmt::format("the mesh `{}` has more than {}", mesh.name, plural(most_devices, "device")), "");
    count *= axis.size;
  }
  if (!mesh.devices.empty()) require_devices(written, mesh, count);
}

// pod = [data: 4, model: 2] devices […]; a leading `mesh`, as in a program, may stand before it
ir::Mesh declared_mesh(Session& session, const std::string& text) {
  Written written(session, "--mesh", text);
  ir::Line& line = written.line();
  ir::Mesh mesh;
  try {
    mesh.name = line.name();
    if (mesh.name == "mesh" && !line.rest().starts_with("=")) mesh.name = line.name();
    line.expect("=");
    mesh.axes = line.list("[", "]", [&] {
      std::string name = line.name();
      line.expect(":");
      return ir::MeshAxis{std::move(name), line.integer()};
    });
    if (line.eat_word("devices")) mesh.devices = line.integers();
    line.expect_end();
  } catch (const ir::TextFailure& failure) {
    throw written.wrong(Code::command_line, failure.column, failure.message, mesh_help);
  }
  require_form(written, mesh);
  return mesh;
}

// x=4,y=2
ir::Mesh short_mesh(Session& session, const std::string& text) {
  Written written(session, "--mesh", text);
  ir::Line& line = written.line();
  ir::Mesh mesh{"mesh", {}, {}};
  try {
    do {
      std::string name = line.name();
      line.expect("=");
      mesh.axes.push_back({std::move(name), line.integer()});
    } while (line.eat(","));
    line.expect_end();
  } catch (const ir::TextFailure& failure) {
    throw written.wrong(Code::command_line, failure.column, failure.message, mesh_help);
  }
  require_form(written, mesh);
  return mesh;
}

}  // namespace

std::vector<ir::Mesh> written_meshes(Session& session, const std::vector<std::string>& texts) {
  std::vector<ir::Mesh> meshes;
  for (const std::string& text : texts) {
    ir::Mesh mesh = text.find('[') == text.npos ? short_mesh(session, text) : declared_mesh(session, text);
    if (ir::find_mesh(meshes, mesh.name))
      throw Written(session, "--mesh", text)
          .wrong(Code::bad_mesh, 0, fmt::format("the mesh `{}` is declared twice", mesh.name), "");
    meshes.push_back(std::move(mesh));
  }
  return meshes;
}

ir::Sharding written_sharding(Session& session, const std::string& option, const std::string& text,
                              const std::vector<ir::Mesh>& meshes) {
  Written written(session, option, text);
  ir::Sharding sharding;
  try {
    sharding = written.line().sharding(meshes);
    written.line().expect_end();
  } catch (const ir::TextFailure& failure) {
    const bool unknown = failure.message.starts_with("the mesh ");
    throw written.wrong(unknown ? Code::unknown_axis : Code::command_line, failure.column, failure.message,
                        meshes.empty() ? mesh_help
                        : unknown      ? "there is " + declared(meshes)
                                       : sharding_help);
  }
  const std::vector<std::string> faults = ir::faults_of(sharding, meshes[sharding.mesh.index()]);
  if (!faults.empty()) throw written.wrong(Code::bad_sub_axis, 0, faults.front(), "");
  if (!sharding.unreduced.empty())
    throw written.wrong(Code::command_line, text.find("unreduced"),
                        "partial results cannot be resharded: files hold finished cells",
                        "remove `unreduced`, and let the program combine them");
  return sharding;
}

}  // namespace tap::driver
