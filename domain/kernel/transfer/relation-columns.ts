import { type FileColumn, missingColumn, readHeader } from './columns.ts';

/** The columns in which relations come in, besides `attributes.<key>`. */
const relationRowColumns = ['type', 'source_external_id', 'target_external_id', 'description'] as const;

/** The columns that a file has in addition when it is to come back changed. */
const relationRoundTripColumns = ['id', 'source_id', 'target_id'] as const;

export type RelationColumn = (typeof relationRowColumns | typeof relationRoundTripColumns)[number];

const relationColumns: ReadonlySet<string> = new Set<RelationColumn>([
  ...relationRowColumns,
  ...relationRoundTripColumns,
]);

/**
 * The columns of a file of relations. Needed are `id`, or `type` and both ends, each by id or external id.
 * @throws EstateError `validation_failed` that names each column that is unknown, repeated or missing.
 */
export function readRelationHeader(
  cells: readonly string[],
  attributeKeys: ReadonlySet<string>,
): FileColumn[] {
  return readHeader(cells, { fields: relationColumns, lifecycle: false, attributeKeys }, (names) => {
    if (names.has('id')) return [];
    const needed: RelationColumn[][] = [
      ['type'],
      ['source_external_id', 'source_id'],
      ['target_external_id', 'target_id'],
    ];
    return needed
      .filter((choices) => !choices.some((name) => names.has(name)))
      .map((choices) => missingColumn(...choices));
  });
}
