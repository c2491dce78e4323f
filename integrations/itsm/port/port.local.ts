import { lockCards, lockHierarchy } from '../../../domain/inventory/cards/cards.load.ts';
import { lockNewEnds } from '../../../domain/inventory/relations/relations.load.ts';
import type { Ctx, Work } from '../../../domain/kernel/context.ts';
import type { Sql } from '../../../platform/database.ts';
import { allUnwritten, describeUnwritten, touchedKeys, unappliedOutcome } from '../engine/apply.rows.ts';
import type { LocalCard, Pair, StateChange, SyncState } from '../engine/model.types.ts';
import type {
  LocalState,
  LocalStep,
  LocalWrite,
  Outcome,
  PlanRow,
  Progress,
  RowResult,
} from '../engine/plan.types.ts';
import {
  applyChanges,
  emptySyncState,
  findOtherPair,
  groupPairsByCard,
  indexPairs,
  type PairIndex,
} from '../engine/state.ts';
import { cardsOfRecords, loadPairs } from '../store/pairs.ts';
import { cardsOf, hierarchyUse, writeInventory } from './inventory.ts';
import type { CardReader } from './local.cards.ts';

/** What writing in the inventory works with. */
interface LocalTools {
  ctx: Ctx;
  mappingId: string;
  cards: CardReader;
}

const isEnding = (step: LocalStep | RowResult): step is RowResult => 'outcome' in step;

/**
 * Carries out steps within a transaction that holds the sync state. Those that are not about the same things are written
 * together; a step that builds on another waits until that is done.
 * @returns how each has ended, with what it changes in the sync state.
 */
export async function applySteps(
  { ctx, mappingId, cards }: LocalTools,
  work: Work,
  steps: readonly (LocalStep | RowResult)[],
): Promise<RowResult[]> {
  const writes = steps.flatMap((step) => (isEnding(step) || step.write === null ? [] : [step.write]));
  const use = hierarchyUse(writes);
  if (use !== null) await lockHierarchy(work.sql, use);
  if (writes.length > 0) await lockCards(work, new Set(cardsOf(writes)));
  const state = await readState(
    work.sql,
    mappingId,
    cards,
    steps.flatMap((step) => (isEnding(step) ? [] : [step.row])),
  );
  const endings = new Map<number, RowResult>();
  const ended = new Map<number, Progress>();
  const end = (ending: RowResult) => {
    endings.set(ending.row.no, ending);
    ended.set(ending.row.no, ending.outcome.progress);
    state.change(ending.changes);
  };

  let waiting: LocalStep[] = [];
  let touched = new Set<string | number>();
  const flush = async () => {
    if (waiting.length === 0) return;
    const answers = await writeInventory(
      work,
      ctx,
      waiting.map(({ write }) => write!),
    );
    await state.reread(answers.flatMap((answer) => (answer.kind === 'done' ? (answer.cardId ?? []) : [])));
    for (const [n, { row, changes }] of waiting.entries()) {
      const answer = answers[n]!;
      if (answer.kind === 'refused') {
        const outcome = {
          ...unappliedOutcome('refused', answer.message),
          unwritten: allUnwritten(row, answer.message),
        };
        end({ row, outcome, changes: [] });
        continue;
      }
      const card = answer.cardId === null ? null : (state.card(answer.cardId) ?? null);
      const made = row.cardId !== null || answer.cardId === null ? {} : { createdId: answer.cardId };
      const { unwritten = {} } = answer;
      const paths = Object.keys(unwritten);
      const told =
        paths.length === 0 ? { message: null } : { message: describeUnwritten(unwritten), unwritten };
      const outcome: Outcome = { progress: 'applied', ...told, ...made };
      end({ row, outcome, changes: changes(card, new Set(paths)) });
    }
    waiting = [];
    touched = new Set();
  };

  let resolved: Map<string, string> | undefined;
  for (const given of steps) {
    if (isEnding(given)) {
      end(given);
      continue;
    }
    let step = given;
    if (lacksEnd(step)) {
      if (!resolved) {
        // the cards of these relations are made by rows before them
        await flush();
        resolved = await endsOf(work, mappingId, steps, state);
      }
      step = withEnds(step, resolved);
    }
    const { row, write, check, changes } = step;
    const keys = touchedKeys({ row });
    const builds = row.needs !== null && touched.has(row.needs);
    if (builds || keys.some((key) => touched.has(key))) await flush();
    const objection = check(state.of(row), ended);
    if (objection !== null) {
      end({ row, outcome: { progress: 'stale', message: objection }, changes: [] });
    } else if (lacksEnd(step)) {
      const message = 'An end of the relation has no card.';
      end({ row, outcome: { progress: 'stale', message }, changes: [] });
    } else if (write === null) {
      end({ row, outcome: { progress: 'applied', message: null }, changes: changes(null) });
    } else {
      waiting.push(step);
      // relations may share an end, but not both
      for (const key of row.link ? [JSON.stringify(write)] : keys) touched.add(key);
      touched.add(row.no);
    }
  }
  await flush();
  return steps.map(({ row }) => endings.get(row.no)!);
}

