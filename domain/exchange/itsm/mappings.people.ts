import type { Sql } from '../../../platform/database.ts';

/** Nobody reads what everybody is told. */
const MOST = 20;

/** Whom to tell of a mapping: whoever has set it up, a program's keeper, or else those who manage synchronisation. */
export async function ownersOf(sql: Sql, createdBy: string | null): Promise<string[]> {
  const { rows: owners } = await sql.raw(
    `select p.id from users u join users p on p.id = case u.kind when 'service' then u.owner_id else u.id end
     where u.id = ? and p.is_active`,
    [createdBy as never],
  );
  if (owners[0]) return [owners[0].id];
  return await managersOfSync(sql);
}

/** People who may manage synchronisation. */
export async function managersOfSync(sql: Sql): Promise<string[]> {
  const { rows } = await sql.raw(
    `select u.id from users u join roles r on r.key = u.role
     where u.is_active and u.kind <> 'service' and not r.is_archived
       and (r.permissions ->> '*' = 'true' or r.permissions ->> 'itsm_sync.manage' = 'true')
     order by u.id limit ${MOST}`,
  );
  return rows.map(({ id }: { id: string }) => id);
}
