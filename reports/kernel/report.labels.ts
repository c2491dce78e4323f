import type { ChartContext } from './charts/charts.labels.ts';
import { fieldLabel, phaseKeys, phaseLabel, typeLabel } from './charts/charts.labels.ts';
import type { Cell, Column } from './formats/formats.types.ts';
import { knownText } from './report.texts.ts';
import type { ReportTable } from './report.ts';

type Params = Record<string, unknown>;

/** Columns of texts that are keys in some reports. */
const OF_KEYS = ['group', 'figure', 'value', 'status', 'subtype'];

/** A table with labels in place of the keys of its columns and values, in the language of the context. */
export function labelledTable(table: ReportTable, params: Params, context: ChartContext): ReportTable {
  const { columns, rows } = table;
  const labels = columns.map((column) => valueLabels(column, params, context));
  return {
    ...table,
    columns: labelledColumns(columns, params, context),
    rows: Iterator.from(rows).map((row) => row.map((cell, at) => labels[at]!(cell))),
  };
}

/** Columns with labels in place of their keys, in the language of the context. */
export const labelledColumns = (columns: Column[], params: Params, context: ChartContext): Column[] =>
  columns.map((column) => ({ ...column, header: headerLabel(column, params, context) }));

const isPhase = (key: string): boolean => (phaseKeys as readonly string[]).includes(key);

/** The card types that parameters name, else all. */
function typesOf(params: Params, { metamodel: { cardTypes } }: ChartContext): string[] {
  const named = Object.values(params).filter(
    (value): value is string => typeof value === 'string' && cardTypes.has(value),
  );
  return named.length > 0 ? named : [...cardTypes.keys()];
}

function headerLabel({ header, type }: Column, params: Params, context: ChartContext): string {
  // ids are recognised by their names
  if (header === 'id' || header.endsWith('_id')) return header;
  if (type === 'date' && isPhase(header)) return phaseLabel(header, context);
  const known = knownText(context, 'column', header);
  if (known !== undefined) return known;
  const owner = typesOf(params, context).find((key) =>
    context.metamodel.cardTypes.get(key)!.fields.has(header),
  );
  return owner === undefined ? header : fieldLabel(context, owner, header);
}

/** The labels of a column's values: options of the field that it shows or that a parameter names, types, subtypes, phases. */
function valueLabels({ header, type }: Column, params: Params, context: ChartContext): (cell: Cell) => Cell {
  const { cardTypes } = context.metamodel;
  const types = typesOf(params, context).map((key) => cardTypes.get(key)!);
  const fields = [header, ...Object.values(params)].flatMap((key) =>
    types.flatMap(({ fields }) => (typeof key === 'string' ? (fields.get(key) ?? []) : [])),
  );
  const isKey = type === 'key' || OF_KEYS.includes(header);
  if (!isKey && !types.some(({ fields }) => fields.has(header))) return (cell) => cell;
  const labelOf = (key: string): string =>
    fields.map(({ optionLabels }) => optionLabels.get(key)).find((label) => label !== undefined) ??
    subtypeLabel(key) ??
    (isPhase(key) ? phaseLabel(key, context) : knownText(context, 'value', key)) ??
    typeLabel(context, key);
  const subtypeLabel = (key: string): string | undefined =>
    header === 'subtype' || header === 'figure'
      ? types.flatMap(({ subtypes }) => subtypes).find((subtype) => subtype.key === key)?.label
      : undefined;
  return (cell) => (typeof cell === 'string' ? labelOf(cell) : cell);
}
