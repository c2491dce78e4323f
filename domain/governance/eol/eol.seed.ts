import { type Db, inTransaction } from '../../../platform/database.ts';
import { bundledFacts } from './eol.bundled.ts';
import { storeFacts } from './eol.store.ts';
import { EOL_TOPIC } from './eol.types.ts';

/** Stores the bundled facts of products of which nothing better is known. */
export async function seedFacts(db: Db): Promise<void> {
  await inTransaction(db, async (sql) => {
    const received = bundledFacts().map((facts) => ({ facts }));
    const { changed } = await storeFacts(sql, received, 'bundled', ['bundled']);
    if (changed.length > 0) await sql.raw('select raise_topics(array[?])', [EOL_TOPIC]);
  });
}
