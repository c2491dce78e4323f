import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { unknownChoice } from '../choices.ts';
import { lifecyclePhases } from '../metamodel/metamodel.types.ts';

/** Letters and digits only, in lower case: the form in which names are compared. */
export const fold = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** A column of a file of cards or relations. */
export interface FileColumn {
  /** As in the header, such as `attributes.timeModel`. */
  name: string;
  part: 'field' | 'lifecycle' | 'attributes' | 'ignored';
  /** The field, phase or attribute. */
  key: string;
}

/** The last column of downloaded failed rows, with the reasons. Its cells are not imported. */
export const REASONS_COLUMN = 'import_errors';

/** The columns that a kind of file may have. */
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
  if (name === REASONS_COLUMN) return { name, part: 'ignored', key: name };
  const dot = name.indexOf('.');
  const part = name.slice(0, Math.max(dot, 0));
  const key = name.slice(dot + 1);
  if (part === 'attributes' && vocabulary.attributeKeys.has(key)) return { name, part, key };
  if (part === 'lifecycle' && vocabulary.lifecycle && phases.has(key)) return { name, part, key };
  return undefined;
}

/** Of how many unknown columns the error names those that were probably meant. */
const MOST_NAMED = 20;

/** All columns of a vocabulary. */
const namesOf = ({ fields, lifecycle, attributeKeys }: Vocabulary): string[] => [
  ...fields,
  ...(lifecycle ? lifecyclePhases.map((phase) => `lifecycle.${phase}`) : []),
  ...[...attributeKeys].map((key) => `attributes.${key}`),
];

/** The error for a file that has none of some columns, of which one is required. */
function missingColumn(...choices: string[]): FieldError {
  const message = `a column ${choices.join(' or ')} is needed`;
  return { field: choices[0]!, code: 'missing_column', message };
}

/** The errors for a file that has no column of some choices. */
const missingOf = (needed: readonly string[][], names: ReadonlySet<string>): FieldError[] =>
  needed
    .filter((choices) => !choices.some((name) => names.has(name)))
    .map((choices) => missingColumn(...choices));

/** The column that a header means which is no name of one, rather one that is not taken; undefined if there is none. */
type ColumnByLabel = (header: string, taken: ReadonlySet<string>) => string | undefined;

/** What each header means; undefined if it is no column. A header that can mean several yields to one that can only mean one of them. */
function resolved(
  cells: readonly string[],
  vocabulary: Vocabulary,
  byLabel: ColumnByLabel = () => undefined,
): { header: string; column: FileColumn | undefined }[] {
  const headers = cells.map((cell) => cell.trim());
  const taken = new Set(
    headers.flatMap((header) => {
      if (findColumn(header, vocabulary)) return header;
      const first = byLabel(header, new Set());
      return first !== undefined && byLabel(header, new Set([first])) === first ? first : [];
    }),
  );
  return headers.map((header) => {
    const column = findColumn(header, vocabulary) ?? findColumn(byLabel(header, taken) ?? '', vocabulary);
    if (column) taken.add(column.name);
    return { header, column };
  });
}

/** The names of the columns of a header, and other headers as they are. */
export function columnNames(
  cells: readonly string[],
  kind: 'cards' | 'relations',
  attributeKeys: ReadonlySet<string>,
  byLabel?: ColumnByLabel,
): string[] {
  const vocabulary = { fields: columnsOf[kind], lifecycle: kind === 'cards', attributeKeys };
  return resolved(cells, vocabulary, byLabel).map(({ header, column }) => column?.name ?? header);
}

/**
 * The columns of a header, in its order; names are trimmed.
 * @param missing returns the required columns that are not in the header.
 * @throws EstateError `validation_failed` naming each column that is unknown, repeated or missing.
 */
function readHeader(
  cells: readonly string[],
  vocabulary: Vocabulary,
  missing: (names: ReadonlySet<string>) => FieldError[],
  byLabel?: ColumnByLabel,
): FileColumn[] {
  const names = new Set<string>();
  const repeated = new Set<string>();
  const errors: FieldError[] = [];
  const columns: FileColumn[] = [];
  for (const [n, { header, column }] of resolved(cells, vocabulary, byLabel).entries()) {
    const name = column?.name ?? header;
    if (names.has(name)) {
      repeated.add(name);
      continue;
    }
    names.add(name);
    if (column) columns.push(column);
    else if (name === '') {
      errors.push({ field: `column ${n + 1}`, code: 'unknown_column', message: 'has no name in the header' });
    } else {
      const error = { field: name, code: 'unknown_column', message: 'is no column of this kind of file' };
      errors.push(errors.length < MOST_NAMED ? unknownChoice(error, name, namesOf(vocabulary)) : error);
    }
  }
  for (const name of repeated) {
    errors.push({ field: name, code: 'repeated_column', message: 'stands in the header more than once' });
  }
  errors.push(...missing(names));
  if (errors.length > 0) throw invalidFields(errors);
  return columns;
}

/** The columns of imported cards, besides `lifecycle.<phase>` and `attributes.<key>`. */
const cardRowColumns = [
  'type',
  'subtype',
  'external_id',
  'name',
  'alias',
  'description',
  'parent_external_id',
] as const;

/** Additional columns of a file that can be imported again after changes. */
const cardRoundTripColumns = [
  'id',
  'number',
  'parent_id',
  'parent_number',
  'parent_path',
  'status',
  'approval_status',
  'tags',
  'stakeholders',
] as const;

