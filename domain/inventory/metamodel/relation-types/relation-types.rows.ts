import type { Work } from '../../../kernel/context.ts';
import { rowChanges, type StoredRow } from '../../../kernel/events/row-changes.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';

/** Tells of one written relation type: without `before` it was created, without `after` deleted. */
export function tellRelationType(work: Work, before: StoredRow | null, after: StoredRow | null): void {
  const { key, label, source_type_key, target_type_key } = (after ?? before)!;
  work.emit({
    event_type: `relation_type.${before === null ? 'created' : after === null ? 'deleted' : 'updated'}`,
    data: { id: key, key, label, source_type_key, target_type_key, changes: rowChanges(before, after) },
  });
  work.raise(METAMODEL_TOPIC);
}

/** How many relations of the type there are. */
export async function countInstances({ sql }: Pick<Work, 'sql'>, key: string): Promise<number> {
  const { rows } = await sql.raw('select count(*) as total from relations where type = ?', [key]);
  return rows[0].total;
}
