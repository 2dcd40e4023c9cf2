// Opens a report from disk in Chromium, without network, and checks that it works.
//   node check_report.mjs REPORT.html [--screenshots FOLDER]
// Exit code 0 when all is well; otherwise says what is wrong.
import {chromium} from 'playwright-core';
import {mkdirSync} from 'node:fs';
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
  await page.locator('#colour').selectOption('method');
  await page.locator('#play').click();
  await page.waitForTimeout(400);
  await page.locator('#play').click();
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
  const strips = await page.locator('.strip').count(), runs = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).runs.length);
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
  await page.context().close();
}
await browser.close();
for (const problem of problems) console.error(problem);
console.log(problems.length ? `${problems.length} problems` : 'the report works');
process.exit(problems.length ? 1 : 0);
