import type {
  DictionaryColumn,
  DriftEntry,
  FieldMapping,
  Mapping,
} from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteColumn } from '../connectors/connector.ts';

/** Choices of a column that are remembered. */
const CHOICES = 200;

/** The dictionary in the form in which it is remembered. */
export function dictionaryOf(columns: readonly RemoteColumn[]): DictionaryColumn[] {
  return columns.map(({ name, kind, reference, maxLength, mandatory, choices }) => ({
    name,
    kind,
    reference,
    max_length: maxLength,
    mandatory,
    choices: choices.slice(0, CHOICES).map(({ value }) => value),
  }));
}

/** What has changed of the columns that a mapping uses, since its dictionary was kept. */
export function driftOf(
  mapping: Pick<Mapping, 'fields' | 'record_defaults' | 'dictionary' | 'sync_direction'>,
  columns: readonly RemoteColumn[],
): DriftEntry[] {
  const before = new Map((mapping.dictionary ?? []).map((column) => [column.name, column]));
  const now = new Map(dictionaryOf(columns).map((column) => [column.name, column]));
  const used = new Map<string, FieldMapping | undefined>();
  for (const column of Object.keys(mapping.record_defaults)) used.set(column, undefined);
  // of a path over references the first part is a column of the table
  for (const row of mapping.fields) used.set(row.remote_field, row);
  const entries: DriftEntry[] = [];
  for (const [column, row] of used) {
    const head = column.split('.')[0]!;
    const was = before.get(column) ?? before.get(head);
    const is = now.get(column) ?? now.get(head);
    if (!is) {
      const message = `The column '${column}' is gone, or hidden from the account.`;
      entries.push({ column, change: 'vanished', stops: true, message });
    } else if (was) entries.push(...columnDrift(column, row, was, is));
  }
  if (mapping.sync_direction !== 'pull') entries.push(...newDuties(used, before, now));
  return entries;
}

function columnDrift(
  column: string,
  row: FieldMapping | undefined,
  was: DictionaryColumn,
  is: DictionaryColumn,
): DriftEntry[] {
  if (was.kind !== is.kind) {
    const message = `The column '${column}' held ${was.kind}, and holds ${is.kind} now.`;
    return [{ column, change: 'kind', stops: true, message }];
  }
  const entries: DriftEntry[] = [];
  if (was.reference !== is.reference) {
    entries.push({
      column,
      change: 'reference',
      stops: row?.transform_type === 'reference',
      message: `The column '${column}' referred to ${was.reference}, and refers to ${is.reference} now.`,
    });
  }
  if (is.max_length !== null && (was.max_length === null || is.max_length < was.max_length)) {
    entries.push({
      column,
      change: 'max_length',
      stops: false,
      message: `The column '${column}' takes ${is.max_length} characters, and no longer ${was.max_length ?? 'any number'}.`,
    });
  }
  const lost = was.choices.filter((choice) => !is.choices.includes(choice));
  const added = is.choices.filter((choice) => !was.choices.includes(choice));
  if (lost.length + added.length > 0 && row?.transform_type !== 'expression') {
    const parts = [
      ...(lost.length > 0 ? [`lost the choices ${named(lost)}`] : []),
      ...(added.length > 0 ? [`has the new choices ${named(added)}`] : []),
    ];
    entries.push({
      column,
      change: 'choices',
      stops: false,
      message: `The column '${column}' ${parts.join(' and ')}.`,
    });
  }
  return entries;
}

const named = (choices: string[]): string =>
  `${choices
    .slice(0, 5)
    .map((choice) => `'${choice}'`)
    .join(', ')}${choices.length > 5 ? ` and ${choices.length - 5} more` : ''}`;

/** Columns that have to be filled now, and were not before. */
function newDuties(
  used: ReadonlyMap<string, unknown>,
  before: ReadonlyMap<string, DictionaryColumn>,
  now: ReadonlyMap<string, DictionaryColumn>,
): DriftEntry[] {
  if (before.size === 0) return [];
  return [...now.values()]
    .filter(({ name, mandatory }) => mandatory && !used.has(name) && !before.get(name)?.mandatory)
    .map(({ name }) => ({
      column: name,
      change: 'mandatory' as const,
      stops: false,
      message: `The column '${name}' has to be filled now; new records may be refused.`,
    }));
}

/** The table itself is no longer to be seen. */
export const tableGone = (table: string): DriftEntry => ({
  column: '',
  change: 'table',
  stops: true,
  message: `The table '${table}' is gone at the remote, or hidden from the account.`,
});
