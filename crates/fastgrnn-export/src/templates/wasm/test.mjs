// Run `node test.mjs` to compare the module with the numbers of the machine that exported it.
import { readFile } from 'node:fs/promises';
import { load, selfTest } from './@name@.js';

const golden = JSON.parse(await readFile(new URL('./@name@_golden.json', import.meta.url)));
const model = await load();
const { wrong, hash, windows } = selfTest(model, golden);
windows.forEach((found, i) => console.log(`window ${i + 1}: ${found.label}, scores ${found.scores.join(' ')}`));
console.log(`hash of all scores ${hash.toString(16).padStart(8, '0')}`);

// Two networks at the same time, the second one loaded from bytes.
const bytes = await readFile(new URL('./@name@.wasm', import.meta.url));
const [one, other] = [await load(bytes), await load(new WebAssembly.Module(bytes))];
const frames = golden.windows[0].counts;
for (let at = 0; at < frames.length; at += golden.features) {
  one.step(frames.slice(at, at + golden.features));
  other.step(new Array(golden.features).fill(at % 100));
}
model.reset();
for (let at = 0; at < frames.length; at += golden.features) model.step(frames.slice(at, at + golden.features));
const apart = JSON.stringify(one.classify()) === JSON.stringify(model.classify()) ? 0 : 1;
console.log(`two networks side by side: ${apart === 0 ? 'ok' : 'they disturb each other'}`);

console.log(wrong + apart === 0 ? 'PASS' : `FAIL: ${wrong + apart} mismatches`);
process.exitCode = wrong + apart === 0 ? 0 : 1;
