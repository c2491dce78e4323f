import type { Work } from '../../../kernel/context.ts';
import { differing, rowChanges, type StoredRow } from '../../../kernel/events/row-changes.ts';
import { insertRow, updateRow } from '../../../kernel/events/stored-rows.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';

export const ROLES_TABLE = 'stakeholder_role_definitions';

/** Tells of one written stakeholder role: without `before` it was created, without `after` deleted. */
async function tell(work: Work, before: StoredRow | null, after: StoredRow | null): Promise<void> {
  const { id, card_type_key, key, label } = (after ?? before)!;
  work.emit({
    event_type: `stakeholder_role.${before === null ? 'created' : after === null ? 'deleted' : 'updated'}`,
    data: { id, card_type_key, key, label, changes: rowChanges(before, after) },
  });
  work.raise(METAMODEL_TOPIC);
  await work.extensions.stakeholdersChanged(work, card_type_key as string);
}

/** The roles of a type, archived ones too, locked, in order. */
export async function lockRoles({ sql }: Work, typeKey: string): Promise<StoredRow[]> {
  const { rows } = await sql.raw(
    `select to_jsonb(d) as row from ${ROLES_TABLE} d where d.card_type_key = ?
     order by d.sort_order, d.key for update`,
    [typeKey],
  );
  return rows.map(({ row }: { row: StoredRow }) => row);
}

export async function insertRole(work: Work, values: StoredRow): Promise<StoredRow> {
  const row = await insertRow(work.sql, ROLES_TABLE, values);
  await tell(work, null, row);
  return row;
}

/** Sets columns of a role; nothing is written when they are so already. @returns whether something was. */
export async function updateRole(work: Work, before: StoredRow, values: StoredRow): Promise<boolean> {
  const changed = differing(before, values);
  if (Object.keys(changed).length === 0) return false;
  const after = await updateRow(work.sql, ROLES_TABLE, { column: 'id', value: before.id as string }, changed);
  await tell(work, before, after);
  return true;
}

export async function deleteRole(work: Work, before: StoredRow): Promise<void> {
  await work.sql(ROLES_TABLE).where({ id: before.id }).delete();
  await tell(work, before, null);
}

/** How many times a role of the type is held. */
export async function countHolders({ sql }: Work, typeKey: string, roleKey: string): Promise<number> {
  const { rows } = await sql.raw(
    `select count(*) as total from stakeholders s join cards c on c.id = s.card_id
     where s.role = ? and c.type = ?`,
    [roleKey, typeKey],
  );
  return rows[0].total;
}
