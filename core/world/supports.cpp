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

// The coordinates that this support holds.
void hold(const Support& support, int place, const Vec3& position, const Vec3& velocity,
          SupportedNode& node) {
  const std::array<bool, 3> axes{support.x, support.y, support.z};
  for (int c = 0; c < 3; ++c) {
    if (!axes[to_size(c)]) continue;
    node.held[to_size(c)] = true;
    node.support[to_size(c)] = place;
    node.position[c] = position[c];
    node.velocity[c] = velocity[c];
  }
}

}  // namespace

SupportSet::SupportSet(const std::vector<Support>& supports, const std::string& body,
                       const Points& start_positions, const std::vector<int>& leader)
    : m_start(start_positions) {
  for (std::size_t s = 0; s < supports.size(); ++s) {
    const Support& support = supports[s];
    if (!support.body.empty() && support.body != body) continue;
    check_region(support.region);
    if (!support.keyframes.empty()) check_keyframes(support.keyframes);
    std::vector<int> nodes = with_followers(select_nodes(support.region, start_positions), leader);
    if (nodes.empty()) throw InputError("a support's region holds no node of body " + body);
    m_nodes.insert(m_nodes.end(), nodes.begin(), nodes.end());
    m_supports.push_back(support);
    m_places.push_back(to_int(s));
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
      SupportedNode& entry = held.try_emplace(node, SupportedNode{node, {false, false, false}}).first->second;
      hold(support, m_places[s], support.centre + motion.position + turned,
           motion.velocity + motion.angular_velocity.cross(turned), entry);
    }
  }
  std::vector<SupportedNode> out;
  out.reserve(held.size());
  for (const auto& [node, entry] : held) out.push_back(entry);
  return out;
}

}  // namespace exemplar
