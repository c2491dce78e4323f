import type { Path, Side } from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Plan } from '../../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { isChange } from '../../../../../integrations/exchange/itsm/engine/state.ts';
import { KEY, type Landscape, type ObjectState, PATHS, tokenOf, valueOnSide } from './landscape.ts';
import type { Before, HistoryState, PerformAction } from './state.ts';
import { checkChanges, createLineage, tokensOf } from './state.ts';
import type { History, RunStep } from './steps.ts';
import { executeUndo } from './undo.ts';

/** The number of runs after which no change may remain. */
const MAX_RUNS = 40;

/**
 * Executes a history: its users' actions, runs and undos with their disruptions, then runs without disruptions until no change
 * remains, deciding all conflicts. Checks both sides after each step.
 */
export async function executeHistory(
  { steps, setting }: History,
  landscape: Landscape,
  finish: (state: HistoryState) => Promise<void>,
): Promise<HistoryState> {
  const state: HistoryState = {
    landscape,
    setting,
    lineage: createLineage(),
    createdByUsers: new Set(),
    removedByUsers: new Set(),
    restoredByDecision: new Set(),
    touchedKeys: new Set(),
    undoneCreations: new Set(),
    undoneKeys: new Set(),
    restoredBases: new Set(),
    unmappedValues: new Map(),
    errors: [],
    log: [],
  };
  const perform = createPerformAction(state);
  for (const step of steps) {
    if (step.do === 'run') await executeRun(state, step, perform);
    else if (step.do === 'undo') await executeUndo(state, step, perform);
    else await perform(step, false);
  }
  await runUntilSettled(state, perform);
  if (state.errors.length === 0) await finish(state);
  return state;
}

async function runUntilSettled(state: HistoryState, people: PerformAction): Promise<void> {
  const { landscape } = state;
  for (let round = 0; round < MAX_RUNS; round += 1) {
    const complete = round % 3 !== 2;
    const plan = await executeRun(state, { do: 'run', complete, between: null, disruptions: [] }, people);
    if (!plan || plan.rows.some(isChange) || Object.keys(plan.closing.absences).length > 0) continue;
    const conflicts = await landscape.conflicts();
    if (conflicts.length === 0) {
      const waiting = (await landscape.pairs()).some(({ state }) => state.kind === 'quarantined');
      // continue while a pair is quarantined, or if the last run was a delta
      if (!waiting && complete) return;
      continue;
    }
    for (let at = 0; at < conflicts.length; at += 1)
      await people({ do: 'decide', at, winner: (round + at) % 2 === 0 ? 'local' : 'remote' }, false);
  }
  state.errors.push(`changes remain after ${MAX_RUNS} runs`);
}

const pick = <T>(items: readonly T[], at: number): T | undefined =>
  items.length === 0 ? undefined : items[at % items.length];

