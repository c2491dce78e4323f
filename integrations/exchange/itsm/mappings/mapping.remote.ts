import Type, { type Static } from 'typebox';
import {
  type CardField,
  type CardFieldKind,
  findCardField,
  findMappableField,
} from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { FieldMapping, Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { CardType, Metamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { arrayOf, Choice, component } from '../../../../domain/kernel/shapes.ts';
import { counted } from '../../../../platform/counted.ts';
import { query } from '../../../../platform/database.ts';
import type { Connector, RemoteColumn, RemoteRelationType } from '../connectors/connector.ts';
import { listChoices } from './mapping.drift.ts';

/** The result of validating a mapping. */
export const MappingValidation = component('ItsmMappingValidation', {
  valid: Type.Boolean({ description: 'Whether there is no problem of the level `error`' }),
  problems: arrayOf({
    field: Type.String({ description: 'The path of the member of the mapping' }),
    code: Type.String(),
    message: Type.String(),
    level: Choice(['error', 'warning']),
  }),
});
export type MappingValidation = Static<typeof MappingValidation>;
/** A problem of a mapping with the remote's schema; only errors make the mapping invalid. */
export type RemoteProblem = MappingValidation['problems'][number];

type Kind = RemoteColumn['kind'];

const numbers: readonly Kind[] = ['integer', 'decimal'];

/** The kinds of columns that a field can be mapped to without a transform. */
const directKinds: Partial<Record<CardFieldKind, readonly Kind[]>> = {
  text: ['text', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'other'],
  number: [...numbers, 'text', 'other'],
  date: ['date', 'text', 'other'],
  option: ['text', 'integer', 'boolean', 'other'],
};

/** A column by its name; undefined for a path over references (`company.name`). */
function columnOf(columns: readonly RemoteColumn[], name: string): RemoteColumn | undefined {
  return columns.find((column) => column.name === name);
}

const isPath = (name: string): boolean => name.includes('.');

/** Checks the columns of a mapping against the dictionary of its table. */
export function columnProblems(
  metamodel: Metamodel,
  type: CardType,
  mapping: Pick<Mapping, 'fields' | 'record_defaults' | 'sync_direction'>,
  columns: readonly RemoteColumn[],
): RemoteProblem[] {
  const writes = mapping.sync_direction !== 'pull';
  return [
    ...mapping.fields.flatMap((row, index) => {
      const local = findMappableField(metamodel, type, row.card_field);
      const found = local ? fieldProblems(row, local, columns, mapping.sync_direction) : [];
      return found.map((problem) => ({ ...problem, field: `field_mappings.${index}.${problem.field}` }));
    }),
    ...Object.entries(mapping.record_defaults).flatMap(([name, value]) =>
      defaultProblems(columns, name, value),
    ),
    ...(writes ? mandatoryProblems(mapping, columns) : []),
  ];
}

const problem = (
  level: RemoteProblem['level'],
  field: string,
  code: string,
  message: string,
): RemoteProblem => ({ level, field, code, message });

function fieldProblems(
  row: FieldMapping,
  local: CardField,
  columns: readonly RemoteColumn[],
  direction: Mapping['sync_direction'],
): RemoteProblem[] {
  const writes = direction !== 'pull';
  const column = columnOf(columns, row.remote_field);
  if (!column) {
    const head = columnOf(columns, row.remote_field.split('.')[0]!);
    if (!isPath(row.remote_field) || head?.kind !== 'reference') {
      return [problem('error', 'remote_field', 'unknown_column', 'is no column of the table')];
    }
    if (!writes) return [];
    return [
      problem('error', 'remote_field', 'readonly', 'belongs to another record, and can only be pulled'),
    ];
  }
  const found = kindProblems(row, local, column);
  if (writes && column.readonly) {
    found.push(
      problem('error', 'remote_field', 'readonly', 'is set by the remote itself: it can only be pulled'),
    );
  }
  return [...found, ...choiceProblems(row, local, column, direction)];
}

function kindProblems(row: FieldMapping, local: CardField, column: RemoteColumn): RemoteProblem[] {
  const contains = `contains ${column.remoteKind || column.kind}`;
  const misfit = (message: string) => [
    problem('error', 'remote_field', 'column_kind', `${contains}, which ${message}`),
  ];
  switch (row.transform_type) {
    case 'direct': {
      if (column.kind === 'reference') {
        const message = `${contains}: without the transform reference its key is compared`;
        return [problem('warning', 'remote_field', 'column_kind', message)];
      }
      if (column.kind === 'datetime' && local.kind === 'date') {
        const message = `${contains}: use date_format with remote datetime`;
        return [problem('error', 'transform_type', 'column_kind', message)];
      }
      return directKinds[local.kind]?.includes(column.kind) ? [] : misfit(`is not a ${local.kind}`);
    }
    case 'date_format': {
      const { remote } = row.transform_config;
      if ([remote, 'text', 'other'].includes(column.kind)) return [];
      const message = `the column ${contains}, not ${remote}`;
      return [problem('error', 'transform_config.remote', 'column_kind', message)];
    }
    case 'boolean': {
      const fits = ['boolean', 'text', 'integer', 'other'].includes(column.kind);
      return fits ? [] : misfit('cannot be mapped to yes and no');
    }
    case 'reference':
      return column.kind === 'reference' ? [] : misfit('is not a reference');
    default:
      return [];
  }
}

/** Mapped values that the column does not allow, and choices of the column that are not mapped. */
function choiceProblems(
  row: FieldMapping,
  local: CardField,
  { choices }: RemoteColumn,
  direction: Mapping['sync_direction'],
): RemoteProblem[] {
  if (choices.length === 0) return [];
  const allowed = new Set(choices.map(({ value }) => value));
  const found: RemoteProblem[] = [];
  const written = writtenValues(row);
  for (const { at, value } of written) {
    if (value === null || allowed.has(String(value))) continue;
    const level = direction === 'pull' ? 'warning' : 'error';
    found.push(
      problem(level, `transform_config.${at}`, 'unknown_choice', `the column has no choice '${value}'`),
    );
  }
  if (direction === 'push' || row.transform_type === 'expression') return found;
  const mapped = new Set(written.map(({ value }) => String(value)));
  const unmapped =
    row.transform_type === 'direct' && local.kind === 'option'
      ? choices.filter(({ value }) => local.validate(value) !== undefined)
      : row.transform_type === 'value_map' || row.transform_type === 'boolean'
        ? choices.filter(({ value }) => !mapped.has(value))
        : [];
  if (unmapped.length > 0) {
    const choiceList = listChoices(unmapped.map(({ value }) => value));
    const message = `these choices of the column are not mapped: ${choiceList}`;
    found.push(problem('warning', 'transform_config', 'choice_not_mapped', message));
  }
  return found;
}

function writtenValues(row: FieldMapping): { at: string; value: Value }[] {
  if (row.transform_type === 'value_map') {
    return row.transform_config.pairs.map(({ remote }, index) => ({
      at: `pairs.${index}.remote`,
      value: remote,
    }));
  }
  if (row.transform_type !== 'boolean') return [];
  const { yes, no } = row.transform_config;
  // only the first of each is written
  return [
    ...yes.map((value, index) => ({ at: `yes.${index}`, value })),
    ...no.map((value, index) => ({ at: `no.${index}`, value })),
  ];
}

function defaultProblems(columns: readonly RemoteColumn[], name: string, value: Value): RemoteProblem[] {
  const field = `record_defaults.${name}`;
  const column = columnOf(columns, name);
  if (!column) return [problem('error', field, 'unknown_column', 'is no column of the table')];
  if (column.readonly) return [problem('error', field, 'readonly', 'is set by the remote itself')];
  if (column.choices.length === 0 || column.choices.some((choice) => choice.value === String(value)))
    return [];
  return [problem('error', field, 'unknown_choice', `the column has no choice '${value}'`)];
}

function mandatoryProblems(
  { fields, record_defaults }: Pick<Mapping, 'fields' | 'record_defaults'>,
  columns: readonly RemoteColumn[],
): RemoteProblem[] {
  const filled = new Set([
    ...fields.map(({ remote_field }) => remote_field),
    ...Object.keys(record_defaults),
  ]);
  return columns
    .filter(({ mandatory, name, readonly }) => mandatory && !readonly && !filled.has(name))
    .map(({ name }) =>
      problem(
        'warning',
        'record_defaults',
        'mandatory_column',
        `the column '${name}' is mandatory, but no field is mapped to it and it has no default`,
      ),
    );
}

/** Checks the mapped relation types. */
export function relationProblems(
  relations: Mapping['relations'],
  types: readonly RemoteRelationType[],
): RemoteProblem[] {
  return relations.flatMap(({ remote_type }, index) => {
    if (types.some(({ id }) => id === remote_type)) return [];
    const byName = types.find(({ name }) => name === remote_type);
    const message = byName
      ? `is a name: the key of this relation type is '${byName.id}'`
      : 'is not the key of a relation type of the remote';
    return [problem('error', `relation_mappings.${index}.remote_type`, 'unknown_value', message)];
  });
}

/** Columns that are too short for texts of cards: the remote would refuse or truncate them. */
export async function textLengthProblems(
  { db, metamodel }: Ctx,
  { card_type_key, fields, sync_direction }: Mapping,
  columns: readonly RemoteColumn[],
): Promise<RemoteProblem[]> {
  const type = metamodel.cardTypes.get(card_type_key);
  if (!type || sync_direction === 'pull') return [];
  const bounded = fields.flatMap((row, index) => {
    const max = columnOf(columns, row.remote_field)?.maxLength ?? null;
    const isText = findCardField(type, row.card_field)?.kind === 'text' && row.transform_type === 'direct';
    return isText && max !== null ? [{ index, path: row.card_field, max }] : [];
  });
  if (bounded.length === 0) return [];
  const rows = await query(db).rows`select b.index, count(*) as count
     from jsonb_to_recordset(${JSON.stringify(bounded)}::jsonb) as b(index int, path text, max int)
     join cards c on c.type = ${card_type_key} and c.status = 'ACTIVE' and length(case b.path when 'name' then c.name
       when 'alias' then c.alias when 'description' then c.description when 'external_id' then c.external_id
       else c.attributes ->> substr(b.path, length('attributes.') + 1) end) > b.max
     group by b.index order by b.index`;
  return rows.map(({ index, count }: { index: number; count: number }) => ({
    level: 'warning',
    field: `field_mappings.${index}.remote_field`,
    code: 'too_short',
    message: `allows ${bounded.find((one) => one.index === index)!.max} characters: the remote refuses or truncates the longer texts of ${counted(count, 'card')}`,
  }));
}

/** Maximum levels of tables that extend each other. */
const DEPTH = 20;

/**
 * Checks that reference columns refer to the table of the mapping that they are mapped to, to a table that it extends, or to one
 * that extends it. @param tables the tables of the connection's mappings, by id.
 */
export async function referenceProblems(
  remote: Pick<Connector, 'describeTables'>,
  { id, fields }: Pick<Mapping, 'id' | 'fields'>,
  columns: readonly RemoteColumn[],
  tables: ReadonlyMap<string, string>,
): Promise<RemoteProblem[]> {
  const problems: RemoteProblem[] = [];
  const lineages = new Map<string, string[]>();
  const lineageOf = async (table: string): Promise<string[]> => {
    const known = lineages.get(table);
    if (known) return known;
    const lineage = [table];
    while (lineage.length < DEPTH) {
      const name = lineage.at(-1)!;
      const found = await remote.describeTables(name);
      const parent = found.find((one) => one.name === name)?.parent;
      if (parent === undefined || parent === null) break;
      lineage.push(parent);
    }
    lineages.set(table, lineage);
    return lineage;
  };
  for (const [index, row] of fields.entries()) {
    if (row.transform_type !== 'reference') continue;
    const target = columnOf(columns, row.remote_field)?.reference;
    const expected = tables.get(row.transform_config.mapping_id ?? id);
    // some remotes do not report the table that a column refers to
    if (!target || expected === undefined || target === expected) continue;
    const above = await lineageOf(target);
    const below = await lineageOf(expected);
    if (above.includes(expected) || below.includes(target)) continue;
    problems.push({
      level: 'error',
      field: `field_mappings.${index}.transform_config.mapping_id`,
      code: 'wrong_table',
      message: `the column refers to ${target}, but the mapping is for ${expected}`,
    });
  }
  return problems;
}
