import type { EventType } from '../../../domain/kernel/events/events.catalogue.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { fieldsRead, isRead, type Reads } from './as-of.reads.ts';
import { type AsOfTable, asOfTables } from './as-of.tables.ts';

/** The types of cards and relations that are read; absent: all. */
export interface AsOfScope {
  cardTypes?: string[];
  relationTypes?: string[];
  /** Which tables are read, and which columns of cards and relations; absent: any. */
  reads?: Reads;
  /** Whether only few cards and relations are read, by their ids and ends, and no other table. */
  rowwise?: boolean;
  /** Whether the caller sees costs; otherwise the values of fields that once were costs are hidden. */
  costs?: boolean;
}

export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
export const list = (texts: readonly string[]) => texts.map(literal).join(', ');

/** Number of parallel parts in which rows are collected; a power of two. */
export const PARTS = 2;

/** Whether a row existed before its events: the first did not create it. */
export const EXISTED = 'min(e.position * 2 + e.created::int) % 2 = 0';
/** Whether a row is deleted: the last event that created or deleted it did so. */
export const DELETED =
  'coalesce(max(case when e.created or e.deleted then e.position * 2 + e.deleted::int end) % 2 = 1, false)';

const tagged: EventType[] = ['tag.added'];
const untagged: EventType[] = ['tag.removed'];
const moved: EventType[] = ['attachment.moved'];

const typesOf = (tables: AsOfTable[], kind: 'created' | 'deleted'): EventType[] =>
  tables.flatMap((table) => table[kind]);

/** The events that create rows, and those that delete them. */
export const createdTypes = list([...typesOf(asOfTables, 'created'), ...tagged]);
export const deletedTypes = list([...typesOf(asOfTables, 'deleted'), ...untagged]);

/**
 * The events after a position that may have changed what is read, over the alias `e`, of one part of the rows.
 * @param hash a number that all events of a row have in common, as SQL.
 */
export function eventsOfPart(
  part: number,
  hash: string,
  position: number,
  { cardTypes, relationTypes, reads }: AsOfScope,
): Fragment {
  const read = asOfTables.filter((table) => isRead(table, reads));
  const updates = read.map(({ updated, ...table }) => ({
    updated,
    fields: fieldsRead({ updated, ...table }, reads),
  }));
  const types = [
    ...typesOf(read, 'created'),
    ...typesOf(read, 'deleted'),
    ...updates.flatMap(({ updated, fields }) => (fields?.length === 0 ? [] : updated)),
    ...(isRead('card_tags', reads) ? [...tagged, ...untagged, ...moved] : []),
  ];
  // the part is tested first, since that is fast
  const changed = updates
    .filter(({ fields }) => fields && fields.length > 0)
    .map(
      ({ updated, fields }) =>
        `when e.event_type in (${list(updated)}) then jsonb_exists_any(e.data -> 'changes', array[${list(fields!)}])`,
    );
  const within = (kind: string, column: string, known: string[] | undefined) =>
    known ? `and (not starts_with(e.event_type, '${kind}.') or e.${column} = any(?::text[]))` : '';
  return {
    sql: `from events e where e.position > ? and e.event_type in (${list(types)})
      and case when (${hash}) & ${PARTS - 1} <> ${part} then false ${changed.join('\n')} else true end
      ${within('card', 'card_type', cardTypes)} ${within('relation', 'relation_type', relationTypes)}`,
    bindings: [position, ...[cardTypes, relationTypes].filter((known) => known !== undefined)],
  };
}