function createPerformAction(state: HistoryState): PerformAction {
  const { landscape, lineage } = state;
  let serial = 0;
  const newFields = (side: Side): Record<Path, string> => {
    const fields: Record<Path, string> = {};
    for (const path of PATHS) {
      serial += 1;
      fields[path] = String(valueOnSide(side, path, serial));
      lineage.write(tokenOf(path, fields[path])!, null);
    }
    return fields;
  };
  const excuse = ({ fields }: ObjectState) => {
    for (const path of PATHS) lineage.allowLoss(tokenOf(path, fields[path] ?? null) ?? '');
  };
  const findUnpaired = async (side: Side): Promise<ObjectState[]> => {
    const paired = new Set((await landscape.pairs()).flatMap(({ cardId, remoteId }) => [cardId, remoteId]));
    return (await landscape.objects(side)).filter(({ id }) => !paired.has(id));
  };
  /** The key of an object that exists only on the other side, and never existed on this one. */
  const findUnpairedKey = async (side: Side, at: number): Promise<string | undefined> => {
    if (await landscape.isPending()) return undefined;
    const all = await findUnpaired(side === 'local' ? 'remote' : 'local');
    const here = new Set((await landscape.objects(side)).map(({ fields }) => fields[KEY]));
    const key = pick(
      all.filter(({ fields }) => !here.has(fields[KEY] ?? null)),
      at,
    )?.fields[KEY];
    const wasHere = state.touchedKeys.has(String(key)) || state.undoneKeys.has(String(key));
    return key === undefined || wasHere ? undefined : String(key);
  };
  const perform: PerformAction = async (act, inRun) => {
    if (act.do === 'create') {
      const twin = act.twin && !inRun ? await findUnpairedKey(act.side, serial) : undefined;
      const fields = { ...newFields(act.side), [KEY]: twin ?? `k${serial}` };
      const id = await landscape.create(act.side, fields);
      state.createdByUsers.add(id);
      state.log.push(`${act.side} create ${id} ${JSON.stringify(fields)}`);
      return;
    }
    if (act.do === 'unmap') {
      const pair = pick(
        (await landscape.pairs()).filter(({ state }) => state.kind === 'linked'),
        act.at,
      );
      const card = (await landscape.objects('local')).find(({ id }) => id === pair?.cardId);
      if (!pair || !card) return;
      if (!(await landscape.unmap(card.id))) return;
      state.log.push(`unmap ${card.id} ${pair.remoteId}`);
      const apart = (await landscape.pairs()).filter(({ state }) => state.kind === 'unmapped');
      for (const side of ['local', 'remote'] as const) {
        for (const shown of await landscape.objects(side)) {
          if (apart.some(({ cardId, remoteId }) => cardId === shown.id || remoteId === shown.id))
            state.unmappedValues.set(shown.id, tokensOf(shown));
        }
      }
      return;
    }
    if (act.do === 'decide') {
      const row = pick(await landscape.conflicts(), act.at);
      if (!row) return;
      await landscape.decide(row, act.winner);
      state.log.push(`decide ${row.remoteId} ${row.path} for ${act.winner}: ${row.reason}`);
      if (row.path !== null) {
        const { old, new: other } = row.diff[row.path]!;
        lineage.allowLoss(tokenOf(row.path, act.winner === 'local' ? other : old) ?? '');
        return;
      }
      if (act.winner === 'remote' && row.cardId !== null) state.restoredByDecision.add(row.cardId);
      for (const side of ['local', 'remote'] as const) {
        const id = side === 'local' ? row.cardId : row.remoteId;
        const shown = (await landscape.objects(side)).find((one) => one.id === id);
        if (shown && side !== act.winner) excuse(shown);
      }
      return;
    }
    if (act.do === 'restore') {
      // a card with the key of another one would be a duplicate that a user has created
      const here = new Set((await landscape.objects('local')).map(({ fields }) => fields[KEY]));
      // so would one that a pending run creates again for its record
      if (await landscape.isPending())
        for (const { fields } of await findUnpaired('remote')) here.add(fields[KEY] ?? null);
      // so would one whose creation was undone, since it is created again
      const free = (await landscape.archived()).filter(
        ({ key }) => !here.has(key) && !state.undoneKeys.has(String(key)),
      );
      const card = pick(free, act.at)?.id;
      if (card === undefined) return;
      await landscape.restore(card);
      state.removedByUsers.delete(card);
      state.log.push(`restore ${card}`);
      return;
    }
    const all = await landscape.objects(act.side);
    const one = pick(all, act.at);
    if (!one) return;
    if (act.do === 'edit') {
      const path = PATHS[act.field]!;
      serial += 1;
      const value = act.clear ? null : valueOnSide(act.side, path, serial);
      const seen = tokenOf(path, one.fields[path] ?? null);
      if (act.clear) lineage.allowLoss(seen ?? '');
      else lineage.write(tokenOf(path, value)!, seen);
      await landscape.edit(act.side, one.id, path, value);
      const frozen = state.unmappedValues.get(one.id);
      if (frozen) frozen[path] = tokenOf(path, value);
      state.log.push(`${act.side} edit ${one.id} ${path} ${one.fields[path]} -> ${value}`);
      return;
    }
    const into = act.do === 'merge' ? pick(all, act.into) : undefined;
    if (act.do === 'merge' && (!into || into.id === one.id)) return;
    state.removedByUsers.add(one.id);
    state.touchedKeys.add(String(one.fields[KEY]));
    state.unmappedValues.delete(one.id);
    if (!into) {
      excuse(one);
      await landscape.remove(act.side, one.id, act.at % 2 === 0);
      state.log.push(`${act.side} delete ${one.id}`);
      return;
    }
    excuse(one);
    state.touchedKeys.add(String(into.fields[KEY]));
    await landscape.merge(act.side, one.id, into.id);
    const values = state.unmappedValues.get(into.id);
    const merged = values && (await landscape.objects(act.side)).find(({ id }) => id === into.id);
    // a merge fills empty values
    if (merged) for (const [path, value] of Object.entries(tokensOf(merged))) values[path] ??= value;
    state.log.push(`${act.side} merge ${one.id} into ${into.id}`);
  };
  // a run writes concurrently, but users' actions are serialized, so that each sees the previous ones
  let last = Promise.resolve();
  return async (act, inRun) => {
    const done = last.then(async () => await perform(act, inRun));
    last = done.catch(() => undefined);
    await done;
  };
}

/** Executes a run and checks its plan and both sides after it. */
async function executeRun(state: HistoryState, step: RunStep, people: PerformAction): Promise<Plan | null> {
  const { landscape } = state;
  const before: Before = {
    local: await landscape.objects('local'),
    remote: await landscape.objects('remote'),
  };
  state.log.push(`run ${step.complete ? 'complete' : 'delta'} ${JSON.stringify(step.disruptions)}`);
  const plan = await landscape.run(step, async (act) => await people(act, true));
  for (const row of plan?.rows ?? [])
    state.log.push(
      `  ${row.no} ${row.action} ${row.side ?? ''} ${row.cardId} ${row.remoteId} ${JSON.stringify(row.diff)} ${row.reason}`,
    );
  if (plan) checkPlan(state, plan);
  await checkChanges(state, before);
  if (plan) state.undoneCreations.clear();
  return plan;
}

/** Checks that conflicts are between concurrent values only. */
function checkPlan({ lineage, errors, setting, restoredBases }: HistoryState, plan: Plan): void {
  for (const row of plan.rows) {
    const paths = row.action === 'conflict' ? (row.path === null ? [] : [row.path]) : row.settled;
    for (const path of paths) {
      if (path === KEY) continue;
      const { old, new: other } = row.diff[path]!;
      const [left, right] = [tokenOf(path, old), tokenOf(path, other)];
      // a clearing that wins removes the other value
      if (right === null && left !== null && row.action !== 'conflict') lineage.allowLoss(left);
      if (left === null || right === null) continue;
      // without correlation ids it is unknown whether a lost write was the predecessor of the next value
      const isKnown = setting.hasCorrelationIds && !restoredBases.has(row.remoteId ?? '');
      if (isKnown && (lineage.isBefore(left, right) || lineage.isBefore(right, left)))
        errors.push(
          `${row.cardId}: a conflict of '${left}' and '${right}', one of which is the predecessor of the other`,
        );
      if (row.action !== 'conflict') lineage.allowLoss(left);
    }
  }
}
