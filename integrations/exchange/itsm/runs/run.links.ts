import { chunksOf } from '../../../../platform/chunks.ts';
import { inTransaction } from '../../../../platform/database.ts';
import type { AgreedLink, LocalCard, Observation, Pair, RemoteObservation } from '../engine/model.types.ts';
import { type Ends, endsOf } from '../engine/plan.links.ts';
import type { LinkPart } from '../engine/plan.ts';
import { beginPlanning, emptyRow, emptySyncState, indexPairs, linkKey, survivorOf } from '../engine/state.ts';
import {
  deleteRemoteLinks,
  deleteUnreadLinks,
  findDifferingLinks,
  findStoredLinks,
  findTargets,
  findTargetsToCheck,
  type LinkType,
  readPairRows,
  readRelationsOfSources,
  readRemoteLinks,
  storeRemoteLinks,
} from '../store/links.ts';
import { createObservation, findGone, storeObserved } from '../store/observed.ts';
import { loadPairs, readLinks } from '../store/sync-state.ts';
import { newestOf, type RunWork, readAhead } from './run.state.ts';

/** The number of source records in a part. */
const CHUNK = 1_000;

/** Creates the observation of a part. */
type ObservationOf = (
  remote: Partial<RemoteObservation>,
  local: Partial<Observation['local']>,
) => Observation;

/** Relations that differ between both sides and the sync state, in parts of 1000 sources. */
export async function* linkParts(work: RunWork, observationOf: ObservationOf): AsyncGenerator<LinkPart> {
  const linkTypes = linkTypesOf(work);
  const sources = new Set<string>();
  const newRecordCards = new Set<string>();
  for (const linkType of linkTypes) {
    const { records, cards } = await inTransaction(work.db, (sql) =>
      findDifferingLinks(sql, work.runId, linkType),
    );
    for (const id of records) sources.add(id);
    for (const id of cards) newRecordCards.add(id);
  }
  const primaryRecords = [...(await primaryRecordsOf(work, [...sources])), ...newRecordCards].sort();
  for (const some of chunksOf(primaryRecords, CHUNK)) {
    work.signal.throwIfAborted();
    yield await linkPart(work, observationOf, linkTypes, { primaryRecords: some, pushed: newRecordCards });
  }
}

/** The primary records of these records' cards, so that the relations of a card are compared together. */
async function primaryRecordsOf({ db, mappingId }: RunWork, remoteIds: string[]): Promise<Set<string>> {
  const primaryRecords = new Set<string>();
  for (const some of chunksOf(remoteIds, CHUNK)) {
    const { cardOf, recordOf } = await loadPairIndex(db, [mappingId], some, []);
    for (const id of some) {
      const card = cardOf(id);
      primaryRecords.add((card === undefined ? undefined : recordOf(card)) ?? id);
    }
  }
  return primaryRecords;
}

