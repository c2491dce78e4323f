import { queryRows } from '../../../../platform/database.ts';
import type { Work } from '../../../kernel/context.ts';
import { differing, rowEvent } from '../../../kernel/events/row-changes.ts';
import {
  StakeholderRoleDefinition,
  type StakeholderRoleRow,
} from '../../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';
import { deleteRows, findRows, insertRow, updateRow } from '../../../kernel/resources/rows.ts';

async function emit(work: Work, before: StakeholderRoleRow | null, after: StakeholderRoleRow | null) {
  const { id, card_type_key, key, label } = (after ?? before)!;
  work.emit(rowEvent('stakeholder_role', before, after, { id, card_type_key, key, label }));
  work.raise(METAMODEL_TOPIC);
  await work.extensions.stakeholdersChanged(work, card_type_key);
}

/** The roles of a type, archived ones too, locked, in order. */
export async function lockRoles({ sql }: Work, typeKey: string): Promise<StakeholderRoleRow[]> {
  return await findRows(sql, StakeholderRoleDefinition, (query) =>
    query.where({ card_type_key: typeKey }).orderBy(['sort_order', 'key']).forUpdate(),
  );
}

export async function insertRole(
  work: Work,
  values: Partial<StakeholderRoleRow>,
): Promise<StakeholderRoleRow> {
  const row = await insertRow(work.sql, StakeholderRoleDefinition, values);
  await emit(work, null, row);
  return row;
}

/** Updates columns of a role, unless they have these values already. @returns whether it wrote. */
export async function updateRole(
  work: Work,
  before: StakeholderRoleRow,
  values: Partial<StakeholderRoleRow>,
): Promise<boolean> {
  const changed = differing(before, values);
  if (Object.keys(changed).length === 0) return false;
  await emit(work, before, await updateRow(work.sql, StakeholderRoleDefinition, { id: before.id }, changed));
  return true;
}

export async function deleteRole(work: Work, before: StakeholderRoleRow): Promise<void> {
  await deleteRows(work.sql, StakeholderRoleDefinition, (query) => query.where({ id: before.id }));
  await emit(work, before, null);
}

/** How many times a role of the type is held. */
export async function countHolders({ sql }: Work, typeKey: string, roleKey: string): Promise<number> {
  const [count] = await queryRows<{ total: number }>(
    sql,
    `select count(*) as total from stakeholders s join cards c on c.id = s.card_id
     where s.role = ? and c.type = ?`,
    [roleKey, typeKey],
  );
  return count!.total;
}
