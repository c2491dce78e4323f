import type { FieldError } from '../../../platform/errors.ts';
import type { FieldType, LifecyclePhase } from '../../kernel/metamodel/metamodel.types.ts';
import type { Stakeholding, TagName } from '../../kernel/transfer/csv-cells.ts';
import type { Labels } from './imports.labels.ts';

/** The kinds of rows that make up the inventory. */
export type InventoryKind = 'cards' | 'relations';
export type ImportKind = InventoryKind | 'costs' | 'data_flows';

/** The values of a row of cards: an absent member is not changed, `null` clears it. */
export interface CardRowValues {
  id?: string;
  /** Of an existing card. */
  number?: string;
  type?: string;
  subtype?: string | null;
  external_id?: string | null;
  /** As in the file; trimmed when it is stored. */
  name?: string | null;
  alias?: string | null;
  description?: string | null;
  /** `null` makes the card a root; set only if none of the others names a parent. */
  parent_id?: string | null;
  parent_number?: string;
  parent_external_id?: string;
  /** Names of the ancestors, root first; never empty. */
  parent_path?: string[];
  status?: 'ACTIVE' | 'ARCHIVED';
  approval_status?: 'DRAFT' | 'APPROVED' | 'REJECTED' | 'BROKEN';
  /** All tags of the card. */
  tags?: TagName[] | null;
  /** All stakeholders of the card. */
  stakeholders?: Stakeholding[] | null;
  lifecycle?: Partial<Record<LifecyclePhase, string | null>> | null;
  attributes?: Record<string, unknown> | null;
}

/** The values of a row of relations: an absent member is not changed, `null` clears it. */
interface RelationRowValues {
  id?: string;
  type?: string;
  source_id?: string;
  source_number?: string;
  source_external_id?: string;
  target_id?: string;
  target_number?: string;
  target_external_id?: string;
  description?: string | null;
  attributes?: Record<string, unknown> | null;
}

/** The values of a row of costs: an absent member is not changed, `null` clears it. */
export interface CostRowValues {
  id?: string;
  external_id?: string | null;
  card_id?: string;
  card_number?: string;
  card_type?: string;
  card_external_id?: string;
  card_name?: string;
  relation_id?: string;
  kind?: string;
  period_start?: string;
  period_end?: string;
  amount?: number;
  currency?: string;
  description?: string | null;
}

/** How a row of data flows names one of its ends. */
type EndValues<E extends string> = {
  [K in `${E}_${'id' | 'number' | 'type' | 'external_id' | 'name'}`]?: string;
};

/** The values of a row of data flows: an absent member is not changed, `null` clears it. */
export interface FlowRowValues extends EndValues<'source'>, EndValues<'target'> {
  id?: string;
  external_id?: string | null;
  interface_id?: string | null;
  interface_number?: string;
  interface_external_id?: string | null;
  interface_name?: string | null;
  data_object_ids?: string[] | null;
  data_object_external_ids?: string[] | null;
  data_object_names?: string[] | null;
  direction?: 'forward' | 'bidirectional';
  frequency?: string | null;
  description?: string | null;
}

/** The field of errors that concern a row as a whole. */
export const ROW = 'row';

/** One row of a file, parsed without access to the database. */
export interface ImportRow<K extends ImportKind = ImportKind> {
  /** The line of the file on which the row begins, from 1; the header is a line too. */
  line: number;
  kind: K;
  /** Only valid values: invalid ones are reported in `errors`. */
  values: {
    cards: CardRowValues;
    relations: RelationRowValues;
    costs: CostRowValues;
    data_flows: FlowRowValues;
  }[K];
  errors: FieldError[];
}

export interface ReadOptions<K extends ImportKind = ImportKind> {
  kind: K;
  /** All attribute keys that occur in the metamodel for this kind. */
  attributeKeys: ReadonlySet<string>;
  /**
   * The type of an attribute of a card or relation type. Without a type, if the row is identified by its id only: the
   * type that the key has in any type. Undefined if there is none: the value is passed on unchanged, and the validation
   * of the type refuses it.
   */
  fieldType: (type: string | undefined, key: string) => FieldType | undefined;
  /** The present key of a renamed attribute of a type, or of any type. */
  presentKey?: (type: string | undefined, key: string) => string | undefined;
  /** Of files that people write: what names types, attributes and options besides their keys. */
  labels?: Labels;
  /** Maximum rows of a batch, 2,000 by default; large rows make smaller batches. */
  batchRows?: number;
}

/** The error of a date that cannot be parsed. */
export const badDate = { code: 'bad_date', message: 'is not an existing date as YYYY-MM-DD' };

const BATCH_ROWS = 2_000;
// Limits the memory used by rows with long texts.
const BATCH_BYTES = 4 * 1024 * 1024;

/** Collects rows into batches of at most the given number, and of about 4 MiB of the file. */
export async function* inBatches<K extends ImportKind>(
  source: AsyncIterable<{ row: ImportRow<K>; bytes: number }[]>,
  batchRows = BATCH_ROWS,
): AsyncGenerator<ImportRow<K>[]> {
  let batch: ImportRow<K>[] = [];
  let size = 0;
  for await (const rows of source) {
    for (const { row, bytes } of rows) {
      batch.push(row);
      size += bytes;
      if (batch.length < batchRows && size < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      size = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
