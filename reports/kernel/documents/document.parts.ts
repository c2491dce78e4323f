import { htmlBlocks } from './document.html.ts';
import { markdownBlocks } from './document.markdown.ts';
import type { Block, Part } from './document.types.ts';

/** The blocks of a document. Reading texts takes time: this belongs where nobody else waits. */
export function blocksOf(parts: readonly Part[]): Block[] {
  return parts.flatMap((part): Block[] => {
    if (part.kind === 'markdown') return markdownBlocks(part.text, part.level);
    return part.kind === 'html' ? htmlBlocks(part.text) : [part];
  });
}
