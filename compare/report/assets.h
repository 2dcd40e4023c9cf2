// The files of the report page, embedded in the program at build time (compare/report/web).
#pragma once

#include <string_view>

namespace exemplar::assets {

std::string_view page();            // page.html
std::string_view style();           // style.css
std::string_view script();          // page.js
std::string_view coupons_page();    // coupons.html
std::string_view coupons_script();  // coupons.js
std::string_view viewer();  // viewer.js with three.js in one script; empty: built without node and npm

}  // namespace exemplar::assets
