import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Sql } from '../../platform/database.ts';

/**
 * A query that each connection prepares once, which spares its planning from then on. Only for texts of a small,
 * closed set: a connection keeps them all.
 */
export function prepared(sql: Sql, text: string, bindings: unknown[]): Knex.Raw {
  const name = createHash('sha1').update(text).digest('base64url');
  return sql.raw(text, bindings as never).options({ name });
}
