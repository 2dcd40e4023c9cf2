// Builds coupons.html from the data embedded in it: the matrix, the performance profile, cost against error. No dependencies.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const methods = data.methods, cells = data.cells;
  const quantities = data.coupons.flatMap(coupon => coupon.quantities.map(quantity => ({...quantity, coupon: coupon.name, done: coupon.title})));
  const markers = ['circle', 'square', 'triangle', 'diamond', 'cross', 'down'];
  const dashes = ['', '7 3', '2 3', '9 3 2 3', '12 4', '4 2', '1 4', '14 3 3 3', '6 6', '3 1', '10 2 1 2', '5 5 1 5'];
  const least = 1e-4, least_cost = 1e-3;  // shown for less: 0.01 %, 1 ms

  // ---- small helpers
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? '' : value);
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
  }
  function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  const text = (x, y, content, anchor) => svg('text', {x, y, 'text-anchor': anchor}, document.createTextNode(content));
  const titled = (node, content) => { node.append(svg('title', {}, document.createTextNode(content))); return node; };
  const finite = value => typeof value === 'number' && isFinite(value);
  const digits = (value, count) => finite(value) ? Number(value.toPrecision(count)).toString() : '–';
  const percent = error => Math.abs(error) >= 9.995 ? (error > 0 ? '> +999' : '< −999')
    : (Math.abs(error) < 5e-4 ? '0.0' : (error > 0 ? '+' : '−') + (Math.abs(error) < 0.0995 ? (100 * Math.abs(error)).toFixed(1) : Math.round(100 * Math.abs(error))));
  const share = value => 100 * value >= 1 ? Math.round(100 * value) + ' %' : digits(100 * value, 1) + ' %';
  const duration = seconds => seconds < 1 ? digits(seconds * 1e3, 3) + ' ms' : digits(seconds, 3) + ' s';
  const measured = (cell, quantity) => `${digits(cell.measured, 4)} ${quantity.unit}, expected ${digits(cell.expected, 4)} ${quantity.unit}`.replace(/ +,/, ',').trim();
  const cellsOf = (method, quantity) => cells.filter(cell => cell.method === method && cell.quantity === quantity);
  // The finest that has a number, else one that says why there is none.
  function finest(method, quantity) {
    const list = cellsOf(method, quantity);
    return [...list].reverse().find(cell => finite(cell.error)) || list[0];
  }
  const isLarge = cell => finite(cell.error) && Math.abs(cell.error) > data.large;
  const heading = (id, name, hint) => [el('h2', {id: id + '-title'}, name), el('p', {class: 'hint'}, hint)];
  const swatch = method => el('span', {class: 'swatch', style: `--c:${method.colour}`});

  function buildTop() {
    document.getElementById('top').append(el('h1', {}, 'Coupons: how soft is your solver?'),
      el('p', {class: 'lead'}, 'Small specimens whose answer is known in closed form, asked of every method at its default settings. Nothing is set but how finely the specimen is divided, three times. What a method does not model is not asked of it.'),
      el('p', {class: 'meta'}, data.summary));
  }

  // ---- matrix
  const limits = [0.01, 0.05, data.large, 0.5];
  const level = error => { const k = limits.findIndex(limit => Math.abs(error) <= limit); return k < 0 ? 4 : k; };
  function cellNode(method, quantity) {
    const cell = finest(method.name, quantity.name);
    if (!cell) return el('td', {});
    const about = finite(cell.error) ? `${measured(cell, quantity)}; resolution ${cell.resolution}, ${duration(cell.cpu)}` : '';
    const title = [about, cell.reason, ...cell.warnings].filter(Boolean).join('\n');
    if (!finite(cell.error)) return el('td', {class: 'none', title}, cell.outcome === 'not modelled' ? '–' : cell.outcome === 'measured' ? '?' : cell.outcome);
    const unsaid = isLarge(cell) && !cell.warned;
    return el('td', {class: `e${level(cell.error)}${unsaid ? ' unsaid' : ''}`, title},
      percent(cell.error) + (cell.outcome === 'cut' ? '~' : '') + (isLarge(cell) ? (unsaid ? ' !' : ' w') : ''));
  }
  function buildMatrix() {
    const section = document.getElementById('matrix');
    section.append(...heading('matrix', 'Error in per cent', 'At the finest resolution that ran. Point at a number for what was measured, what was expected and what it took.'));
    const key = ['up to 1 %', 'up to 5 %', `up to ${share(data.large)}`, 'up to 50 %', 'more'];
    section.append(el('ul', {class: 'key matrix'}, ...key.map((name, k) => el('li', {}, el('i', {class: `e${k}`}), name)),
      el('li', {}, '! large, and the run does not say so'), el('li', {}, 'w large, and the run warns of it'), el('li', {}, '~ ended by the budget'), el('li', {}, '– not modelled')));
    const head = el('tr', {}, el('th', {scope: 'col'}, 'quantity'), ...methods.map(method => el('th', {scope: 'col'}, method.name)));
    const body = quantities.map(quantity => el('tr', {}, el('th', {scope: 'row', title: quantity.done}, quantity.name, el('small', {}, quantity.title)),
      ...methods.map(method => cellNode(method, quantity))));
    section.append(el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'matrix of errors'},
      el('table', {class: 'matrix'}, el('thead', {}, head), el('tbody', {}, ...body))));
  }

  // ---- axes on logarithmic scales
  function decades(low, high) {
    const list = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; ++e) list.push(Math.pow(10, e));
    return list;
  }
  function scale(low, high, from, to) {
    const a = Math.log10(low), b = Math.log10(high);
    return value => from + (Math.log10(value) - a) / (b - a) * (to - from);
  }
  function marker(kind, x, y, colour) {
    const shapes = {
      square: `M${x - 4} ${y - 4}h8v8h-8z`, triangle: `M${x} ${y - 5}l5 9h-10z`, diamond: `M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`,
      cross: `M${x - 5} ${y - 1.7}h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z`, down: `M${x} ${y + 5}l5 -9h-10z`,
      circle: `M${x - 4.5} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`,
    };
    return svg('path', {d: shapes[kind], fill: colour, stroke: '#fff', 'stroke-width': 1});
  }
  const shapeOf = index => markers[index % markers.length];

  // ---- legend: hides a method everywhere
  const hidden = new Set();
  function hide() {
    for (const node of document.querySelectorAll('[data-method]')) node.style.display = hidden.has(node.dataset.method) ? 'none' : '';
  }
  function legend() {
    return el('ul', {class: 'legend'}, ...methods.map((method, index) => el('li', {}, el('button', {type: 'button', 'aria-pressed': 'true', title: 'hide or show in all charts', onclick: event => {
      const button = event.currentTarget, was = hidden.has(method.name);
      if (was) hidden.delete(method.name); else hidden.add(method.name);
      button.setAttribute('aria-pressed', String(was));
      hide();
    }}, svg('svg', {viewBox: '0 0 30 10', 'aria-hidden': 'true'}, svg('line', {x1: 0, x2: 30, y1: 5, y2: 5, stroke: method.colour, 'stroke-width': 2, 'stroke-dasharray': dashes[index % dashes.length]}), marker(shapeOf(index), 15, 5, method.colour)), method.name))));
  }

  // ---- performance profile
  function buildProfile() {
    const section = document.getElementById('profile');
    section.append(...heading('profile', 'Performance profile', 'Over all quantities: how many a method answers with at most this error. What it does not model counts as unanswered, so a curve ends at the share that the method can answer at all.'), legend());
    const width = 860, height = 330, left = 52, right = 30, top = 12, bottom = 40, low = 1e-3, high = 10;
    const x = scale(low, high, left, width - right), y = v => height - bottom - v * (height - top - bottom);
    const drawing = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'share of quantities answered within an error'});
    for (const v of [0, 0.25, 0.5, 0.75, 1]) drawing.append(svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}), text(left - 6, y(v) + 4, share(v).replace('0.0', '0'), 'end'));
    for (const v of decades(low, high)) drawing.append(svg('line', {class: 'grid', x1: x(v), x2: x(v), y1: top, y2: height - bottom}), text(x(v), height - bottom + 16, digits(100 * v, 1) + ' %', 'middle'));
    drawing.append(svg('line', {class: 'exact', x1: x(data.large), x2: x(data.large), y1: top, y2: height - bottom}), text((left + width) / 2, height - 5, 'error at the finest resolution →', 'middle'));
    methods.forEach((method, index) => {
      const errors = quantities.map(quantity => finest(method.name, quantity.name)).filter(cell => cell && finite(cell.error)).map(cell => Math.abs(cell.error)).sort((a, b) => a - b);
      let path = '', answered = 0;
      for (const error of errors) {
        const at = x(Math.min(high, Math.max(low, error)));
        path += path ? `H${at}` : `M${at} ${y(0)}`;
        path += `V${y(++answered / quantities.length)}`;
      }
      if (path) drawing.append(titled(svg('path', {class: 'line', d: `${path}H${x(high)}`, stroke: method.colour, 'stroke-dasharray': dashes[index % dashes.length], 'data-method': method.name}), method.name));
    });
    section.append(el('div', {class: 'chart'}, el('div', {class: 'scroll'}, el('div', {style: 'min-width:560px'}, drawing))));
  }

  // ---- cost against error
  function costChart(quantity) {
    const points = methods.map(method => cellsOf(method.name, quantity.name).filter(cell => finite(cell.error)));
    const all = points.flat();
    if (!all.length) return null;
    const width = 420, height = 250, left = 58, right = 10, top = 10, bottom = 40;
    const error = cell => Math.max(least, Math.abs(cell.error)), cost = cell => Math.max(least_cost, cell.cpu);
    const range = (values, bottom) => [Math.max(bottom, Math.pow(10, Math.floor(Math.log10(Math.min(...values)) - 0.05))), Math.pow(10, Math.ceil(Math.log10(Math.max(...values)) + 0.05))];
    const [x0, x1] = range(all.map(cost), least_cost), [y0, y1] = range(all.map(error), least);
    const x = scale(x0, x1, left, width - right), y = scale(y0, y1, height - bottom, top);
    const drawing = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `error against cost: ${quantity.title}`});
    for (const v of decades(y0, y1)) drawing.append(svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}), text(left - 6, y(v) + 4, (v <= least ? '≤ ' : '') + digits(100 * v, 1) + ' %', 'end'));
    for (const v of decades(x0, x1)) drawing.append(svg('line', {class: 'grid', x1: x(v), x2: x(v), y1: top, y2: height - bottom}), text(x(v), height - bottom + 16, (v <= least_cost ? '≤ ' : '') + duration(v), 'middle'));
    drawing.append(text((left + width) / 2, height - 6, 'processor time →', 'middle'));
    points.forEach((list, index) => {
      const method = methods[index], group = svg('g', {'data-method': method.name});
      if (list.length > 1) group.append(svg('path', {class: 'line', stroke: method.colour, 'stroke-dasharray': dashes[index % dashes.length], d: list.map((cell, i) => `${i ? 'L' : 'M'}${x(cost(cell))} ${y(error(cell))}`).join('')}));
      for (const cell of list) group.append(titled(marker(shapeOf(index), x(cost(cell)), y(error(cell)), method.colour), `${method.name}, resolution ${cell.resolution}: ${percent(cell.error)} %, ${duration(cell.cpu)}`));
      drawing.append(group);
    });
    return el('div', {class: 'chart'}, el('h3', {}, quantity.name, ' ', el('small', {}, quantity.title)), drawing);
  }
  function buildCost() {
    const section = document.getElementById('cost');
    section.append(...heading('cost', 'Error against cost', 'Three resolutions of each method, from coarse to fine; bottom left is better. A curve that does not fall has an error that refining does not cure.'), legend());
    section.append(el('div', {class: 'charts'}, ...quantities.map(costChart).filter(Boolean)));
  }

  // ---- what is wrong, and what is left out
  function buildLarge() {
    const section = document.getElementById('large');
    section.append(...heading('large', 'Large errors, and what is left out', `Errors above ${share(data.large)} at the finest resolution, and why quantities have no number.`));
    section.append(el('ul', {class: 'models'}, ...methods.map(method => {
      const own = quantities.map(quantity => [quantity, finest(method.name, quantity.name)]).filter(pair => pair[1]);
      const large = own.filter(([, cell]) => isLarge(cell));
      const reasons = new Map();
      for (const [quantity, cell] of own) if (cell.reason) reasons.set(cell.reason, [...(reasons.get(cell.reason) || []), quantity.name]);
      const warnings = new Set(large.filter(([, cell]) => cell.warned).flatMap(([, cell]) => cell.warnings));
      return el('li', {style: `--c:${method.colour}`}, el('h3', {}, swatch(method), method.name),
        large.length ? el('ul', {}, ...large.map(([quantity, cell]) => el('li', {}, `${quantity.name}: ${percent(cell.error)} % (${measured(cell, quantity)})`, cell.warned ? '' : el('b', {}, ' – the run does not say so')))) : el('p', {class: 'yes'}, 'No large error.'),
        ...[...warnings].map(warning => el('p', {class: 'warning'}, '⚠ ' + warning)),
        reasons.size ? el('ul', {}, ...[...reasons].map(([reason, names]) => el('li', {class: 'yes'}, `${names.join(', ')}: ${reason}`))) : null);
    })));
  }
  function buildSources() {
    const section = document.getElementById('sources');
    section.append(...heading('sources', 'What is expected', 'The scenes are written by exemplar coupons --write FOLDER, so that each can be run by hand.'));
    const rows = quantities.map(quantity => el('tr', {}, el('th', {scope: 'row'}, quantity.name), el('td', {class: 'text'}, quantity.done), el('td', {class: 'text'}, quantity.title), el('td', {class: 'text'}, quantity.source)));
    section.append(el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'closed forms'}, el('table', {},
      el('thead', {}, el('tr', {}, ...['quantity', 'coupon', 'what is measured', 'closed form'].map(name => el('th', {scope: 'col', style: 'text-align:left'}, name)))), el('tbody', {}, ...rows))));
    section.append(el('p', {class: 'meta'}, 'Beside this page: ', el('code', {}, 'coupons.csv'), ' (these numbers). Made with ', el('code', {}, data.command), '.'));
  }

  buildTop(); buildMatrix(); buildProfile(); buildCost(); buildLarge(); buildSources();
})();
