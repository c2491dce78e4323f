import { readPairs, readRedirects } from '../../../domain/exchange/itsm/book.read.ts';
import { madeUnder, readPutBack } from '../../../domain/exchange/itsm/plan.journal.ts';
import {
  allPairs,
  heardPairs,
  type IdPage,
  livePairs,
  readHeard,
  shownRecords,
  unpairedCards,
  unpairedRecords,
} from '../../../domain/exchange/itsm/runs.heard.ts';
import { plannedMakers } from '../../../domain/exchange/itsm/runs.links.ts';
import type { HeardRecord } from '../../../domain/exchange/itsm/runs.types.ts';
import type {
  Decision,
  LocalCard,
  Observation,
  Pair,
  Refusal,
  RemoteReading,
  Resolution,
} from '../engine/model.types.ts';
import { makersIn } from '../engine/plan.links.ts';
import type { Part, PartChoice, PartSource } from '../engine/plan.ts';
import { emptyBook } from '../engine/state.ts';
import { pairOf } from '../port/book.rows.ts';
import type { RemoteRecord } from '../remote.types.ts';
import { circlesOf } from './plan.source.circles.ts';
import { linkParts } from './plan.source.links.ts';
import { referredTo } from './plan.source.references.ts';
import { reachOf } from './run.reach.ts';
import type { RunWork } from './run.types.ts';

/** Records or cards of a part. */
const CHUNK = 1_000;

/** A person's words that hold for the mapping. */
export interface Words {
  resolutions: Resolution[];
  decisions: Decision[];
  refusals: Refusal[];
}

/**
 * The plan's source: what the run has read, the stored book and the inventory, a part at a time.
 * @param stored waits until all rows that the plan has so far are stored.
 */
export function planSource(work: RunWork, words: Words, stored: () => Promise<void>): PartSource {
  const { db, runId, mappingId, loaded, complete, state } = work;
  const kind = complete && !state.withheld ? 'complete' : 'delta';
  const seenOf = (remote: Partial<RemoteReading>, local: Partial<Observation['local']>): Observation => ({
    remote: {
      kind,
      records: [],
      tombstones: [],
      looks: new Map(),
      watermark: null,
      ...remote,
    },
    local: { cards: new Map(), redirects: new Map(), ...local },
    ...words,
    now: state.now,
    remoteAheadMs: state.aheadMs ?? 0,
  });

  const part = async ({ remoteIds = [], cardIds = [] }: PartChoice): Promise<Part> => {
    const heard = remoteIds.length === 0 ? [] : await readHeard(db, runId, remoteIds);
    const named = [...new Set([...remoteIds, ...heard.map(({ remote_id }) => remote_id)])];
    const choice = { remoteIds: named, cardIds };
    const stored = await readPairs(db, mappingId, choice);
    const pairs = new Map(stored.map((row) => [row.remote_id, pairOf(row)]));
    const redirects =
      stored.length + cardIds.length === 0 ? new Map() : await readRedirects(db, mappingId, choice);
    const wanted = new Set([
      ...cardIds,
      ...[...pairs.values()].map(({ cardId }) => cardId),
      ...redirects.values(),
    ]);
    const cards = await cardsWithTimes(work, [...wanted], pairs);
    const beyond = await referredTo(work, recordsOf(heard), cards.values());
    const { cardOf } = beyond;
    const makesCircle = await circlesOf(work, pairs.values(), recordsOf(heard), cards, cardOf);
    return {
      book: { ...emptyBook(), pairs },
      seen: {
        ...seenOf(readingOf(heard), { cards, redirects }),
        copies: await copiesAmong(work, recordsOf(heard), pairs),
        putBack:
          newestPaths(work).length === 0
            ? []
            : await readPutBack(db, mappingId, [...wanted], newestPaths(work)),
      },
      beyond: { ...beyond, ...(makesCircle && { makesCircle }) },
    };
  };

  const creates =
    loaded.mapping.direction !== 'pull' &&
    !state.withheld &&
    // what is mapped both ways was read completely before, and what was not mapped then is read now
    (complete || !reachOf(work).passedOver);

  return {
    part,
    judged: () => walk(complete ? allPairs(db, mappingId) : heardPairs(db, runId, mappingId)),
    known: () => walk(allPairs(db, mappingId)),
    paired: () => walk(livePairs(db, mappingId)),
    unpaired: () => walk(unpairedRecords(db, runId, mappingId)),
    read: () => walk(shownRecords(db, runId)),
    openCards: () => walk(unpairedCards(db, mappingId, loaded.mapping.cardType)),
    decisions: words.decisions,
    creates,
    leadsHere: (path) => loaded.references[path] === mappingId,
    makers: async (remoteIds, cardIds) => {
      await stored();
      return makersIn(await plannedMakers(db, runId, remoteIds, cardIds));
    },
    links: async function* () {
      // relations are told by the rows that make their ends
      await stored();
      yield* linkParts(work, seenOf);
    },
  };
}

