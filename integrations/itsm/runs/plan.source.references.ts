import { readPairs, readRedirects } from '../../../domain/exchange/itsm/book.read.ts';
import { calledGone } from '../../../domain/exchange/itsm/runs.heard.ts';
import type { LocalCard } from '../engine/model.types.ts';
import type { Part } from '../engine/plan.ts';
import { emptyBook, identities } from '../engine/state.ts';
import { pairOf } from '../port/book.rows.ts';
import type { RemoteRecord } from '../remote.types.ts';
import type { RunWork } from './run.types.ts';

/** Who is who among the cards and records that reference fields lead to, which may be another mapping's. */
export async function referredTo(
  { db, loaded, runId }: RunWork,
  records: readonly RemoteRecord[],
  cards: Iterable<LocalCard>,
): Promise<Part['beyond']> {
  const known: Part['beyond'][] = [];
  const all = [...cards];
  const fields = loaded.mapping.fields.filter(({ transform }) => transform.kind === 'reference');
  const byMapping = Map.groupBy(fields, ({ path }) => loaded.references[path] ?? loaded.mapping.id);
  for (const [mappingId, its] of byMapping) {
    const texts = (values: unknown[]) => [
      ...new Set(values.filter((value): value is string => typeof value === 'string' && value !== '')),
    ];
    const remoteIds = texts(
      records.flatMap((record) => its.map(({ remote }) => record.fields[remote]?.value)),
    );
    const cardIds = texts(all.flatMap((card) => its.map(({ path }) => card.fields[path])));
    if (remoteIds.length + cardIds.length === 0) continue;
    const stored = await readPairs(db, mappingId, { remoteIds, cardIds });
    const redirects = await readRedirects(db, mappingId, { remoteIds, cardIds });
    const pairs = new Map(stored.map((row) => [row.remote_id, pairOf(row)]));
    const gone = await calledGone(db, runId, [...pairs.keys()]);
    const who = identities({ ...emptyBook(), pairs }, redirects);
    const recordOf = (id: string) => {
      const record = who.presentRecordOf(id);
      return record !== undefined && gone.has(record) ? undefined : record;
    };
    known.push({ cardOf: who.cardOf, recordOf });
  }
  return {
    cardOf: (id) => first(known, ({ cardOf }) => cardOf(id)),
    recordOf: (id) => first(known, ({ recordOf }) => recordOf(id)),
  };
}

function first(known: readonly Part['beyond'][], of: (one: Part['beyond']) => string | undefined) {
  for (const one of known) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
