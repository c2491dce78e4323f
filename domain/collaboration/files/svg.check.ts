import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import { walkXml } from './xml.walk.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** Elements of SVG, and of HTML in a foreignObject, that run scripts or load documents. */
const ACTIVE =
  /^(?:script|handler|listener|iframe|frame|frameset|object|embed|applet|portal|base|meta|form)$/i;
const SCRIPTED = /^\s*(?:javascript|vbscript|data\s*:\s*(?:text|application))/i;

/**
 * Looks at a text that may be an SVG image. Images that run something are refused, although they are only served as
 * attachments: a reader may open the saved file.
 * @throws Error saying why it is none.
 */
export function checkSvg(text: string): void {
  walkXml(text.replace(/^\uFEFF/, ''), ({ uri, local, attributes, depth }) => {
    if (depth === 1 && (uri !== SVG || local !== 'svg')) throw new Error('its root is no svg element');
    if (ACTIVE.test(local)) throw new Error(`it contains a ${local} element`);
    for (const { local: name, value } of attributes) {
      if (/^(?:on|srcdoc$)/i.test(name)) throw new Error(`it contains the attribute ${name}`);
      // control characters within a scheme are passed over by browsers
      if (/^(?:href|src|to|values|from)$/i.test(name) && SCRIPTED.test(value.replace(/[\s\p{Cc}]/gu, ''))) {
        throw new Error(`its attribute ${name} runs a script`);
      }
    }
  });
}

/** Characters up to which an image is checked at once: that takes less than 50 ms. */
const AT_ONCE = 64 * 1024;

const checkInThread = boundedThreadPool<string, void>({
  module: new URL('./svg.worker.ts', import.meta.url),
  what: 'large SVG images',
});

/**
 * Checks an SVG image as `checkSvg` does: a large one in another thread.
 * @throws Error saying why it is none; EstateError `unavailable` where too many wait, `query_too_heavy` where it takes too long.
 */
export async function checkSvgInThread(text: string): Promise<void> {
  await (text.length <= AT_ONCE ? checkSvg(text) : checkInThread(text));
}
