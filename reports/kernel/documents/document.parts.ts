import { htmlBlocks } from './document.html.ts';
import { markdownBlocks } from './document.markdown.ts';
import type { Block, Part } from './document.types.ts';

/** Converts the parts of a document to blocks. Parsing is slow: call it in a worker thread. */
export function blocksOf(parts: readonly Part[]): Block[] {
  return parts.flatMap((part): Block[] => {
    if (part.kind === 'markdown') return markdownBlocks(part.text, part.level);
    return part.kind === 'html' ? htmlBlocks(part.text) : [part];
  });
}
