import { inTransaction } from '../../../platform/database.ts';
import type { AgreedLink, LocalCard, Observation, Pair, RemoteObservation } from '../engine/model.types.ts';
import { beginPlanning, emptyRow } from '../engine/plan.fields.ts';
import { type Ends, endsOf } from '../engine/plan.links.ts';
import type { LinkPart } from '../engine/plan.ts';
import { emptySyncState, indexPairs, linkKey, survivorOf } from '../engine/state.ts';
import {
  differingLinks,
  type LinkKind,
  type PlannedPair,
  plannedPairs,
  relationsFrom,
  remoteLinksFrom,
  targetsOf,
} from '../store/links.ts';
import { goneAmong } from '../store/observed.ts';
import { loadPairs, readLinks } from '../store/pairs.ts';
import type { RunWork } from './run.state.ts';

/** Records that the relations of a part start from. */
const CHUNK = 1_000;

/** What a plan is made from, but for what is told. */
type SeenOf = (remote: Partial<RemoteObservation>, local: Partial<Observation['local']>) => Observation;

/** Relations that are not alike on both sides, a thousand records from which they start at a time. */
export async function* linkParts(work: RunWork, seenOf: SeenOf): AsyncGenerator<LinkPart> {
  const kinds = kindsOf(work);
  const starts = new Set<string>();
  const pushed = new Set<string>();
  for (const kind of kinds) {
    const { records, cards } = await inTransaction(work.db, (sql) => differingLinks(sql, work.runId, kind));
    for (const id of records) starts.add(id);
    for (const id of cards) pushed.add(id);
  }
  const speakers = [...(await speakersOf(work, [...starts])), ...pushed].sort();
  for (let at = 0; at < speakers.length; at += CHUNK) {
    work.signal.throwIfAborted();
    yield await linkPart(work, seenOf, kinds, { speakers: speakers.slice(at, at + CHUNK), pushed });
  }
}

/** The records that speak for the cards of these, so that a card's relations are compared together. */
async function speakersOf({ db, mappingId }: RunWork, remoteIds: string[]): Promise<Set<string>> {
  const speakers = new Set<string>();
  for (let at = 0; at < remoteIds.length; at += CHUNK) {
    const some = remoteIds.slice(at, at + CHUNK);
    const { cardOf, recordOf } = await whoIsWho(db, [mappingId], some, []);
    for (const id of some) {
      const card = cardOf(id);
      speakers.add((card === undefined ? undefined : recordOf(card)) ?? id);
    }
  }
  return speakers;
}

async function linkPart(
  work: RunWork,
  seenOf: SeenOf,
  kinds: readonly LinkKind[],
  { speakers, pushed }: { speakers: string[]; pushed: ReadonlySet<string> },
): Promise<LinkPart> {
  const { db, mappingId } = work;
  const own = await whoIsWho(db, [mappingId], speakers, []);
  const sources = [...new Set([...speakers, ...own.pairs.keys()])];
  const tiesOf = tiesWithin(work);
  const remote: AgreedLink[] = [];
  for (const kind of kinds) {
    const links = await remoteLinksFrom(db, kind, sources);
    const wanted = [...new Set(links.map(({ target }) => target))];
    const targets = await targetsOf(db, kind, wanted);
    if (kind.target_mapping_id === mappingId) {
      // what the plan is about to make is a target too
      for (const { remoteId } of await tiesOf([...speakers, ...wanted])) targets.add(remoteId!);
    }
    for (const { source, target, id } of links) {
      if (targets.has(target))
        remote.push({ relationType: kind.relation_type_key, source, target, relationId: id });
    }
  }
  const here = new Set(sources);
  const agreed = (await readLinks(db, mappingId, sources)).filter(({ source }) => here.has(source));
  const ties = await tiesOf(speakers);
  const cardIds = [
    ...speakers.flatMap((id) => own.cardOf(id) ?? []),
    ...ties.flatMap(({ cardId }) => cardId ?? []),
    ...speakers.filter((id) => pushed.has(id)),
  ];
  const types = [...new Set(kinds.map(({ relation_type_key }) => relation_type_key))];
  const local = (await relationsFrom(db, types, cardIds)).map(({ type, source_id, target_id }) => ({
    relationType: type,
    source: source_id,
    target: target_id,
  }));
  const ends = await endsOfPart(work, seenOf, {
    kinds,
    sources,
    links: [...remote, ...agreed],
    local,
    tiesOf,
  });
  return {
    syncState: { ...emptySyncState(), links: new Map(agreed.map((link) => [linkKey(link), link])) },
    observation: { ...seenOf({}, {}), links: { complete: true, local, remote } },
    ends,
  };
}

