import { circlesAmong, type NewParent } from '../../../domain/exchange/itsm/runs.parents.ts';
import type { Surroundings } from '../engine/fields.ts';
import type { LocalCard, Pair } from '../engine/model.types.ts';
import { canonical, same } from '../engine/values.ts';
import type { RemoteRecord } from '../remote.types.ts';
import type { RunWork } from './run.types.ts';

/** Tells which of the parents that a part of a plan may write would make a circle of both sides' parents. */
export async function circlesOf(
  { db, runId, mappingId, loaded }: RunWork,
  pairs: Iterable<Pair>,
  records: readonly RemoteRecord[],
  cards: ReadonlyMap<string, LocalCard>,
  cardOf: Surroundings['cardOf'],
): Promise<NonNullable<Surroundings['makesCircle']> | undefined> {
  const field = loaded.mapping.fields.find(({ path }) => path === 'parent_id');
  if (!field || (loaded.references.parent_id ?? mappingId) !== mappingId) return undefined;
  const column = field.remote;
  const read = new Map(records.map((record) => [record.id, record]));
  const wanted: NewParent[] = [];
  for (const { remoteId, cardId, base } of pairs) {
    const agreed = base.parent_id;
    const local = canonical(cards.get(cardId)?.fields.parent_id);
    const record = read.get(remoteId);
    const remote = record ? canonical(record.fields[column]?.value) : (agreed?.remote ?? null);
    if (agreed && same(local, agreed.local) && same(remote, agreed.remote)) continue;
    for (const parent of [local, typeof remote === 'string' ? cardOf(remote) : null])
      if (typeof parent === 'string') wanted.push({ card_id: cardId, parent_id: parent });
  }
  const found = await circlesAmong(db, { runId, mappingId, column }, wanted);
  const circles = new Set(found.map(({ card_id, parent_id }) => `${card_id} ${parent_id}`));
  return (cardId, parentId) => circles.has(`${cardId} ${parentId}`);
}
