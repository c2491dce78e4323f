import { embed, query, type Sql } from '../../../platform/database.ts';
import type { UserIdentity } from './erasure.rules.ts';

/** Events with former names of users; rewritten last, since a repeated run reads them again. */
export const identityEvents = ['auth.registered', 'user.created', 'user.updated', 'user.deleted'];

/** The user whom an identity event concerns; older events use another member. */
const subject = `coalesce(e.data ->> 'id', e.data ->> 'user_id')`;
const kinds = identityEvents.map((kind) => `'${kind}'`).join(', ');

/**
 * All current and former names and addresses of a user, also of a deleted one.
 * @returns undefined if the user is unknown.
 */
export async function readIdentity(sql: Sql, id: string): Promise<UserIdentity | undefined> {
  const rows = await query(sql).rows`select email, display_name from users where id = ${id}::uuid
     union select n.email, n.display_name
     from events e, lateral (values
       (e.data ->> 'email', e.data ->> 'display_name'),
       (e.data #>> '{changes,email,old}', e.data #>> '{changes,display_name,old}'),
       (e.data #>> '{changes,email,new}', e.data #>> '{changes,display_name,new}')) n (email, display_name)
     where e.event_type in (${embed(kinds)}) and ${embed(subject)} = ${id}`;
  const values = (column: 'email' | 'display_name'): string[] =>
    [...new Set(rows.map((row: Record<string, string | null>) => row[column]).filter(Boolean))] as string[];
  const known = { id, emails: values('email'), names: values('display_name') };
  return known.emails.length + known.names.length === 0 ? undefined : known;
}
