import type { Sql } from '../../platform/database.ts';

interface OneTimeToken {
  /** SHA-256 of the token. */
  hash: string;
  purpose: string;
  /** Lifetime. */
  seconds: number;
  user_id?: string | null;
  data?: unknown;
}

/** Stores a token that can be used once. */
export const storeOneTimeToken = (sql: Sql, token: OneTimeToken): Promise<void> =>
  storeOneTimeTokens(sql, [token]);

/** Stores tokens of which each can be used once; all have data, or none has. */
export async function storeOneTimeTokens(sql: Sql, tokens: readonly OneTimeToken[]): Promise<void> {
  await sql('one_time_tokens').insert(
    tokens.map(({ seconds, data, ...token }) => ({
      ...token,
      ...(data === undefined ? {} : { data: JSON.stringify(data) }),
      expires_at: sql.raw('now() + make_interval(secs => ?)', [seconds]),
    })),
  );
}

const validToken = (sql: Sql, purpose: string, hash: string) =>
  sql('one_time_tokens').where({ hash, purpose }).whereRaw('expires_at > now()');

/** The data of a valid token; undefined if it is unknown, used or expired. */
export async function readOneTimeToken<T>(sql: Sql, purpose: string, hash: string): Promise<T | undefined> {
  return (await validToken(sql, purpose, hash).first('data'))?.data;
}

/** {@link readOneTimeToken}, which deletes the token. */
export async function takeOneTimeToken<T>(sql: Sql, purpose: string, hash: string): Promise<T | undefined> {
  const [row] = await validToken(sql, purpose, hash).delete().returning('data');
  return row?.data;
}