export type CardColumn = (typeof cardRowColumns | typeof cardRoundTripColumns)[number];

const cardColumns: ReadonlySet<string> = new Set<CardColumn>([...cardRowColumns, ...cardRoundTripColumns]);

/**
 * The columns of a file of cards. Required are `type`, `id` or `number`, and one of `id`, `number`, `external_id` and
 * `name`, which identify a card.
 * @throws EstateError `validation_failed` naming each column that is unknown, repeated or missing.
 */
export function readCardHeader(
  cells: readonly string[],
  attributeKeys: ReadonlySet<string>,
  byLabel?: ColumnByLabel,
): FileColumn[] {
  const vocabulary = { fields: cardColumns, lifecycle: true, attributeKeys };
  const missing = (names: ReadonlySet<string>) => {
    const has = (...choices: CardColumn[]) => choices.some((name) => names.has(name));
    if (!has('type', 'id', 'number')) return [missingColumn('type', 'id', 'number')];
    return has('id', 'number', 'external_id', 'name')
      ? []
      : [missingColumn('name', 'external_id', 'id', 'number')];
  };
  return readHeader(cells, vocabulary, missing, byLabel);
}

/** The columns of imported costs. */
const costRowColumns = [
  'id',
  'external_id',
  'card_id',
  'card_number',
  'card_type',
  'card_external_id',
  'card_name',
  'relation_id',
  'kind',
  'period_start',
  'period_end',
  'amount',
  'currency',
  'description',
] as const;

export type CostColumn = (typeof costRowColumns)[number];

const costColumns: ReadonlySet<string> = new Set<CostColumn>(costRowColumns);

/**
 * The columns of a file of costs. Required are `id` or `external_id`, or all columns of a new cost.
 * @throws EstateError `validation_failed` naming each column that is unknown, repeated or missing.
 */
export function readCostHeader(cells: readonly string[]): FileColumn[] {
  const vocabulary = { fields: costColumns, lifecycle: false, attributeKeys: new Set<string>() };
  return readHeader(cells, vocabulary, (names) => {
    if (names.has('id') || names.has('external_id')) return [];
    const needed: CostColumn[][] = [
      ['card_external_id', 'card_id', 'card_number', 'card_name', 'relation_id'],
      ...(['kind', 'period_start', 'period_end', 'amount'] as const).map((name): CostColumn[] => [name]),
    ];
    return missingOf(needed, names);
  });
}

/** The columns of imported data flows. */
const flowRowColumns = [
  'id',
  'external_id',
  'source_id',
  'source_number',
  'source_type',
  'source_external_id',
  'source_name',
  'target_id',
  'target_number',
  'target_type',
  'target_external_id',
  'target_name',
  'interface_id',
  'interface_number',
  'interface_external_id',
  'interface_name',
  'data_object_ids',
  'data_object_external_ids',
  'data_object_names',
  'direction',
  'frequency',
  'description',
] as const;

export type FlowColumn = (typeof flowRowColumns)[number];

const flowColumns: ReadonlySet<string> = new Set<FlowColumn>(flowRowColumns);

/**
 * The columns of a file of data flows. Required are `id` or `external_id`, or both ends, each by id, external id or name.
 * @throws EstateError `validation_failed` naming each column that is unknown, repeated or missing.
 */
export function readFlowHeader(cells: readonly string[]): FileColumn[] {
  const vocabulary = { fields: flowColumns, lifecycle: false, attributeKeys: new Set<string>() };
  return readHeader(cells, vocabulary, (names) => {
    if (names.has('id') || names.has('external_id')) return [];
    const needed = ['source', 'target'].map((end) => [
      `${end}_external_id`,
      `${end}_id`,
      `${end}_number`,
      `${end}_name`,
    ]);
    return missingOf(needed, names);
  });
}

/** The columns of imported relations, besides `attributes.<key>`. */
const relationRowColumns = ['type', 'source_external_id', 'target_external_id', 'description'] as const;

/** Additional columns of a file that can be imported again after changes. */
const relationRoundTripColumns = ['id', 'source_id', 'source_number', 'target_id', 'target_number'] as const;

export type RelationColumn = (typeof relationRowColumns | typeof relationRoundTripColumns)[number];

const relationColumns: ReadonlySet<string> = new Set<RelationColumn>([
  ...relationRowColumns,
  ...relationRoundTripColumns,
]);

/**
 * The columns of a file of relations. Required are `id`, or `type` and both ends, each by id, number or external id.
 * @throws EstateError `validation_failed` naming each column that is unknown, repeated or missing.
 */
export function readRelationHeader(
  cells: readonly string[],
  attributeKeys: ReadonlySet<string>,
  byLabel?: ColumnByLabel,
): FileColumn[] {
  const vocabulary = { fields: relationColumns, lifecycle: false, attributeKeys };
  const missing = (names: ReadonlySet<string>) => {
    if (names.has('id')) return [];
    const needed: RelationColumn[][] = [
      ['type'],
      ['source_external_id', 'source_id', 'source_number'],
      ['target_external_id', 'target_id', 'target_number'],
    ];
    return missingOf(needed, names);
  };
  return readHeader(cells, vocabulary, missing, byLabel);
}

/** The names of the columns that have no part before them. */
export const columnsOf: Readonly<Record<'cards' | 'relations', ReadonlySet<string>>> = {
  cards: cardColumns,
  relations: relationColumns,
};
