#include "core/world/supports.h"

#include <algorithm>
#include <map>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace exemplar {

namespace {

// Without nodes that follow another, but with the followers of what is left.
std::vector<int> with_followers(const std::vector<int>& nodes, const std::vector<int>& leader) {
  if (leader.empty()) return nodes;
  std::vector<char> in(leader.size(), 0);
  for (const int node : nodes) in[to_size(node)] = leader[to_size(node)] < 0;
  for (std::size_t i = 0; i < leader.size(); ++i) {
    if (leader[i] >= 0) in[i] = in[to_size(leader[i])];
  }
  std::vector<int> all;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i]) all.push_back(to_int(i));
  }
  return all;
}

}  // namespace

SupportSet::SupportSet(const std::vector<Support>& supports, const std::string& body,
                       const Points& start_positions, const std::vector<int>& leader)
    : m_start(start_positions) {
  for (const Support& support : supports) {
    if (!support.body.empty() && support.body != body) continue;
    check_region(support.region);
    if (!support.keyframes.empty()) check_keyframes(support.keyframes);
    std::vector<int> nodes = with_followers(select_nodes(support.region, start_positions), leader);
    if (nodes.empty()) throw InputError("a support's region holds no node of body " + body);
    m_nodes.insert(m_nodes.end(), nodes.begin(), nodes.end());
    m_supports.push_back(support);
    m_selected.push_back(std::move(nodes));
  }
  std::sort(m_nodes.begin(), m_nodes.end());
  m_nodes.erase(std::unique(m_nodes.begin(), m_nodes.end()), m_nodes.end());
}

std::vector<SupportedNode> SupportSet::at(double time) const {
  std::map<int, SupportedNode> held;
  for (std::size_t s = 0; s < m_supports.size(); ++s) {
    const Support& support = m_supports[s];
    if (time >= support.release_time) continue;
    const RigidMotion motion =
        support.keyframes.empty() ? RigidMotion{} : evaluate(support.keyframes, support.interpolation, time);
    for (const int node : m_selected[s]) {
      const Vec3 arm = m_start.row(node).transpose() - support.centre;
      const Vec3 turned = support.keyframes.empty() ? arm : Vec3(motion.orientation * arm);
      held[node] = {node,
                    {support.x, support.y, support.z},
                    support.centre + motion.position + turned,
                    motion.velocity + motion.angular_velocity.cross(turned)};
    }
  }
  std::vector<SupportedNode> out;
  out.reserve(held.size());
  for (const auto& [node, entry] : held) out.push_back(entry);
  return out;
}

}  // namespace exemplar
