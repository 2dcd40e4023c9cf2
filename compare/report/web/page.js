// Builds report.html from the data embedded in it: pictures, tables, plots. No dependencies; the 3D views are in
// viewer.js (window.ExemplarViewer), which may be missing.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const runs = data.runs;
  const dashes = ['', '7 3', '2 3', '9 3 2 3', '12 4', '4 2', '1 4', '14 3 3 3', '6 6', '3 1', '10 2 1 2', '5 5 1 5'];
  const markers = ['circle', 'square', 'triangle', 'diamond', 'cross', 'down'];

  // ---- small helpers
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key === 'style') node.setAttribute('style', value);
      else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
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
  const finite = value => typeof value === 'number' && isFinite(value);
  const round3 = value => Number(value.toPrecision(3)).toString();
  function short(value) {
    if (!finite(value)) return '–';
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(1).replace('e', '·10^').replace('+', '');
    return round3(value);
  }
  function length(metres) {
    if (!finite(metres)) return '–';
    if (metres < 1e-12) return '0';
    if (metres < 1e-6) return metres.toExponential(1) + ' m';
    if (metres < 1e-3) return round3(metres * 1e6) + ' µm';
    if (metres < 1) return round3(metres * 1e3) + ' mm';
    return round3(metres) + ' m';
  }
  const distance = (metres, uncertainty) => finite(metres) && metres <= uncertainty && uncertainty > 0 ? '≤ ' + length(uncertainty) : length(metres);
  function duration(seconds) {
    if (!finite(seconds)) return '–';
    if (seconds < 1) return round3(seconds * 1e3) + ' ms';
    if (seconds < 120) return round3(seconds) + ' s';
    if (seconds < 7200) return round3(seconds / 60) + ' min';
    return round3(seconds / 3600) + ' h';
  }
  const ratio = value => finite(value) ? (value >= 100 ? Math.round(value).toLocaleString('en') : round3(value)) + ' ×' : '–';
  const words = name => name.replace(/_/g, ' ');
  // A small button that saves what `make` returns (a Blob, or a promise of one).
  function saver(label, name, make) {
    return el('button', {type: 'button', class: 'save', title: `save ${name}`, 'aria-label': `save ${name}`, onclick: async () => {
      const link = el('a', {href: URL.createObjectURL(await make()), download: name});
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }}, label);
  }
  const fileName = (...parts) => parts.join('-').replace(/[^\w.-]+/g, '_');
  const plotStyle = 'text{font:11px sans-serif;fill:#5b6670}.grid{stroke:#e9ecef}.axis{stroke:#b8c0c7}.now{display:none}.band{fill:#9aa3ab;opacity:0.25}.line{fill:none;stroke-width:1.9;stroke-linejoin:round}';
  // A plot as a file of its own: its style goes with it.
  function svgBlob(drawing) {
    const copy = drawing.cloneNode(true), style = svg('style');
    style.textContent = plotStyle;
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.prepend(style);
    return new Blob([new XMLSerializer().serializeToString(copy)], {type: 'image/svg+xml'});
  }
  const quoted = value => /[",\n]/.test(value) ? `"${String(value).replace(/"/g, '""')}"` : String(value);
  function csvBlob(rows) {
    return new Blob([rows.map(row => row.map(quoted).join(',') + '\n').join('')], {type: 'text/csv'});
  }
  const swatch = run => el('span', {class: 'swatch', style: `--c:${run.colour}`});
  const title = run => el('h3', {}, swatch(run), run.name);
  const heading = (id, text, hint) => [el('h2', {id: id + '-title'}, text), hint ? el('p', {class: 'hint'}, hint) : null].filter(Boolean);
  // ---- top: what was compared, and what came out in one glance
  // What happened to the body, in one sentence.
  function changeWords(run) {
    if (!run.models_deformation) return 'The body keeps its shape.';
    if (!finite(run.largest_change)) return '';
    const pieces = finite(run.pieces) && run.pieces > 1.5 ? ` It ends in ${Math.round(run.pieces).toLocaleString('en')} pieces.` : '';
    if (run.largest_change < 1e-9) return 'Nothing changes its shape.' + pieces;
    if (run.change > 0.97 * run.largest_change) return `Its change of shape is largest at the end: ${length(run.change)}.` + pieces;
    return `Its shape changes by ${length(run.largest_change)} at most; ${length(run.change)} are left at the end.` + pieces;
  }
  // The catchwords of what it leaves out: "fracture: the body cannot break" is "fracture".
  function leftOut(run) {
    const words = run.not_modelled.map(item => item.split(':')[0]);
    return words.length ? 'Leaves out: ' + words.join(', ') + '.' : 'Leaves nothing of the scene out.';
  }
  function buildTop() {
    const top = document.getElementById('top');
    top.append(el('h1', {}, data.title));
    top.append(el('p', {class: 'meta'}, `${runs.length} runs of one scene${data.scene_title && data.scene_title !== data.title ? ' (' + data.scene_title + ')' : ''}, `,
      `${data.times.length ? round3(data.times[data.times.length - 1]) + ' s simulated' : 'no frames'}. `,
      `Exemplar ${data.version}.`));
    for (const run of runs.filter(run => run.status !== 'done')) {
      top.append(el('p', {class: 'notice'}, el('b', {}, `${run.name}: ${run.status}. `), run.message || ''));
    }
    for (const error of data.reference_errors) top.append(el('p', {class: 'notice'}, el('b', {}, 'No run is ranked: '), error + '.'));
    for (const run of runs.filter(run => run.doubts.length && !run.is_reference)) {
      top.append(el('p', {class: 'notice'}, el('b', {}, `${run.name} is doubtful: `), run.doubts.join('; ') + '.'));
    }
    if (data.reference_note) top.append(el('p', {class: 'meta'}, data.reference_note));
    for (const note of data.notes) top.append(el('p', {class: 'meta'}, note[0].toUpperCase() + note.slice(1) + '.'));
  }
  // The lesson with those of its sentences struck out that are claims which do not hold.
  function lessonParts() {
    let parts = [data.lesson];
    for (const claim of data.claims.filter(claim => claim.verdict === 'fails')) {
      parts = parts.flatMap(part => {
        const at = typeof part === 'string' ? part.indexOf(claim.claim) : -1;
        return at < 0 ? [part] : [part.slice(0, at), el('s', {title: claim.numbers}, claim.claim), part.slice(at + claim.claim.length)];
      });
    }
    return parts;
  }
  function buildClaims() {
    const marks = {holds: '✓', fails: '✗', unchecked: '?'}, open = data.claims.some(claim => claim.verdict === 'fails');
    const holding = data.claims.filter(claim => claim.verdict === 'holds').length;
    return el('details', {class: 'claims', open}, el('summary', {}, `${holding} of ${data.claims.length} claims hold`),
      el('ul', {}, ...data.claims.map(claim => el('li', {class: claim.verdict}, marks[claim.verdict] + ' ',
        el(claim.verdict === 'fails' ? 's' : 'span', {}, claim.claim), ' ', el('small', {}, claim.numbers)))));
  }
  function buildLesson() {
    const section = document.getElementById('lesson');
    const unranked = runs.filter(run => run.not_ranked && !run.is_reference && run.status === 'done');
    if (!data.lesson && data.cards.length < 2) return;
    section.append(...heading('lesson', 'What this shows'));
    if (data.lesson) section.append(el('p', {class: 'lead'}, ...lessonParts()));
    if (data.claims.length) section.append(buildClaims());
    if (data.cards.length > 1) {
      section.append(el('ul', {class: 'verdict'}, ...data.cards.map(card => el('li', {style: `--c:${runs[card.runs[0]].colour}`},
        el('span', {class: 'what'}, card.what), el('b', {}, card.runs.map(index => runs[index].name).join(', ')), el('span', {class: 'number'}, card.number)))));
    }
    if (unranked.length) section.append(el('p', {class: 'meta'}, 'Shown, not ranked: ', unranked.map(run => `${run.name} (${run.not_ranked})`).join('; '), '.'));
  }

  // ---- pictures
  function stripTimes() {
    const last = data.times.length - 1;
    return last < 0 ? [] : [0, 1, 2, 3, 4].map(i => Math.round(i * last / 4));
  }
  // What the artist drew: the body at rest and each example pose.
  function posesStrip() {
    const name = pose => pose.name || 'at rest';
    return el('div', {class: 'strip poses'}, el('div', {class: 'who'}, el('h3', {}, data.poses.length > 2 ? 'The examples' : 'The example'),
      el('p', {}, 'The body as it is, and what the artist drew that it may become. Methods that know no examples never see it.')),
      el('div', {class: 'frames', role: 'group', 'aria-label': 'the body at rest and its example poses'}, ...data.poses.map(pose =>
        el('figure', {}, el('img', {src: pose.src, alt: `the body: ${name(pose)}`}), el('figcaption', {}, name(pose))))));
  }
  function buildPictures() {
    const section = document.getElementById('pictures');
    section.append(...heading('pictures', 'What each method did', 'Change of shape: how far the surface is from its shape at the start, RMS after the best rigid motion. ' + data.pictures_note));
    if (data.poses.length) section.append(posesStrip());
    runs.forEach((run, index) => {
      const frames = el('div', {class: 'frames', tabindex: 0, role: 'group', 'aria-label': `${run.name} at five times`});
      // The wide row, then close-ups.
      for (const shot of [...new Set(run.pictures.map(picture => picture.shot))]) {
        const row = run.pictures.filter(picture => picture.shot === shot);
        for (const picture of row) {
          const text = round3(picture.time) + ' s' + (shot ? `, close: ${shot}` : '');
          frames.append(el('figure', {}, el('img', {src: picture.src, alt: `${run.name} at ${text}`}), el('figcaption', {}, text)));
        }
        for (let i = row.length; i < 5; ++i) frames.append(el('div', {class: 'gone'}, 'the run had ended'));
      }
      if (!run.pictures.length) {
        for (const frame of stripTimes()) {
          const shown = run.frames > frame && window.ExemplarViewer;
          const canvas = el('canvas', {width: 400, height: 300, 'data-run': index, 'data-frame': frame, role: 'img',
            'aria-label': `${run.name} at ${round3(data.times[frame])} s`});
          frames.append(el('figure', {}, shown ? canvas : el('div', {class: 'gone'}, run.frames > frame ? 'no picture' : 'the run had ended'),
            el('figcaption', {}, `${round3(data.times[frame])} s`)));
        }
      }
      const numbers = run.status !== 'done' ? el('p', {class: 'failed'}, run.status)
        : el('p', {class: 'numbers'}, run.is_reference ? `reference · ${duration(run.wall_time)}`
          : `${distance(run.rms, run.uncertainty)} from the reference · ${duration(run.wall_time)}`);
      section.append(el('div', {class: 'strip'}, el('div', {class: 'who'}, title(run), el('p', {}, run.summary), numbers,
        run.frames ? el('p', {class: 'numbers'}, changeWords(run)) : null, el('p', {}, leftOut(run))), frames));
    });
  }

  // ---- rigs: handles and weights as colours
  function buildRigs() {
    if (!data.rigs && !data.example_weights) return;
    const section = document.getElementById('rigs');
    section.append(...heading('rigs', 'Rigs and examples as colours', 'Of the methods that deform a body by handles.'));
    const add = (src, text) => src && section.append(el('figure', {class: 'sheet'}, el('img', {src, alt: text}), el('figcaption', {}, text)));
    add(data.rigs, 'Handles (balls) and skinning weights at the start: each point in the colour of its strongest handle, paler where others have a share.');
    add(data.example_weights, 'Example weights over time: white where a body is as it was, else in the colours of the examples.');
  }

  // ---- 3D views
  function buildViews() {
    const section = document.getElementById('views');
    section.append(...heading('views', 'Look around'));
    if (!window.ExemplarViewer) {
      section.append(el('p', {class: 'notice'}, 'This build of the program has no 3D view (it was built without node and npm). ' +
        'Open side_by_side.pvd or paraview.py in ParaView instead.'));
      return;
    }
    section.append(el('p', {class: 'hint'}, 'Drag to turn, wheel or pinch to zoom, right-drag or two fingers to move: all views share one camera and one time. ' +
      'Keyboard: space plays, ← → step, and in a view the arrow keys turn, + − zoom, 0 resets. ' + data.export_note));
    const shown = runs.map((run, index) => ({run, index})).filter(item => item.run.frames > 0);
    if (!shown.length) return section.append(el('p', {class: 'notice'}, 'No run has written a frame.'));
    const last = data.times.length - 1;
    const slider = el('input', {type: 'range', min: 0, max: last, step: 1, value: 0, id: 'time', 'aria-label': 'time'});
    const output = el('output', {for: 'time'});
    const play = el('button', {type: 'button', id: 'play', 'aria-label': 'play'}, '▶ Play');
    const colour = el('select', {id: 'colour', 'aria-label': 'colour by'}, el('option', {value: 'method'}, 'colour: method'),
      el('option', {value: 'moved'}, 'colour: distance moved'), el('option', {value: 'reference'}, 'colour: distance to the reference'),
      ...data.fields.map(field => el('option', {value: 'field:' + field.name}, 'colour: ' + words(field.name))));
    const reset = el('button', {type: 'button', id: 'reset'}, 'Reset view');
    const end = (value, label) => el('input', {type: 'range', min: 0, max: 100, value, 'aria-label': label});
    const scale = el('span', {class: 'scale', hidden: true}, el('span', {class: 'low'}), el('span', {class: 'ends'}, el('i'),
      end(0, 'lower end of the colours'), end(100, 'upper end of the colours')), el('span', {class: 'high'}));
    const parts = {obstacles: true, ghost: false, mesh: false};
    const part = (name, text) => el('label', {class: 'part'}, el('input', {type: 'checkbox', id: 'show-' + name, checked: parts[name], onchange: event => {
      parts[name] = event.target.checked;
      if (window.exemplar) window.exemplar.viewer.choose(parts);
    }}), text);
    const hasObstacles = shown.some(item => item.run.layers.obstacles.segments.length);
    const hasGhost = shown.some(item => item.run.reference_index >= 0 && item.run.reference_index !== item.index && runs[item.run.reference_index].frames > 0);
    section.append(el('div', {class: 'controls'}, el('div', {class: 'timeline'}, play, slider, output), colour, scale, reset,
      hasObstacles ? part('obstacles', 'obstacles') : null, hasGhost ? part('ghost', 'reference as a ghost') : null, part('mesh', 'mesh')));
    const grid = el('div', {class: 'grid3d'});
    section.append(grid);
    for (const {run, index} of shown) {
      const canvas = el('canvas', {tabindex: 0, role: 'img', 'data-view': index, 'aria-label': `3D view of ${run.name}`});
      const ended = run.frames <= last ? el('span', {class: 'ended', hidden: true}, `ended at ${round3(data.times[run.frames - 1])} s`) : null;
      const none = el('span', {class: 'none', hidden: true}, 'has no such values');
      const save = saver('PNG', fileName(run.name) + '.png', () => window.exemplar.viewer.png(index));
      const view = el('figure', {class: 'view'}, canvas, el('figcaption', {}, swatch(run), run.name), ended, none, save);
      const large = el('button', {type: 'button', class: 'save large', 'aria-pressed': 'false', 'aria-label': `show ${run.name} large`, onclick: () => {
        const on = view.classList.toggle('large');
        large.setAttribute('aria-pressed', String(on));
        large.textContent = on ? 'Small' : 'Large';
        view.scrollIntoView({block: 'nearest'});
        if (window.exemplar) window.exemplar.viewer.request();
      }}, 'Large');
      view.append(large);
      grid.append(view);
    }
    connect({slider, output, play, colour, reset, scale, last, section});
  }
  function connect({slider, output, play, colour, reset, scale, last, section}) {
    let viewer = null, playing = false, started = 0, from = 0;
    const show = frame => {
      slider.value = frame;
      output.textContent = data.times[frame].toFixed(3) + ' s';
      slider.setAttribute('aria-valuetext', output.textContent);
      if (viewer) viewer.setFrame(frame);
      setNow(data.times[frame]);
      for (const view of section.querySelectorAll('.view')) {
        const ended = view.querySelector('.ended');
        const run = runs[Number(view.querySelector('canvas').dataset.view)];
        if (ended) ended.hidden = frame < run.frames;
      }
    };
    const seconds = Math.max(3, Math.min(8, last / 20));
    const tick = now => {
      if (!playing) return;
      const frame = from + Math.max(0, now - started) / 1000 * last / seconds;
      if (frame >= last) { show(last); setPlaying(false); return; }
      show(Math.floor(frame));
      requestAnimationFrame(tick);
    };
    const setPlaying = on => {
      playing = on;
      play.textContent = on ? '❚❚ Pause' : '▶ Play';
      play.setAttribute('aria-label', on ? 'pause' : 'play');
      if (!on) return;
      from = Number(slider.value) >= last ? 0 : Number(slider.value);
      started = performance.now();
      requestAnimationFrame(tick);
    };
    play.addEventListener('click', () => setPlaying(!playing));
    slider.addEventListener('input', () => { setPlaying(false); show(Number(slider.value)); });
    const unitOf = mode => (data.fields.find(field => 'field:' + field.name === mode) || {unit: 'm'}).unit;
    let ends = [0, 0];
    const [lower, upper] = scale.querySelectorAll('input');
    const recolour = () => {
      const from = Math.min(Number(lower.value), Number(upper.value) - 1) / 100, to = Math.max(Number(upper.value) / 100, from + 0.01);
      const at = share => ends[0] + share * (ends[1] - ends[0]), unit = unitOf(colour.value);
      const say = value => unit === 'm' && value >= 0 ? length(value) : short(value) + (unit ? ' ' + unit : '');
      scale.querySelector('.low').textContent = say(at(from));
      scale.querySelector('.high').textContent = say(at(to));
      scale.querySelector('i').style = `margin-left:${100 * from}%;width:${100 * (to - from)}%`;
      if (viewer) viewer.setRange(from, to);
    };
    colour.addEventListener('change', async () => {
      ends = viewer ? await viewer.setColour(colour.value) : [0, 0];
      lower.value = 0;
      upper.value = 100;
      scale.hidden = colour.value === 'method';
      const field = colour.value.startsWith('field:') && colour.value.slice(6);
      for (const view of section.querySelectorAll('.view')) {
        const run = runs[Number(view.querySelector('canvas').dataset.view)];
        view.querySelector('.none').hidden = !field || run.layers.surface.fields.includes(field);
      }
      recolour();
    });
    for (const input of [lower, upper]) input.addEventListener('input', recolour);
    reset.addEventListener('click', () => viewer && viewer.resetCamera());
    document.addEventListener('keydown', event => {
      const target = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|BUTTON|SUMMARY/.test(target.tagName)) return;
      if (target.tagName === 'CANVAS' && event.key !== ' ') return;
      if (event.key === ' ') { event.preventDefault(); setPlaying(!playing); }
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (step) { setPlaying(false); show(Math.max(0, Math.min(last, Number(slider.value) + step))); }
    });
    show(last);
    window.ExemplarViewer.start(data, document.querySelectorAll('canvas[data-view]')).then(made => {
      viewer = made;
      window.exemplar = {viewer, show, data};
      show(Number(slider.value));
      for (const canvas of document.querySelectorAll('canvas[data-frame]')) viewer.picture(canvas, Number(canvas.dataset.run), Number(canvas.dataset.frame));
      document.body.dataset.ready = 'yes';
    }).catch(error => {
      section.append(el('p', {class: 'notice'}, 'The 3D view could not start: ' + error.message));
      document.body.dataset.ready = 'no';
    });
  }

  // ---- cost
  function buildCost() {
    const section = document.getElementById('cost');
    section.append(...heading('cost', 'How close, at what cost', data.cost_note));
    const most = key => Math.max(...runs.map(run => finite(run[key]) ? run[key] : 0), 1e-300);
    const bar = (run, key, text) => el('td', {class: 'bar', style: `--c:${run.colour};--w:${finite(run[key]) ? run[key] / most(key) : 0}`}, text);
    const head = ['run', 'distance to reference (RMS)', 'largest', 'shape only (RMS)', 'change of shape: most', 'at the end', 'set-up', 'wall time', 'output', 'time / reference', '× real time', 'peak memory', 'steps', 'solver iterations'];
    const body = runs.map(run => el('tr', {}, el('th', {scope: 'row'}, swatch(run), run.name + (run.doubts.length ? ' (doubtful)' : '')),
      ...(run.status === 'done' ? [
        run.is_reference ? el('td', {}, 'reference') : bar(run, 'rms', distance(run.rms, run.uncertainty)), el('td', {}, run.is_reference ? '' : distance(run.max, run.uncertainty_max)),
        el('td', {}, run.is_reference ? '' : distance(run.rms_aligned, run.uncertainty_aligned)), el('td', {}, length(run.largest_change)), el('td', {}, length(run.change)), el('td', {}, duration(run.setup_time)), bar(run, 'wall_time', duration(run.wall_time)), el('td', {}, duration(run.output_time)), el('td', {}, ratio(run.cost_ratio)),
        el('td', {}, short(run.real_time_factor)), el('td', {}, finite(run.memory) ? Math.round(run.memory) + ' MB' : '–'),
        el('td', {}, run.steps.toLocaleString('en')), el('td', {}, run.iterations ? run.iterations.toLocaleString('en') : '–'),
      ] : [el('td', {colspan: 13, class: 'text failed'}, `${run.status}: ${run.message}`)])));
    const table = el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'cost table'},
      el('table', {}, el('thead', {}, el('tr', {}, ...head.map(text => el('th', {scope: 'col'}, text)))), el('tbody', {}, ...body)));
    section.append(table);
    const chart = workPrecision();
    if (chart) section.append(chart);
  }

  // ---- plots
  const nows = [];
  let now = 0;
  function setNow(time) {
    now = time;
    for (const set of nows) set(time);
  }

  function ticks(low, high, count) {
    const span = high - low || 1;
    const step = Math.pow(10, Math.floor(Math.log10(span / count)));
    const size = [1, 2, 5, 10].map(k => k * step).find(s => span / s <= count) || 10 * step;
    const list = [];
    for (let v = Math.ceil(low / size - 1e-9) * size; v <= high + 1e-9 * span; v += size) list.push(Math.abs(v) < 1e-9 * span ? 0 : v);
    return list;
  }
  function tickText(value, list) {
    const top = Math.max(...list.map(Math.abs));
    if (value === 0) return '0';
    if (top >= 1e5 || top < 1e-3) return superscript(value);
    return Number(value.toPrecision(6)).toString();
  }
  function superscript(value) {
    const exponent = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    const digits = String(exponent).replace(/./g, c => ({'-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹'})[c]);
    const mantissa = Number((value / Math.pow(10, exponent)).toPrecision(3));
    return (mantissa === 1 ? '' : mantissa + '·') + '10' + digits;
  }
  const frameBox = {width: 420, height: 230, left: 58, right: 8, top: 10, bottom: 30};

  function chart(metric) {
    const {width, height, left, right, top, bottom} = frameBox;
    let t0 = Infinity, t1 = -Infinity, v0 = Infinity, v1 = -Infinity;
    for (const line of metric.lines) {
      line.values.forEach((value, i) => {
        if (!finite(value)) return;
        t0 = Math.min(t0, line.times[i]); t1 = Math.max(t1, line.times[i]);
        v0 = Math.min(v0, value); v1 = Math.max(v1, value);
      });
    }
    if (v1 - v0 < 1e-9 * Math.max(Math.abs(v0), Math.abs(v1), 1e-30)) { const pad = Math.abs(v0) * 0.1 || 1; v0 -= pad; v1 += pad; }
    else { const pad = 0.04 * (v1 - v0); if (v0 !== 0) v0 -= pad; v1 += pad; }
    if (t1 === t0) t1 = t0 + 1;
    const x = t => left + (t - t0) / (t1 - t0) * (width - left - right);
    const y = v => height - bottom - (v - v0) / (v1 - v0) * (height - top - bottom);
    const drawing = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${words(metric.name)} over time`});
    const ys = ticks(v0, v1, 5), xs = ticks(t0, t1, 6);
    for (const v of ys) drawing.append(svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}), text(left - 6, y(v) + 4, tickText(v, ys), 'end'));
    for (const t of xs) drawing.append(svg('line', {class: 'axis', x1: x(t), x2: x(t), y1: height - bottom, y2: height - bottom + 4}), text(x(t), height - bottom + 16, tickText(t, xs), 'middle'));
    drawing.append(svg('line', {class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}), text(width - right, height - 2, 'time [s]', 'end'));
    for (const band of metric.bands) drawing.append(bandPath(band, x, y));
    for (const line of metric.lines) drawing.append(polyline(line, x, y));
    const mark = svg('line', {class: 'now', x1: x(t0), x2: x(t0), y1: top, y2: height - bottom});
    drawing.append(mark);
    nows.push(t => { const at = x(Math.max(t0, Math.min(t1, t))); mark.setAttribute('x1', at); mark.setAttribute('x2', at); });
    const rows = () => [['run', 'time [s]', metric.name + (metric.unit ? ` [${metric.unit}]` : '')],
      ...metric.lines.flatMap(line => line.values.map((value, i) => [runs[line.run].name, line.times[i], finite(value) ? value : '']))];
    return el('div', {class: 'chart'}, el('h3', {}, metric.label || words(metric.name), ' ', el('small', {}, metric.unit ? `[${metric.unit}]` : ''),
      saver('SVG', fileName(metric.name) + '.svg', () => svgBlob(drawing)), saver('CSV', fileName(metric.name) + '.csv', () => csvBlob(rows()))), drawing);
  }
  // What the reference leaves open, where it is known.
  function bandPath(band, x, y) {
    const known = band.times.map((t, i) => i).filter(i => finite(band.low[i]) && finite(band.high[i]));
    const edge = (values, list) => list.map(i => `${x(band.times[i]).toFixed(1)} ${y(values[i]).toFixed(1)}`).join('L');
    return svg('path', {class: 'band', d: known.length ? `M${edge(band.low, known)}L${edge(band.high, known.reverse())}Z` : ''},
      svg('title', {}, document.createTextNode("the reference's uncertainty")));
  }
  function polyline(line, x, y) {
    let path = '', pen = false;
    line.values.forEach((value, i) => {
      if (!finite(value)) { pen = false; return; }
      path += `${pen ? 'L' : 'M'}${x(line.times[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = true;
    });
    const run = runs[line.run];
    return svg('path', {class: 'line', d: path, stroke: run.colour, 'stroke-dasharray': dashes[line.run % dashes.length], 'data-run': line.run},
      svg('title', {}, document.createTextNode(run.name)));
  }
  function text(x, y, content, anchor) {
    return svg('text', {x, y, 'text-anchor': anchor}, document.createTextNode(content));
  }
  const hidden = new Set();
  function hide(root) {
    for (const path of root.querySelectorAll('path[data-run]')) path.style.display = hidden.has(Number(path.dataset.run)) ? 'none' : '';
  }
  function legend() {
    return el('ul', {class: 'legend'}, ...runs.map((run, index) => el('li', {}, el('button', {type: 'button', 'aria-pressed': 'true', title: 'hide or show in all charts', onclick: event => {
      const button = event.currentTarget;
      if (hidden.has(index)) hidden.delete(index); else hidden.add(index);
      button.setAttribute('aria-pressed', String(!hidden.has(index)));
      hide(document);
    }}, lineSample(run, index), run.name))));
  }
  function lineSample(run, index) {
    return svg('svg', {viewBox: '0 0 30 10', 'aria-hidden': 'true'}, svg('line', {x1: 0, x2: 30, y1: 5, y2: 5, stroke: run.colour, 'stroke-width': 2.5, 'stroke-dasharray': dashes[index % dashes.length]}));
  }
  function buildPlots() {
    const section = document.getElementById('plots');
    if (!data.metrics.length) return;
    section.append(...heading('plots', 'Over time', 'All methods in one chart; the dashed line is the time of the 3D views. Click a name to hide it.'), legend());
    const first = data.metrics.filter(metric => metric.first), rest = data.metrics.filter(metric => !metric.first);
    section.append(el('div', {class: 'charts'}, ...first.map(chart)));
    if (!rest.length) return;
    // Drawn when they are asked for: there are many.
    const more = el('details', {}, el('summary', {}, `${rest.length} more metrics`));
    more.addEventListener('toggle', () => {
      if (!more.open || more.querySelector('.charts')) return;
      more.append(el('div', {class: 'charts'}, ...rest.map(chart)));
      setNow(now);
      hide(more);
    });
    section.append(more);
  }

  // ---- work against precision: one curve a series, log–log
  function workPrecision() {
    const points = runs.filter(run => !run.is_reference && finite(run.rms) && run.rms > 0 && finite(run.wall_time) && run.wall_time > 0);
    if (points.length < 2) return null;
    const width = 760, height = 330, left = 70, right = 150, top = 12, bottom = 42;
    const range = key => {
      const logs = points.map(run => Math.log10(run[key]));
      return [Math.min(...logs) - 0.25, Math.max(...logs) + 0.25];
    };
    const [x0, x1] = range('wall_time'), [y0, y1] = range('rms');
    const x = v => left + (Math.log10(v) - x0) / (x1 - x0) * (width - left - right);
    const y = v => height - bottom - (Math.log10(v) - y0) / (y1 - y0) * (height - top - bottom);
    const drawing = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'surface error against wall time'});
    const marks = (low, high) => {
      const list = [];
      for (let e = Math.floor(low); e <= Math.ceil(high); ++e) for (const k of (high - low < 2.2 ? [1, 2, 5] : [1])) {
        const v = k * Math.pow(10, e);
        if (Math.log10(v) >= low && Math.log10(v) <= high) list.push(v);
      }
      return list;
    };
    for (const v of marks(y0, y1)) drawing.append(svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}), text(left - 6, y(v) + 4, length(v), 'end'));
    for (const v of marks(x0, x1)) drawing.append(svg('line', {class: 'grid', x1: x(v), x2: x(v), y1: top, y2: height - bottom}), text(x(v), height - bottom + 16, duration(v), 'middle'));
    drawing.append(text((left + width - right) / 2, height - 4, 'wall time →', 'middle'), text(left, top - 2, '↓ closer to the reference (RMS)', 'start'));
    const series = [...new Set(points.map(run => run.series))];
    series.forEach((name, index) => drawSeries(drawing, points.filter(run => run.series === name), index, x, y));
    placeLabels(drawing, series.map((name, index) => {
      const last = points.filter(run => run.series === name).sort((a, b) => b.wall_time - a.wall_time)[0];
      return {x: x(last.wall_time) + 10, y: y(last.rms) + 4, text: last.models_deformation ? name : name + ' (cannot deform)', colour: last.colour};
    }));
    const swept = points.some(run => run.resolution);
    return el('div', {class: 'chart', id: 'work-precision', style: 'max-width:860px;margin-top:24px'}, el('h3', {}, swept ? 'Work against precision ' : 'Error against cost ',
      el('small', {}, 'bottom left is better: nearer to the reference, and faster' + (points.some(run => !run.models_deformation) ? '; hollow: cannot deform, only the motion counts' : '')),
      saver('SVG', 'error-and-cost.svg', () => svgBlob(drawing)), saver('CSV', 'error-and-cost.csv', () => csvBlob([['run', 'wall time [s]', 'RMS [m]'], ...points.map(run => [run.name, run.wall_time, run.rms])]))), el('div', {class: 'scroll'}, el('div', {style: 'min-width:520px;padding-top:14px'}, drawing)));
  }
  function drawSeries(drawing, list, index, x, y) {
    list.sort((a, b) => a.wall_time - b.wall_time);
    if (list.length > 1) drawing.append(svg('path', {class: 'line', stroke: list[0].colour, d: list.map((run, i) => `${i ? 'L' : 'M'}${x(run.wall_time)} ${y(run.rms)}`).join('')}));
    for (const run of list) {
      const mark = marker(markers[index % markers.length], x(run.wall_time), y(run.rms), run.colour, run.models_deformation);
      mark.append(svg('title', {}, document.createTextNode(`${run.name}: ${length(run.rms)}, ${duration(run.wall_time)}`)));
      drawing.append(mark);
    }
  }
  // Labels are pushed apart so that none covers another.
  function placeLabels(drawing, labels) {
    labels.sort((a, b) => a.y - b.y);
    for (let i = 1; i < labels.length; ++i) {
      for (let j = 0; j < i; ++j) {
        if (Math.abs(labels[j].x - labels[i].x) < 110 && labels[i].y - labels[j].y < 14) labels[i].y = labels[j].y + 14;
      }
    }
    for (const label of labels) {
      const node = text(label.x, label.y, label.text, 'start');
      node.setAttribute('style', `font-weight:600;font-size:12px;fill:${label.colour}`);
      drawing.append(node);
    }
  }
  function marker(kind, x, y, colour, filled) {
    const shapes = {
      square: `M${x - 5} ${y - 5}h10v10h-10z`, triangle: `M${x} ${y - 6}l6 11h-12z`, diamond: `M${x} ${y - 7}l7 7l-7 7l-7 -7z`,
      cross: `M${x - 6} ${y - 2}h4v-4h4v4h4v4h-4v4h-4v-4h-4z`, down: `M${x} ${y + 6}l6 -11h-12z`,
      circle: `M${x - 5.5} ${y}a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z`,
    };
    return svg('path', filled ? {d: shapes[kind], fill: colour, stroke: '#fff', 'stroke-width': 1.2} : {d: shapes[kind], fill: '#fff', stroke: colour, 'stroke-width': 2});
  }

  // ---- what is not modelled, warnings, settings
  function buildModels() {
    const section = document.getElementById('models');
    section.append(...heading('models', 'What each run leaves out', 'Of this scene; nothing is ignored silently.'));
    section.append(el('ul', {class: 'models'}, ...runs.map(run => el('li', {style: `--c:${run.colour}`}, title(run),
      run.not_modelled.length ? el('ul', {}, ...run.not_modelled.map(item => el('li', {}, item))) : el('p', {class: 'yes'}, 'Everything in the scene is modelled.'),
      ...run.warnings.map(item => el('p', {class: 'warning'}, '⚠ ' + item)),
      run.source ? el('p', {class: 'yes'}, 'After ' + run.source) : null))));
  }
  function buildSettings() {
    const section = document.getElementById('settings');
    section.append(...heading('settings', 'Settings and files'));
    const rows = runs.map(run => el('tr', {}, el('th', {scope: 'row'}, swatch(run), run.name), el('td', {class: 'text'}, run.method),
      el('td', {class: 'text'}, Object.entries(run.set).map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join(', ') || 'as in the scene'),
      el('td', {class: 'text'}, el('a', {href: encodeURI(run.directory + '/run.json')}, el('code', {}, run.directory + '/run.json')))));
    section.append(el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'settings'}, el('table', {}, el('thead', {}, el('tr', {},
      ...['run', 'method', 'changed in the scene', 'all settings, times by phase'].map(name => el('th', {scope: 'col', style: 'text-align:left'}, name)))), el('tbody', {}, ...rows))));
    for (const run of runs.filter(item => item.notes.length)) {
      section.append(el('details', {}, el('summary', {}, `Notes of ${run.name}`), el('ul', {}, ...run.notes.map(note => el('li', {}, note)))));
    }
    section.append(el('p', {class: 'meta', style: 'margin-top:14px'}, 'Beside this page: ', el('code', {}, 'comparison.csv'), ' and ', el('code', {}, 'comparison.json'),
      ' (these numbers), ', el('code', {}, 'side_by_side.pvd'), ' and ', el('code', {}, 'paraview.py'), ' (for ParaView). Made with ', el('code', {}, data.command), '.'));
  }

  buildTop(); buildLesson(); buildPictures(); buildRigs(); buildViews(); buildCost(); buildPlots(); buildModels(); buildSettings();
  if (data.times.length) setNow(data.times[data.times.length - 1]);
})();
