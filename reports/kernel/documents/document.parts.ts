import { htmlBlocks } from './document.html.ts';
import { markdownBlocks } from './document.markdown.ts';
import type { Block, Cell, Part, PrintDocument } from './document.types.ts';

/**
 * The blocks of a document: its facts, its parts and its signatures. Parsing is slow: call it in a worker thread.
 */
export function blocksOf({ facts, parts, signatures }: PrintDocument): Block[] {
  const rows = facts.map(([label, value]): Cell[] => [[{ text: label, bold: true }], [{ text: value }]]);
  return [
    { kind: 'table', header: null, rows, widths: [0.24, 0.76] },
    ...parts.flatMap(blocksOfPart),
    ...signatureBlocks(signatures),
  ];
}

function blocksOfPart(part: Part): Block[] {
  if (part.kind === 'document') return blocksOfDocument(part.paper);
  if (part.kind === 'markdown') return markdownBlocks(part.text, part.level);
  return part.kind === 'html' ? htmlBlocks(part.text) : [part];
}

function blocksOfDocument(paper: PrintDocument): Block[] {
  const notice: Block[] = paper.notice
    ? [{ kind: 'paragraph', inlines: [{ text: paper.notice, bold: true }] }]
    : [];
  const blocks = blocksOf(paper).map((block) =>
    block.kind === 'heading' ? { ...block, level: Math.min(block.level + 1, 6) } : block,
  );
  return [{ kind: 'heading', level: 1, inlines: [{ text: paper.title }] }, ...notice, ...blocks];
}

function signatureBlocks(signatures: PrintDocument['signatures']): Block[] {
  if (signatures.length === 0) return [];
  const header = ['Name', 'Signed', 'SHA-256 of the content'].map((text) => [{ text }]);
  const rows = signatures.map(({ name, when, hash }): Cell[] => [
    [{ text: name }],
    [{ text: when }],
    // a hash is longer than the column
    [{ text: hash ? `${hash.slice(0, 32)}\n${hash.slice(32)}` : '', code: true }],
  ]);
  return [
    { kind: 'heading', level: 1, inlines: [{ text: 'Signatures' }] },
    { kind: 'table', header, rows, widths: [0.28, 0.24, 0.48] },
  ];
}
