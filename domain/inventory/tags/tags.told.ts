import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';

/** The tables of the tag catalogue. */
export type TagTable = 'tag_groups' | 'tags';

const kinds: Record<TagTable, Record<'created' | 'updated' | 'deleted', EventType>> = {
  tag_groups: { created: 'tag_group.created', updated: 'tag_group.updated', deleted: 'tag_group.deleted' },
  tags: { created: 'tag.created', updated: 'tag.updated', deleted: 'tag.deleted' },
};

/** The event of a tag group or tag that was written. */
export function catalogueEvent(
  table: TagTable,
  before: StoredRow | null,
  after: StoredRow | null,
): EventDraft {
  const { id, name } = (after ?? before)!;
  return {
    event_type: kinds[table][before === null ? 'created' : after === null ? 'deleted' : 'updated'],
    data: { id, name, changes: rowChanges(before, after) },
  };
}