async function linkPart(
  work: RunWork,
  observationOf: ObservationOf,
  linkTypes: readonly LinkType[],
  { primaryRecords, pushed }: { primaryRecords: string[]; pushed: ReadonlySet<string> },
): Promise<LinkPart> {
  const { db, mappingId, runId } = work;
  const own = await loadPairIndex(db, [mappingId], primaryRecords, []);
  const sources = [...new Set([...primaryRecords, ...own.pairs.keys()])];
  const remote: AgreedLink[] = [];
  for (const linkType of linkTypes) {
    const links = await readRemoteLinks(db, linkType, sources);
    const wanted = [...new Set(links.map(({ target }) => target))];
    const targets = await findTargets(db, linkType, wanted);
    if (linkType.target_mapping_id === mappingId) {
      // records that the plan pairs are targets too
      const remoteIds = [...new Set([...primaryRecords, ...wanted])];
      for (const { remoteId } of await readPairRows(db, runId, { remoteIds })) targets.add(remoteId!);
    }
    for (const { source, target, id } of links) {
      if (targets.has(target))
        remote.push({ relationType: linkType.relation_type_key, source, target, relationId: id });
    }
  }
  const here = new Set(sources);
  const agreed = (await readLinks(db, mappingId, sources)).filter(({ source }) => here.has(source));
  const pairRows = await readPairRows(db, runId, { remoteIds: primaryRecords });
  const cardIds = [
    ...primaryRecords.flatMap((id) => own.cardOf(id) ?? []),
    ...pairRows.flatMap(({ cardId }) => cardId ?? []),
    ...primaryRecords.filter((id) => pushed.has(id)),
  ];
  const types = [...new Set(linkTypes.map(({ relation_type_key }) => relation_type_key))];
  const local = (await readRelationsOfSources(db, types, cardIds)).map(({ type, source_id, target_id }) => ({
    relationType: type,
    source: source_id,
    target: target_id,
  }));
  const links = [...remote, ...agreed];
  const ends = await resolveEnds(work, observationOf, { linkTypes, sources, links, local });
  const syncState = { ...emptySyncState(), links: new Map(agreed.map((link) => [linkKey(link), link])) };
  return { syncState, observation: { ...observationOf({}, {}), links: { local, remote } }, ends };
}

/** The relations of a part. */
interface PartLinks {
  linkTypes: readonly LinkType[];
  sources: readonly string[];
  links: readonly AgreedLink[];
  local: readonly { source: string; target: string }[];
}

/** Resolves the ends of relations by the pairs of this mapping and of the targets' mappings, and by the rows of the plan. */
async function resolveEnds(
  work: RunWork,
  observationOf: ObservationOf,
  { linkTypes, sources, links, local }: PartLinks,
): Promise<Ends> {
  const { db, mapping, mappingId, runId } = work;
  const remoteIds = [...new Set([...sources, ...links.map(({ target }) => target)])];
  const cardIds = [...new Set(local.flatMap(({ source, target }) => [source, target]))];
  const mappingIds = [
    ...new Set([mappingId, ...linkTypes.map(({ target_mapping_id }) => target_mapping_id)]),
  ];
  const { pairs, redirects, owners } = await loadPairIndex(db, mappingIds, remoteIds, cardIds);
  const pairRows = await readPairRows(db, runId, { remoteIds, cardIds });
  const there = await activeCards(work, [
    ...[...pairs.values()].map(({ cardId }) => survivorOf(cardId, redirects)),
    ...pairRows.flatMap(({ cardId }) => cardId ?? []),
  ]);
  const observation = observationOf({}, { cards: there, redirects });
  const planning = beginPlanning(mapping, { ...emptySyncState(), pairs }, observation, () => null);
  const rows = pairRows.map((row) => ({ ...emptyRow, ...row, reason: '' }));
  const ends = endsOf({ ...planning, rows });
  const blocked = new Set(Object.keys(mapping.blocked_targets));
  const ownerOf = (id: string) => owners.get(id) ?? mappingId;
  const gone = await findGone(db, runId, [...remoteIds, ...pairs.keys()]);
  return {
    ...ends,
    isEnding: (id) => ends.isEnding(id) || (gone.has(id) && ownerOf(id) !== mappingId),
    isBlocked: (id) => blocked.has(ownerOf(id)),
  };
}

async function loadPairIndex(
  db: RunWork['db'],
  mappingIds: readonly string[],
  remoteIds: string[],
  cardIds: string[],
) {
  const pairs = new Map<string, Pair>();
  /** By record, the mapping of its pair. */
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
  return { pairs, owners, redirects, ...indexPairs(pairs, redirects) };
}

/** Active cards, including those of other types than the mapping's. */
async function activeCards({ db, cards }: RunWork, ids: string[]): Promise<Map<string, LocalCard>> {
  const found = await cards.byIds(db, [...new Set(ids)]);
  return new Map([...found].filter(([, { archived }]) => !archived));
}

