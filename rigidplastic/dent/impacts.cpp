#include "rigidplastic/dent/impacts.h"

#include <algorithm>

namespace exemplar::dent {

namespace {

PairImpact impact_of(std::span<const rigid::Contact* const> points) {
  PairImpact impact;
  impact.a = points.front()->a;
  impact.b = points.front()->b;
  double sum = 0;
  impact.normal.setZero();
  for (const rigid::Contact* c : points) {
    const double weight = c->normal_impulse;
    sum += weight;
    impact.point_a += weight * c->point_a;
    impact.point_b += weight * c->point_b;
    impact.normal += weight * c->normal;
    impact.velocity += weight * (c->velocity_a - c->velocity_b);
  }
  impact.point_a /= sum;
  impact.point_b /= sum;
  impact.velocity /= sum;
  impact.normal.normalize();
  return impact;
}

}  // namespace

// Places are in the order of the log: those of one pair stand together.
bool ImpactLog::is_known(const rigid::Contact& contact, double reach) const {
  const auto before = [](const ContactPlace& place, const std::pair<int, int>& pair) {
    return std::pair(place.a, place.b) < pair;
  };
  const std::pair<int, int> pair(contact.a, contact.b);
  for (auto at = std::lower_bound(m_places.begin(), m_places.end(), pair, before);
       at != m_places.end() && std::pair(at->a, at->b) == pair; ++at) {
    if ((at->point - contact.point_a).norm() < reach) return true;
  }
  return false;
}

std::vector<PairImpact> ImpactLog::update(std::span<const rigid::Contact> contacts,
                                          std::span<const double> reach, double threshold) {
  std::vector<PairImpact> impacts;
  std::vector<ContactPlace> places;
  std::vector<const rigid::Contact*> fresh;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const rigid::Contact& c = contacts[k];
    if (c.normal_impulse > 0) {
      places.push_back({c.a, c.b, c.point_a});
      const double within =
          std::min(reach[static_cast<std::size_t>(c.a)], reach[static_cast<std::size_t>(c.b)]);
      if (!is_known(c, within)) fresh.push_back(&c);
    }
    const bool last = k + 1 == contacts.size() || contacts[k + 1].a != c.a || contacts[k + 1].b != c.b;
    if (!last || fresh.empty()) continue;
    const PairImpact impact = impact_of(fresh);
    if (impact.closing_speed() > threshold) impacts.push_back(impact);
    fresh.clear();
  }
  m_places = std::move(places);
  return impacts;
}

}  // namespace exemplar::dent
