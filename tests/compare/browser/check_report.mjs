// Opens a report from disk in Chromium, without network, and checks that it works.
//   node check_report.mjs REPORT.html [--screenshots FOLDER]
// Exit code 0 when all is well; otherwise says what is wrong.
import {chromium} from 'playwright-core';
import {mkdirSync, readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {resolve} from 'node:path';

const [report, option, folder] = process.argv.slice(2);
const problems = [];
const expect = (condition, message) => { if (!condition) problems.push(message); };
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--no-first-run'],
});

// Sums of the pixels of every view: how a changed picture is noticed.
const fingerprints = page => page.evaluate(() => [...document.querySelectorAll('canvas[data-view]')].map(canvas => {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  let sum = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    sum = (sum * 31 + pixels[i] * 65536 + pixels[i + 1] * 256 + pixels[i + 2]) % 1000000007;
    if (i % 64 === 0) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  }
  return {sum, colours: colours.size};
}));
const settle = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
const allDiffer = (a, b) => a.length > 0 && a.every((view, i) => view.sum !== b[i].sum);

async function open(width, height) {
  const context = await browser.newContext({viewport: {width, height}, offline: true, hasTouch: width < 600});
  const page = await context.newPage();
  page.on('console', message => { if (['error', 'warning'].includes(message.type()) && !/GPU stall|GL Driver|willReadFrequently/.test(message.text())) problems.push(`console: ${message.text()}`); });
  page.on('pageerror', error => problems.push(`script: ${error.message}`));
  page.on('request', request => { if (/^https?:/.test(request.url())) problems.push(`network: ${request.url()}`); });
  const start = Date.now();
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForFunction(() => document.body.dataset.ready || !document.querySelector('canvas[data-view]'), null, {timeout: 60000});
  console.log(`${width} × ${height}: first view after ${((Date.now() - start) / 1000).toFixed(2)} s`);
  return page;
}

async function checkViews(page) {
  const has = await page.evaluate(() => Boolean(window.ExemplarViewer));
  if (!has) return console.log('no 3D view in this build');
  expect(await page.evaluate(() => document.body.dataset.ready) === 'yes', 'the viewer did not start');
  await page.locator('#views').scrollIntoViewIfNeeded();
  // Every view counts, on the screen or not.
  await page.evaluate(() => { for (const view of window.exemplar.viewer.views) Object.defineProperty(view, 'visible', {get: () => true, set() {}}); window.exemplar.viewer.draw(); });
  const first = await fingerprints(page);
  expect(first.length > 0, 'there is no 3D view');
  first.forEach((view, i) => expect(view.colours > 20, `view ${i} is blank (${view.colours} colours)`));
  const slider = page.locator('#time');
  await slider.focus();
  await page.keyboard.press('Home');
  await settle(page);
  const early = await fingerprints(page);
  expect(allDiffer(first, early), 'the time slider does not change every view');
  await page.locator('canvas[data-view]').first().evaluate(canvas => canvas.scrollIntoView({block: 'center', behavior: 'instant'}));
  const box = await page.locator('canvas[data-view]').first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 80, box.y + box.height / 2 + 30, {steps: 4});
  await page.mouse.up();
  await settle(page);
  const turned = await fingerprints(page);
  expect(allDiffer(early, turned), 'dragging in one view does not turn every view');
  await page.locator('canvas[data-view]').first().focus();
  await page.keyboard.press('ArrowLeft');
  await settle(page);
  expect(allDiffer(turned, await fingerprints(page)), 'the arrow keys do not turn every view');
  await page.keyboard.press('0');
  await page.locator('#colour').selectOption('moved');
  await page.evaluate(() => window.exemplar.show(window.exemplar.data.times.length - 1));
  await settle(page);
  const painted = await fingerprints(page);
  // Broken surfaces keep their colour: their points have no counterpart at the start.
  expect(painted.some((view, i) => view.sum !== first[i].sum), 'colouring by distance changes nothing');
  await checkFields(page, first);
  await page.locator('#colour').selectOption('method');
  await checkParts(page);
  await page.locator('#play').click();
  await page.waitForTimeout(400);
  await page.locator('#play').click();
}

// Every field colours the runs that have it and leaves the others alone; the ends of the scale can be moved.
async function checkFields(page, plain) {
  const fields = await page.evaluate(() => window.exemplar.data.fields.map(field => field.name));
  console.log(`fields: ${fields.join(', ') || 'none'}`);
  for (const field of fields) {
    await page.locator('#colour').selectOption('field:' + field);
    await page.waitForFunction(name => window.exemplar.viewer.field && window.exemplar.viewer.field.name === name, field);
    await settle(page);
    const has = await page.evaluate(name => window.exemplar.viewer.views.map(view => view.scene.run.layers.surface.fields.includes(name)), field);
    const painted = await fingerprints(page);
    painted.forEach((view, i) => expect((view.sum !== plain[i].sum) === has[i], `${field}: view ${i} ${has[i] ? 'is not coloured' : 'is coloured though it has no such values'}`));
  }
  if (!fields.length) return;
  const before = await fingerprints(page);
  await page.locator('.scale input').last().fill('30');
  await settle(page);
  expect((await fingerprints(page)).some((view, i) => view.sum !== before[i].sum), 'the upper end of the colours changes nothing');
}

