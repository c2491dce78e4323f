import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { lifecyclePhases } from '../metamodel/metamodel.types.ts';

/** A column of a file of cards or relations. */
export interface FileColumn {
  /** As in the header, such as `attributes.timeModel`. */
  name: string;
  part: 'field' | 'lifecycle' | 'attributes';
  /** The field, phase or attribute. */
  key: string;
}

/** Which columns a kind of file may have. */
interface Vocabulary {
  fields: ReadonlySet<string>;
  /** Whether there are `lifecycle.<phase>` columns. */
  lifecycle: boolean;
  attributeKeys: ReadonlySet<string>;
}

const phases: ReadonlySet<string> = new Set(lifecyclePhases);

/** The column of that name, if the vocabulary has it. */
function findColumn(name: string, vocabulary: Vocabulary): FileColumn | undefined {
  if (vocabulary.fields.has(name)) return { name, part: 'field', key: name };
  const dot = name.indexOf('.');
  const part = name.slice(0, Math.max(dot, 0));
  const key = name.slice(dot + 1);
  if (part === 'attributes' && vocabulary.attributeKeys.has(key)) return { name, part, key };
  if (part === 'lifecycle' && vocabulary.lifecycle && phases.has(key)) return { name, part, key };
  return undefined;
}

/** Says that none of some columns is there, of which one is needed. */
function missingColumn(...choices: string[]): FieldError {
  return {
    field: choices[0]!,
    code: 'missing_column',
    message: `a column ${choices.join(' or ')} is needed`,
  };
}

/**
 * The columns of a header, in its order; blanks around names don't count.
 * @param missing which needed columns are not among those there.
 * @throws EstateError `validation_failed` that names each column that is unknown, repeated or missing.
 */
function readHeader(
  cells: readonly string[],
  vocabulary: Vocabulary,
  missing: (names: ReadonlySet<string>) => FieldError[],
): FileColumn[] {
  const names = new Set<string>();
  const repeated = new Set<string>();
  const faults: FieldError[] = [];
  const columns: FileColumn[] = [];
  for (const [n, cell] of cells.entries()) {
    const name = cell.trim();
    if (names.has(name)) {
      repeated.add(name);
      continue;
    }
    names.add(name);
    const column = findColumn(name, vocabulary);
    if (column) columns.push(column);
    else if (name === '') {
      faults.push({ field: `column ${n + 1}`, code: 'unknown_column', message: 'has no name in the header' });
    } else faults.push({ field: name, code: 'unknown_column', message: 'is no column of this kind of file' });
  }
  for (const name of repeated) {
    faults.push({ field: name, code: 'repeated_column', message: 'stands in the header more than once' });
  }
  faults.push(...missing(names));
  if (faults.length > 0) throw invalidFields(faults);
  return columns;
}

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
