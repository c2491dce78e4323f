import { plainNameWords } from '../matching/names.ts';
import { variantOf } from '../matching/variants.ts';
import { shownName } from './spelling.ts';

/** A product of a supplier, independent of versions, environments and regions. */
export interface Product {
  key: string;
  /** Display name. */
  name: string;
}

/**
 * Derives the product from a name: without the supplier's `leading` words at the beginning, and without version, environment,
 * region and brackets at the end. Null if nothing remains.
 */
export function productOf(text: string, leading: ReadonlySet<string>): Product | null {
  const parts = shownName(text)
    .replace(/(?:\s*[([{][^)\]}]*[)\]}])+$/, '')
    .split(' ');
  while (parts.length > 1 && isOfVariant(parts.at(-1)!)) parts.pop();
  while (parts.length > 1 && plainNameWords(parts[0]!).every((word) => leading.has(word))) {
    const rest = parts.slice(1);
    if (rest.join('').length < 2) break;
    parts.shift();
  }
  const name = parts.join(' ').replace(/^[\s,:;–-]+|[\s,:;–-]+$/gu, '');
  const key = plainNameWords(name).join('');
  return key === '' ? null : { key, name };
}

/** Whether a word at the end of a name is a version, environment or region. */
function isOfVariant(word: string): boolean {
  const { version, environment, region } = variantOf(`x ${word}`);
  return version.length + environment.length + region.length > 0;
}
