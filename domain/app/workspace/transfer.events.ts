import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { ContentTable } from './workspace.types.ts';

/** Members of rows that events contain besides the changes. */
const NAMES = ['key', 'label', 'name', 'title', 'reference', 'version', 'revision'] as const;

/**
 * The event of an imported row, in the form of its kind: with the whole row, so that it can be undone, and without members that
 * would notify users of decisions made in another workspace.
 * @param types the types of cards, by their ids.
 */
export function importedEvent(
  table: ContentTable,
  before: StoredRow | null,
  after: StoredRow,
  types: ReadonlyMap<string, string>,
): EventDraft | undefined {
  const event_type = before === null ? table.events?.created : (table.events?.updated ?? undefined);
  if (!event_type) return undefined;
  const id = after.id ?? table.key.map((column) => after[column]).join('/');
  const named = Object.fromEntries(
    NAMES.flatMap((name) => (after[name] === undefined ? [] : [[name, after[name]]])),
  );
  if (table.table === 'reference_catalogues') {
    const { kind, catalogue_version, source, nodes } = after;
    return {
      event_type,
      data: { id, kind, source, catalogue_version, node_count: (nodes as unknown[]).length },
    };
  }
  const changes = rowChanges(before, after);
  if (Object.keys(changes).length === 0) return undefined;
  const cardId = table.card ? ((after[table.card] ?? null) as string | null) : null;
  const owner = (after.private_to ?? null) as string | null;
  const costs = costsIn(table, after);
  return {
    event_type,
    ...(cardId && types.has(cardId) ? { card_id: cardId, card_type: types.get(cardId)! } : {}),
    ...(table.recipient ? { recipient_id: after[table.recipient] as string } : {}),
    ...(owner ? { scope: 'user' as const, recipient_id: owner } : {}),
    ...(costs ? { cost_keys: costs } : {}),
    data: { id, ...named, changes },
  };
}

/** Columns that hold costs: of an answer to a survey, where it names some. */
function costsIn({ costs }: ContentTable, row: StoredRow): string[] | undefined {
  if (!costs) return undefined;
  return Array.isArray(row.cost_keys) && row.cost_keys.length === 0 ? undefined : [...costs];
}
