import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';
import type { Separator } from './imports.csv-records.ts';
import type { ImportPayload } from './imports.job.ts';
import { readCsv } from './imports.read-csv.ts';
import { readNdjson, readObject } from './imports.read-ndjson.ts';
import type { ImportKind, ImportRow, ReadOptions } from './imports.row.ts';

const separators: Record<string, Separator> = { comma: ',', semicolon: ';', tab: '\t' };

/** The kind and format of a file. */
export type SourceOptions = Pick<ImportPayload, 'kind' | 'format' | 'empty' | 'separator'>;

/**
 * Reads a file of cards or relations in batches of rows.
 * @throws EstateError `validation_failed` before any row, if the header is not valid.
 */
export function readSource<K extends ImportKind>(
  content: AsyncIterable<Uint8Array>,
  metamodel: Metamodel,
  kind: K,
  { format, empty, separator }: SourceOptions,
  batchRows?: number,
): AsyncGenerator<ImportRow<K>[]> {
  const options: ReadOptions<K> = { kind, ...attributesOf(metamodel, kind), batchRows };
  if (format === 'ndjson') return readNdjson(content, options);
  return readCsv(content, {
    ...options,
    empty,
    separator: separator === undefined ? undefined : (separators[separator] ?? (separator as Separator)),
  });
}

/** An object in the form of a line of an NDJSON file. */
export interface SourceObject {
  line: number;
  value: object;
}

/** Reads objects like the lines of an NDJSON file. */
export function readObjects<K extends ImportKind>(
  metamodel: Metamodel,
  kind: K,
  objects: readonly SourceObject[],
): ImportRow<K>[] {
  const options: ReadOptions<K> = { kind, ...attributesOf(metamodel, kind) };
  // members that are undefined are absent
  return objects.map(({ line, value }) => readObject(line, JSON.parse(JSON.stringify(value)), options));
}

/** The attributes that rows of a kind may have. */
function attributesOf(
  metamodel: Metamodel,
  kind: ImportKind,
): Pick<ReadOptions, 'attributeKeys' | 'fieldType'> {
  const types = kind === 'cards' ? metamodel.cardTypes : metamodel.relationTypes;
  const visible = kind === 'cards' ? metamodel.visibleTypes : metamodel.visibleRelationTypes;
  const anywhere = new Map<string, FieldType>();
  for (const key of visible) {
    for (const field of types.get(key)!.fields.values()) {
      if (!anywhere.has(field.key)) anywhere.set(field.key, field.type);
    }
  }
  return {
    attributeKeys: new Set(anywhere.keys()),
    fieldType: (type, key) =>
      type === undefined ? anywhere.get(key) : types.get(type)?.fields.get(key)?.type,
  };
}