/** The mapped relation types; several remote types may correspond to one. */
function linkTypesOf({ mapping, mappingId }: Pick<RunWork, 'mapping' | 'mappingId'>): LinkType[] {
  const linkTypes = new Map<string, LinkType>();
  for (const relation of mapping.relations) {
    const { relation_type_key, remote_type, reversed, target_mapping_id: target } = relation;
    const target_mapping_id = target ?? mappingId;
    const key = `${relation_type_key} ${target_mapping_id}`;
    const linkType = linkTypes.get(key) ?? {
      relation_type_key,
      mapping_id: mappingId,
      target_mapping_id,
      forward: [],
      backward: [],
    };
    (reversed ? linkType.backward : linkType.forward).push(remote_type);
    linkTypes.set(key, linkType);
  }
  return [...linkTypes.values()];
}

/**
 * Reads the relations of the mapped types. They are stored beyond the run, so that after a delta all relations are known, including
 * those whose ends get cards later.
 */
export async function readRelations(work: RunWork): Promise<void> {
  const types = [...new Set(work.mapping.relations.map(({ remote_type: remoteType }) => remoteType))];
  const { connector, mappingId, runId, complete, syncState } = work;
  const since = complete ? null : syncState.links_watermark;
  const pages = readAhead(work, (cursor) =>
    connector.readRelations({ types, since, limit: work.page, cursor }),
  );
  for await (const page of pages) {
    const { state } = work;
    const rows = page.relations.map(({ id, type, from, to }) => ({
      remote_relation_id: id,
      remote_type: type,
      from_id: from,
      to_id: to,
    }));
    await work.checkpoint(
      {
        cursor: page.next,
        relations: state.relations + rows.length,
        linksWithheld: state.linksWithheld || page.hasHiddenRows,
        newestLink: newestOf(page.relations, state.newestLink),
      },
      (sql) => storeRemoteLinks(sql, mappingId, runId, rows),
    );
  }
  if (since === null && !work.state.linksWithheld) {
    await work.checkpoint({}, (sql) => deleteUnreadLinks(sql, mappingId, runId));
  }
}

export async function readDeletedRelations(work: RunWork): Promise<void> {
  const { connector, db, mappingId, syncState } = work;
  if (syncState.links_watermark === null) return;
  const deletions = await connector.readRelationDeletions(syncState.links_watermark);
  const deleted = deletions.map(({ id }) => id);
  const ids = await findStoredLinks(db, mappingId, deleted);
  if (ids.length === 0) return;
  const existing = connector.findExistingRelations ? await connector.findExistingRelations(ids) : new Set();
  const gone = ids.filter((id) => !existing.has(id));
  await work.checkpoint({}, (sql) => deleteRemoteLinks(sql, mappingId, gone));
}

/** The number of records in a lookup of relation ends. */
const END_LOOKUP_BATCH = 100;

/**
 * Checks by key whether the target records of relations that only the inventory has still exist, if they belong to other mappings.
 * A remote removes relations together with a record and refuses new ones to it, and the run that reads that record may be later
 * than this one.
 */
export async function checkRelationEnds(work: RunWork): Promise<void> {
  const { db, connector, mapping, runId, signal } = work;
  const { sync_direction: direction, sync_mode: mode } = mapping;
  const wanted = { removals: direction !== 'push' && mode !== 'additive', additions: direction !== 'pull' };
  for (const linkType of linkTypesOf(work)) {
    // this run has read the records of its own mapping; relations to a mapping that cannot run are deferred in any case
    const table = mapping.target_tables[linkType.target_mapping_id];
    if (table === undefined) continue;
    const ids = await inTransaction(db, (sql) => findTargetsToCheck(sql, linkType, wanted));
    for (const some of chunksOf(ids, END_LOOKUP_BATCH)) {
      signal.throwIfAborted();
      const lookups = await connector.readByIds(table, some, []);
      const gone = [...lookups].flatMap(([id, { kind: look }]) =>
        look === 'gone' ? [createObservation(id, { look })] : [],
      );
      await work.checkpoint({}, (sql) => storeObserved(sql, runId, gone));
    }
  }
}