// Obstacles can be hidden, the reference laid over as a ghost, one view shown large; the time slider keeps its width.
async function checkParts(page) {
  await page.locator('#colour').selectOption('method');
  const width = () => page.locator('#time').evaluate(slider => slider.getBoundingClientRect().width);
  const plainWidth = await width();
  await page.locator('#colour').selectOption('moved');
  await settle(page);
  expect(Math.abs(await width() - plainWidth) < 1, `the time slider is ${await width()} px wide with a scale beside it, ${plainWidth} without`);
  await page.locator('#colour').selectOption('method');
  await settle(page);
  for (const part of ['obstacles', 'ghost', 'mesh']) {
    const box = page.locator('#show-' + part);
    if (!await box.count()) continue;
    const before = await fingerprints(page);
    await box.click();
    await settle(page);
    expect((await fingerprints(page)).some((view, i) => view.sum !== before[i].sum), `the box '${part}' changes nothing`);
    await box.click();
    await settle(page);
    expect((await fingerprints(page)).every((view, i) => view.sum === before[i].sum), `the box '${part}' cannot be taken back`);
  }
  const canvas = page.locator('canvas[data-view]').first(), large = page.locator('.view .large').first();
  const small = (await canvas.boundingBox()).width;
  await large.click();
  await settle(page);
  const box = await canvas.boundingBox(), room = await page.locator('.grid3d').evaluate(grid => grid.clientWidth);
  expect(box.width > 0.98 * room - 4, `a large view is ${box.width} px wide in ${room}`);
  await large.click();
  await settle(page);
  expect(Math.abs((await canvas.boundingBox()).width - small) < 1, 'a large view does not become small again');
}

// Views that nobody has scrolled to are on paper, too.
async function checkPrint() {
  const page = await open(1360, 700);
  if (await page.evaluate(() => Boolean(window.ExemplarViewer))) {
    await page.pdf();
    (await fingerprints(page)).forEach((view, i) => expect(view.colours > 20, `view ${i} is blank on paper (${view.colours} colours)`));
  }
  await page.context().close();
}

// What the buttons save: a picture, a plot, its numbers.
async function checkSaving(page) {
  for (const [place, start] of [['.view .save', '\x89PNG'], ['.chart .save:text("SVG")', '<svg'], ['.chart .save:text("CSV")', 'run,']]) {
    const button = page.locator(place).first();
    if (!await button.count()) { expect(place === '.view .save', `there is no ${place}`); continue; }
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    const bytes = readFileSync(await download.path());
    expect(bytes.length > 100 && bytes.toString('latin1').startsWith(start), `${download.suggestedFilename()} does not begin with ${start}`);
  }
}

async function checkDark() {
  const context = await browser.newContext({viewport: {width: 1360, height: 900}, offline: true, colorScheme: 'dark'});
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForFunction(() => document.body.dataset.ready || !document.querySelector('canvas[data-view]'), null, {timeout: 60000});
  const [paper, ink] = await page.evaluate(() => [getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.body).color]
    .map(text => text.match(/\d+/g).slice(0, 3).reduce((sum, value) => sum + Number(value), 0) / 3));
  expect(paper < 60 && ink > 180, `in the dark: paper ${paper}, ink ${ink}`);
  await shoot(page, 'dark');
  await context.close();
}

async function checkPage(page, width) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow <= 0, `the page is ${overflow} px wider than ${width} px`);
  const charts = await page.locator('.chart svg path.line').count();
  expect(charts > 0, 'there are no plots');
  const more = page.locator('#plots details');
  if (await more.count()) {
    await more.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(before => document.querySelectorAll('.chart svg path.line').length > before, charts, {timeout: 10000})
      .catch(() => problems.push('the other metrics are not drawn when they are opened'));
    await page.keyboard.press('Enter');
  }
  const strips = await page.locator('.strip:not(.poses)').count(), runs = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).runs.length);
  expect(strips === runs, `${strips} picture strips for ${runs} runs`);
}

async function shoot(page, name) {
  if (option !== '--screenshots') return;
  mkdirSync(folder, {recursive: true});
  // Views that are off the screen are drawn, too.
  await page.evaluate(() => { window.scrollTo(0, 0); if (window.exemplar) { for (const view of window.exemplar.viewer.views) view.visible = true; window.exemplar.viewer.draw(); } });
  await page.screenshot({path: `${folder}/${name}.png`, fullPage: true});
}

for (const [width, height, name] of [[1360, 900, 'desktop'], [390, 844, 'phone']]) {
  const page = await open(width, height);
  await checkPage(page, width);
  await shoot(page, name);
  await checkViews(page);
  if (width > 600) await checkSaving(page);
  await page.context().close();
}
await checkDark();
await checkPrint();
await browser.close();
for (const problem of problems) console.error(problem);
console.log(problems.length ? `${problems.length} problems` : 'the report works');
process.exit(problems.length ? 1 : 0);
