import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { identifyImage } from '../../../domain/app/settings/settings.change.ts';
import { checkFile } from '../../../domain/collaboration/files/files.check.ts';
import { readModelText } from '../../../domain/modelling/bpm/bpmn.read.ts';
import { checkDrawing } from '../../../domain/modelling/diagrams/drawings.store.ts';

/** How long documents that are not trusted may keep all requests of the process waiting, in milliseconds, with slack. */
const BLOCKED_MS = 400;
const TICK_MS = 10;
const SOME_TICKS_MS = 5 * TICK_MS;

const model = (content: string) =>
  `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="x"><process id="p">${content}</process></definitions>`;
const drawing = (content: string) => `<mxGraphModel><root><mxCell id="0"/>${content}</root></mxGraphModel>`;
const packed = (xml: string) =>
  `<mxfile><diagram>${deflateRawSync(encodeURIComponent(xml), { level: 9 }).toString('base64')}</diagram></mxfile>`;
const svg = (content: string) => `<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`;
const unknownElements = model('<x/>'.repeat(16_000));
const packedDrawing = packed(drawing('<mxCell id="1"/>'.repeat(190_000)));
const largeSvg = Buffer.from(svg('<a b=""/>'.repeat(490_000)));

it.each<[string, () => Promise<unknown>]>([
  ['a model of elements that BPMN does not have', () => readModelText(unknownElements, 'bpmn_xml')],
  ['a packed drawing', () => checkDrawing(packedDrawing)],
  ['an attached image', () => checkFile('image.svg', largeSvg)],
  ['a logo', () => identifyImage(largeSvg)],
])('%s does not keep the thread that answers requests busy', async (_what, read) => {
  expect(unknownElements.length).toBeLessThan(64 * 1024 + 300);
  expect(packedDrawing.length).toBeLessThan(32 * 1024);
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  delay.enable();
  // the first tick has nothing to compare with, and the last one comes after what kept it waiting
  await setTimeout(SOME_TICKS_MS);
  await read();
  await setTimeout(SOME_TICKS_MS);
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(BLOCKED_MS);
});
