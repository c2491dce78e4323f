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