type Related = Extract<LocalWrite, { kind: 'relate' | 'unrelate' }>;

const isRelated = (write: LocalWrite | null): write is Related =>
  write?.kind === 'relate' || write?.kind === 'unrelate';

/** A relation of which an end was not known when the plan was made. */
const lacksEnd = ({ write }: LocalStep): boolean =>
  isRelated(write) && (write.source === null || write.target === null);

function withEnds(step: LocalStep, cards: ReadonlyMap<string, string>): LocalStep {
  const { row, write } = step;
  if (!isRelated(write) || !row.link) return step;
  const source = write.source ?? cards.get(row.link.source) ?? null;
  const target = write.target ?? cards.get(row.link.target) ?? null;
  return { ...step, write: { ...write, source, target } };
}

/** The cards of the records that such relations name, which may be another mapping's; locked. */
async function endsOf(
  work: Work,
  mappingId: string,
  steps: readonly (LocalStep | RowResult)[],
  state: PortState,
): Promise<Map<string, string>> {
  const records = new Set(
    steps.flatMap((step) =>
      !isEnding(step) && lacksEnd(step) && step.row.link ? [step.row.link.source, step.row.link.target] : [],
    ),
  );
  const cards = await cardsOfRecords(work.sql, mappingId, [...records]);
  for (const id of records) {
    const made = state.cardOf(id);
    if (made !== undefined) cards.set(id, made);
  }
  const ids = new Set(cards.values());
  const types = steps.map((step) => (isEnding(step) ? null : madeRelation(step)));
  // where cards are changed as well, they are not only shared
  if (types.includes(undefined)) await lockCards(work, ids);
  else await lockNewEnds(work, ids, new Set(types.filter((type) => typeof type === 'string')));
  return cards;
}

/** The type of a relation that is made between cards that the plan did not know. */
const madeRelation = (step: LocalStep): string | undefined =>
  step.write?.kind === 'relate' && lacksEnd(step) ? step.write.relationType : undefined;

/** The sync state and the cards around some rows, within a transaction that holds the sync state. */
interface PortState {
  of(row: PlanRow): LocalState;
  /** Takes along what a row has changed. */
  change(changes: readonly StateChange[]): void;
  /** Reads cards again after they were written. */
  reread(ids: readonly string[]): Promise<void>;
  card(id: string): LocalCard | undefined;
  /** The card of a record, as far as the rows have made it. */
  cardOf(remoteId: string): string | undefined;
}

/** Reads what the rows are about, in a fixed number of statements. */
export async function readState(
  sql: Sql,
  mappingId: string,
  cards: CardReader,
  rows: readonly PlanRow[],
): Promise<PortState> {
  const remoteIds = rows.flatMap(({ remoteId, drops }) => (remoteId === null ? drops : [remoteId, ...drops]));
  const cardIds = rows.flatMap(({ cardId }) => cardId ?? []);
  const { pairs, redirects } = await loadPairs(sql, mappingId, { remoteIds, cardIds });
  const syncState: SyncState = { ...emptySyncState(), pairs };
  const known = await cards.byIds(sql, cardIds);
  let speakers: PairIndex | undefined;
  let bound: ReadonlyMap<string, Pair[]> | undefined;
  return {
    of(row) {
      const { cardId, remoteId } = row;
      const pair = remoteId === null ? undefined : syncState.pairs.get(remoteId);
      if (cardId === null) return { card: null, pair, other: undefined };
      bound ??= groupPairsByCard(syncState, redirects);
      const other = findOtherPair(bound, redirects, { ...row, cardId });
      return { card: known.get(cardId) ?? null, pair, other };
    },
    change(changes) {
      if (changes.length === 0) return;
      applyChanges(syncState, changes);
      speakers = undefined;
      bound = undefined;
    },
    async reread(ids) {
      for (const id of ids) known.delete(id);
      for (const [id, card] of await cards.byIds(sql, ids)) known.set(id, card);
    },
    card: (id) => known.get(id),
    cardOf: (remoteId) => {
      speakers ??= indexPairs(syncState, redirects);
      return speakers.cardOf(remoteId);
    },
  };
}