async function* walk(page: IdPage): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const ids = await page(after, CHUNK);
    if (ids.length > 0) yield ids;
    if (ids.length < CHUNK) return;
    after = ids.at(-1)!;
  }
}

const recordsOf = (heard: readonly HeardRecord[]): RemoteRecord[] =>
  heard.flatMap(({ record }) => (record === null ? [] : [record]));

function readingOf(heard: readonly HeardRecord[]): Partial<RemoteReading> {
  const looks: RemoteReading['looks'] = new Map();
  for (const { remote_id, look, record, reclassified } of heard) {
    if (look === 'there') looks.set(remote_id, record ? { kind: 'there', record } : { kind: 'unknown' });
    else if (look === 'gone')
      looks.set(remote_id, { kind: look, ...(reclassified !== null && { reclassified }) });
    else if (look !== null) looks.set(remote_id, { kind: look });
  }
  return {
    records: recordsOf(heard.filter(({ shown }) => shown)),
    tombstones: heard.flatMap(({ remote_id: id, tombstone }) =>
      tombstone === null ? [] : [{ table: '', id, ...tombstone }],
    ),
    looks,
    present: new Set(heard.flatMap(({ remote_id, shown }) => (shown ? [remote_id] : []))),
  };
}

/** Records without a pair that carry the mark of one which was made for a card. */
async function copiesAmong(
  { db, mappingId, connector: { correlationColumn: column } }: RunWork,
  records: readonly RemoteRecord[],
  pairs: ReadonlyMap<string, Pair>,
): Promise<Map<string, { of: string; cardId: string }>> {
  const marks = new Map<string, string>();
  for (const { id, fields } of column === undefined ? [] : records) {
    const mark = fields[column!]?.value;
    if (typeof mark === 'string' && mark !== '' && !pairs.has(id)) marks.set(id, mark);
  }
  const made = await madeUnder(db, mappingId, [...new Set(marks.values())]);
  return new Map(
    [...marks].flatMap(([id, mark]) => {
      const one = made.get(mark);
      return one && one.of !== id ? [[id, one] as const] : [];
    }),
  );
}

/** Fields in which newer changes win. */
const newestPaths = ({ loaded }: RunWork): string[] =>
  loaded.mapping.fields.flatMap(({ path, rule }) => (rule === 'newest_wins' ? [path] : []));

/** The cards; where newer changes win, with the moments at which single fields were changed. */
async function cardsWithTimes(
  work: RunWork,
  ids: string[],
  pairs: ReadonlyMap<string, Pair>,
): Promise<Map<string, LocalCard>> {
  const { db, cards } = work;
  const found = await cards.byIds(db, ids);
  const paths = newestPaths(work);
  if (paths.length === 0 || pairs.size === 0) return found;
  const moments = await cards.changedAt(db, [...found.keys()], paths);
  for (const [id, changedAt] of moments) Object.assign(found.get(id)!, { changedAt });
  return found;
}
