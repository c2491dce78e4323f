import type { BlobStore } from '../../../platform/blobs.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import { formerFields, presentKey, presentPart } from '../../kernel/metamodel/deprecations.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';
import type { StoredWorkbook } from '../../kernel/transfer/xlsx.parts.ts';
import type { Separator } from './imports.csv-records.ts';
import type { focusOptions, ImportPayload } from './imports.job.ts';
import { type Labels, labelsOf } from './imports.labels.ts';
import { readCsv } from './imports.read-csv.ts';
import { readFocus } from './imports.read-focus.ts';
import { readNdjson, readObject } from './imports.read-ndjson.ts';
import { readWorkbookRows } from './imports.read-xlsx.ts';
import type { ImportKind, ImportRow, ReadOptions } from './imports.row.ts';

const separators: Record<string, Separator> = { comma: ',', semicolon: ';', tab: '\t' };

/** The kind and format of a file. */
type SourceOptions = Pick<ImportPayload, 'kind' | 'format' | 'empty' | 'separator' | 'sheet'> &
  Partial<Pick<ImportPayload, keyof typeof focusOptions>>;

/** The separator of a CSV file by its name; undefined: it is detected. */
export const separatorOf = (named: string | undefined): Separator | undefined =>
  named === undefined ? undefined : (separators[named] ?? (named as Separator));

/** How rows of a kind are read by the metamodel. */
export function readOptions<K extends ImportKind>(
  metamodel: Metamodel,
  kind: K,
  format: ImportPayload['format'],
  onFormer?: (path: string) => void,
): ReadOptions<K> {
  const rows: ImportKind = kind;
  const found = format === 'ndjson' ? undefined : labelsOf(metamodel, rows);
  const labels = found && format === 'csv' ? formerFirst(metamodel, rows, found) : found;
  return { kind, ...attributesOf(metamodel, kind, onFormer), labels };
}

/** A former key of an option stays, also if a label is written like it: the import names it. */
function formerFirst(metamodel: Metamodel, kind: ImportKind, labels: Labels): Labels {
  if (metamodel.aliases.size === 0) return labels;
  const prefix = kind === 'relations' ? 'relation_option' : 'option';
  return {
    ...labels,
    option(type, attribute, label) {
      const given = label.trim();
      const isFormer = presentPart(metamodel, `${prefix}:${type}.${attribute}.${given}`) !== undefined;
      return isFormer ? given : labels.option(type, attribute, label);
    },
  };
}

/**
 * Reads a stored file of cards, relations, costs or data flows in batches of rows.
 * @param onBytes receives the bytes of each chunk; it is not called for workbooks.
 * @param onFormer receives the paths of attributes that the file names by former keys.
 * @throws EstateError `validation_failed`; before any row if the (first) header is not valid.
 */
export async function* readSource<K extends ImportKind>(
  blobs: BlobStore,
  file: StoredWorkbook,
  metamodel: Metamodel,
  kind: K,
  { format, empty, separator: named, sheet, ...focus }: SourceOptions,
  {
    batchRows,
    onBytes,
    onFormer,
  }: { batchRows?: number; onBytes?: (bytes: number) => void; onFormer?: (path: string) => void } = {},
): AsyncGenerator<ImportRow<K>[]> {
  const options: ReadOptions<K> = { ...readOptions(metamodel, kind, format, onFormer), batchRows };
  if (format === 'xlsx') {
    yield* readWorkbookRows(blobs, file, { ...options, empty, sheet });
    return;
  }
  const separator = separatorOf(named);
  const stream = await openContent(blobs, file.id);
  try {
    const content = metered(stream, onBytes);
    if (focus.profile === 'focus')
      yield* readFocus(content, { ...focus, separator }) as AsyncGenerator<ImportRow[]> as AsyncGenerator<
        ImportRow<K>[]
      >;
    else if (format === 'ndjson') yield* readNdjson(content, options);
    else yield* readCsv(content, { ...options, empty, separator });
  } finally {
    stream.destroy();
  }
}

async function* metered(
  content: AsyncIterable<Uint8Array>,
  onBytes: ((bytes: number) => void) | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    onBytes?.(chunk.length);
    yield chunk;
  }
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
  onFormer: (path: string) => void = () => {},
): Pick<ReadOptions, 'attributeKeys' | 'fieldType' | 'presentKey'> {
  if (kind === 'costs' || kind === 'data_flows')
    return { attributeKeys: new Set(), fieldType: () => undefined };
  const types = kind === 'cards' ? metamodel.cardTypes : metamodel.relationTypes;
  const visible = kind === 'cards' ? metamodel.visibleTypes : metamodel.visibleRelationTypes;
  const anywhere = new Map<string, FieldType>();
  for (const key of visible) {
    for (const field of types.get(key)!.fields.values()) {
      if (!anywhere.has(field.key)) anywhere.set(field.key, field.type);
    }
  }
  // by a former key that no type has now
  const formerly = new Map<string, { present: string; path: string }>();
  for (const { path, type, key, present } of kind === 'cards' ? formerFields(metamodel) : []) {
    if (!anywhere.has(key) && presentKey(metamodel, type, key)) formerly.set(key, { present, path });
  }
  const presentIn = (type: string | undefined, key: string) => {
    const known = formerly.get(key);
    const present = type === undefined ? known?.present : presentKey(metamodel, type, key);
    if (present !== undefined) onFormer(type === undefined ? known!.path : `field:${type}.${key}`);
    return present;
  };
  return {
    attributeKeys: new Set([...anywhere.keys(), ...formerly.keys()]),
    fieldType(type, key) {
      const present = presentIn(type, key) ?? key;
      return type === undefined ? anywhere.get(present) : types.get(type)?.fields.get(present)?.type;
    },
    presentKey: presentIn,
  };
}