/** Relations of a part, and what tells who stands at their ends. */
interface LinksOfPart {
  kinds: readonly LinkKind[];
  sources: readonly string[];
  links: readonly AgreedLink[];
  local: readonly { source: string; target: string }[];
  tiesOf: (remoteIds: readonly string[], cardIds?: readonly string[]) => Promise<PlannedPair[]>;
}

/** Rows of the plan that tie records and cards, in their order; each record is asked about once. */
function tiesWithin({ db, runId }: RunWork): LinksOfPart['tiesOf'] {
  const known = new Map<string, PlannedPair[]>();
  return async (remoteIds, cardIds = []) => {
    const fresh = [...new Set(remoteIds)].filter((id) => !known.has(id));
    for (const id of fresh) known.set(id, []);
    for (const tie of await plannedPairs(db, runId, { remoteIds: fresh }))
      known.get(tie.remoteId!)!.push(tie);
    const ties = new Map<number, PlannedPair>();
    for (const tie of remoteIds.flatMap((id) => known.get(id)!)) ties.set(tie.no, tie);
    for (const tie of await plannedPairs(db, runId, { cardIds })) ties.set(tie.no, tie);
    return [...ties.values()].sort((left, right) => left.no - right.no);
  };
}

/** Who stands at the ends of the relations: pairs of this mapping and the targets', and what the plan is to make. */
async function endsOfPart(
  work: RunWork,
  seenOf: SeenOf,
  { kinds, sources, links, local, tiesOf }: LinksOfPart,
): Promise<Ends> {
  const { db, mapping, mappingId, runId } = work;
  const remoteIds = [...new Set([...sources, ...links.map(({ target }) => target)])];
  const cardIds = [...new Set(local.flatMap(({ source, target }) => [source, target]))];
  const mappingIds = [...new Set([mappingId, ...kinds.map(({ target_mapping_id }) => target_mapping_id)])];
  const { pairs, redirects, owners } = await whoIsWho(db, mappingIds, remoteIds, cardIds);
  const ties = await tiesOf(remoteIds, cardIds);
  const there = await activeCards(work, [
    ...[...pairs.values()].map(({ cardId }) => survivorOf(cardId, redirects)),
    ...ties.flatMap(({ cardId }) => cardId ?? []),
  ]);
  const planning = beginPlanning(
    mapping,
    { ...emptySyncState(), pairs },
    seenOf({}, { cards: there, redirects }),
    () => null,
  );
  const rows = ties.map((tie) => ({ ...emptyRow, ...tie, reason: '' }));
  const ends = endsOf({ ...planning, rows });
  const blocked = new Set(Object.keys(mapping.blocked_targets));
  const ownerOf = (id: string) => owners.get(id) ?? mappingId;
  const gone = await goneAmong(db, runId, [...remoteIds, ...pairs.keys()]);
  return {
    ...ends,
    isEnding: (id) => ends.isEnding(id) || (gone.has(id) && ownerOf(id) !== mappingId),
    isBlocked: (id) => blocked.has(ownerOf(id)),
  };
}

async function whoIsWho(
  db: RunWork['db'],
  mappingIds: readonly string[],
  remoteIds: string[],
  cardIds: string[],
) {
  const pairs = new Map<string, Pair>();
  /** The mapping whose pair stands for a record. */
  const owners = new Map<string, string>();
  const redirects = new Map<string, string>();
  for (const mappingId of mappingIds) {
    const known = await loadPairs(db, mappingId, { remoteIds, cardIds });
    for (const [id, pair] of known.pairs) {
      pairs.set(id, pair);
      owners.set(id, mappingId);
    }
    for (const [from, to] of known.redirects) redirects.set(from, to);
  }
  return { pairs, owners, redirects, ...indexPairs({ ...emptySyncState(), pairs }, redirects) };
}

/** Cards at ends are only asked whether they are there; those of other types than the mapping's among them. */
async function activeCards({ db, cards }: RunWork, ids: string[]): Promise<Map<string, LocalCard>> {
  const found = await cards.byIds(db, [...new Set(ids)]);
  return new Map([...found].filter(([, { archived }]) => !archived));
}

/** The mapped relation types; several kinds outside may stand for one. */
export function kindsOf({ mapping, mappingId }: Pick<RunWork, 'mapping' | 'mappingId'>): LinkKind[] {
  const kinds = new Map<string, LinkKind>();
  for (const relation of mapping.relations) {
    const { relation_type_key, remote_type, reversed, target_mapping_id: target } = relation;
    const target_mapping_id = target ?? mappingId;
    const key = `${relation_type_key} ${target_mapping_id}`;
    const kind = kinds.get(key) ?? {
      relation_type_key,
      mapping_id: mappingId,
      target_mapping_id,
      forward: [],
      backward: [],
    };
    (reversed ? kind.backward : kind.forward).push(remote_type);
    kinds.set(key, kind);
  }
  return [...kinds.values()];
}
