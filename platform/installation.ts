import { sha256 } from './crypto.ts';
import type { Db } from './database.ts';

/** Names the database, also among those of one server, so that installations can share a Redis. */
export async function installation(db: Db): Promise<string> {
  const { rows } = await db.raw(
    `select system_identifier::text || '/' || d.oid as name
     from pg_control_system(), pg_database d where d.datname = current_database()`,
  );
  return sha256(rows[0].name).slice(0, 16);
}
