import { type FileColumn, missingColumn, readHeader } from './columns.ts';

/** The columns in which cards come in, besides `lifecycle.<phase>` and `attributes.<key>`. */
const cardRowColumns = [
  'type',
  'subtype',
  'external_id',
  'name',
  'alias',
  'description',
  'parent_external_id',
] as const;

/** The columns that a file has in addition when it is to come back changed. */
const cardRoundTripColumns = [
  'id',
  'parent_id',
  'parent_path',
  'status',
  'approval_status',
  'tags',
  'stakeholders',
] as const;

export type CardColumn = (typeof cardRowColumns | typeof cardRoundTripColumns)[number];

const cardColumns: ReadonlySet<string> = new Set<CardColumn>([...cardRowColumns, ...cardRoundTripColumns]);

/**
 * The columns of a file of cards. Needed are `type` or `id`, and one of `id`, `external_id` and `name`, by which a
 * card is identified.
 * @throws EstateError `validation_failed` that names each column that is unknown, repeated or missing.
 */
export function readCardHeader(cells: readonly string[], attributeKeys: ReadonlySet<string>): FileColumn[] {
  return readHeader(cells, { fields: cardColumns, lifecycle: true, attributeKeys }, (names) => {
    const has = (...choices: CardColumn[]) => choices.some((name) => names.has(name));
    if (!has('type', 'id')) return [missingColumn('type', 'id')];
    return has('id', 'external_id', 'name') ? [] : [missingColumn('name', 'external_id', 'id')];
  });
}
