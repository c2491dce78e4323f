import type { SecretBox } from '../../../platform/crypto.ts';
import { type Db, inTransaction } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { loadConnection, secretContext } from './connections.load.ts';

/** The refresh token of a connection, which its remote may replace each time that it is used. */
export interface RefreshTokens {
  /** As it is stored now: another process may have used it since. */
  read(): Promise<string | undefined>;
  /** Keeps the one that has come in place of the used one, unless somebody has set another since. */
  keep(used: string, renewed: string): Promise<void>;
}

/** No event tells of it: nothing that anybody has set is another, and what was tested stands. */
export function refreshTokensOf(
  { db, secrets }: { db: Db; secrets: SecretBox },
  connectionId: string,
): RefreshTokens {
  return {
    async read() {
      try {
        return (await loadConnection(db, secrets, connectionId)).secrets.refresh_token;
      } catch (error) {
        // deleted meanwhile
        if (error instanceof EstateError && error.code === 'not_found') return undefined;
        throw error;
      }
    },
    async keep(used, renewed) {
      await inTransaction(db, async (sql) => {
        const { rows } = await sql.raw('select from itsm_connections where id = ? for update', [
          connectionId,
        ]);
        if (!rows[0]) return;
        const { secrets: stored } = await loadConnection(sql, secrets, connectionId);
        if (stored.refresh_token !== used) return;
        const sealed = secrets.seal(
          JSON.stringify({ ...stored, refresh_token: renewed }),
          secretContext(connectionId),
        );
        await sql('itsm_connections').where({ id: connectionId }).update({ secrets: sealed });
      });
    },
  };
}
