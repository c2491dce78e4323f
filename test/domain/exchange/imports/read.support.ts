import type { ImportRow, ReadOptions } from '../../../../domain/exchange/imports/imports.row.ts';
import type { FieldType } from '../../../../domain/kernel/metamodel/metamodel.types.ts';

const application: Record<string, FieldType> = {
  note: 'text',
  score: 'number',
  runCost: 'cost',
  critical: 'boolean',
  reviewed: 'date',
  link: 'url',
  tier: 'single_select',
  regions: 'multiple_select',
};
const interfaces: Record<string, FieldType> = { protocol: 'text', score: 'text' };
const types: Record<string, Record<string, FieldType>> = { Application: application, Interface: interfaces };

/** Reading cards of two types, one of them with an attribute of each kind. */
export const cards: ReadOptions<'cards'> = {
  kind: 'cards',
  attributeKeys: new Set([...Object.keys(application), ...Object.keys(interfaces)]),
  fieldType: (type, key) => (type === undefined ? (application[key] ?? interfaces[key]) : types[type]?.[key]),
};

/** Reading relations of types with two attributes. */
export const relations: ReadOptions<'relations'> = {
  kind: 'relations',
  attributeKeys: new Set(['usage', 'share']),
  fieldType: (_type, key) => (key === 'share' ? 'number' : 'text'),
};

/** Bytes as they come from a socket: in pieces of a size that cuts characters and records anywhere. */
export async function* inPieces(content: string | Buffer, size = 5): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content as string);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** All rows of all batches. */
export async function collect<R>(batches: AsyncIterable<R[]>): Promise<R[]> {
  const rows: R[] = [];
  for await (const batch of batches) rows.push(...batch);
  return rows;
}

/** Where each row's errors lie: `line: field code`. */
export function faultsOf(rows: ImportRow[]): string[] {
  return rows.flatMap(({ line, errors }) => errors.map(({ field, code }) => `${line}: ${field} ${code}`));
}
