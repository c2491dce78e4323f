import type { PlanRow } from '../../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { KEY, type ObjectState, PATHS, tokenOf, type UndoResult } from './landscape.ts';
import { type Before, checkChanges, type HistoryState, type PerformAction } from './state.ts';
import type { UndoStep } from './steps.ts';

/** Undoes a run and checks both sides after it. */
export async function executeUndo(state: HistoryState, step: UndoStep, people: PerformAction): Promise<void> {
  const { landscape, log } = state;
  const before: Before = {
    local: await landscape.objects('local'),
    remote: await landscape.objects('remote'),
  };
  log.push(`undo ${JSON.stringify(step)}`);
  const isAlone = step.disruptions.length === 0 && !(await landscape.isPending());
  const undone = await landscape.undo(step, async (act) => await people(act, true));
  if (undone) {
    log.push(`  of ${undone.of.id}`);
    for (const { no, action, side, cardId, remoteId, diff, reason, drops } of undone.undoPlan.rows) {
      const end = undone.outcomes?.get(no);
      const text = `${no} ${action} ${side ?? ''} ${cardId} ${remoteId} ${JSON.stringify(diff)} ${drops} ${reason}`;
      log.push(`  ${text}: ${end?.progress} ${end?.message ?? ''}`);
    }
    for (const { action, cardId, remoteId, side, drops, diff } of undone.undoPlan.rows) {
      if (action === 'delete') state.undoneKeys.add(String(diff[KEY]?.old));
      if (action === 'delete') state.undoneCreations.add((side === 'local' ? cardId : remoteId) ?? '');
      if (action === 'agree' || action === 'unlink') state.restoredBases.add(remoteId ?? '');
      for (const one of drops) state.restoredBases.add(one);
      // without lookups nobody knows that its record is gone, and that another card has its key since
      if (action === 'restore' && !state.setting.hasLookups) state.restoredByDecision.add(cardId ?? '');
    }
  }
  await checkChanges(state, before);
  if (!undone?.outcomes) return;
  state.undoneCreations.clear();
  if (isAlone) await checkUndo(state, undone, undone.outcomes, before);
}

/** Checks that applied rows have restored the values, that nothing else was changed, and that the other rows have a reason. */
async function checkUndo(
  { landscape, errors }: HistoryState,
  { of, undoPlan }: UndoResult,
  outcomes: NonNullable<UndoResult['outcomes']>,
  before: Before,
): Promise<void> {
  const idOf = ({ side, cardId, remoteId }: PlanRow) => (side === 'local' ? cardId : remoteId);
  const rows = undoPlan.rows.filter(({ no }) => outcomes.get(no)?.progress === 'applied');
  for (const { no } of undoPlan.rows) {
    const { progress, message } = outcomes.get(no) ?? { progress: 'pending', message: null };
    if (progress !== 'applied' && message === null)
      errors.push(`undo row ${no} is ${progress}, without a reason`);
  }
  const createdIds = new Set(rows.map(({ no }) => outcomes.get(no)?.createdId));
  for (const side of ['local', 'remote'] as const) {
    const was = byId(before[side]);
    const is = byId(await landscape.objects(side));
    const rowsOfSide = rows.filter((row) => row.side === side);
    for (const row of rowsOfSide) {
      const one = is.get(idOf(row) ?? outcomes.get(row.no)?.createdId ?? '');
      const there = row.action !== 'delete';
      if (there !== (one !== undefined))
        errors.push(`undo row ${row.no}: ${there ? 'not restored' : 'not removed'}`);
      if (!one) continue;
      for (const [path, { new: value }] of Object.entries(row.diff)) {
        if (tokenOf(path, one.fields[path] ?? null) !== tokenOf(path, value))
          errors.push(`undo row ${row.no}: ${path} is ${one.fields[path]} instead of ${value}`);
      }
    }
    for (const id of new Set([...was.keys(), ...is.keys()])) {
      const row = rowsOfSide.find((one) => idOf(one) === id);
      const change = changeOf(was.get(id), is.get(id));
      if (change.length > 0 && !row && !createdIds.has(id)) errors.push(`undo changed ${id} without a row`);
      const origin = row && of.rows[Number(/^Undoes row (\d+)/.exec(row.reason)?.[1])];
      if (!origin || origin.action === 'restore') continue;
      for (const [path, value] of change) {
        const written = tokenOf(path, origin.diff[path]?.new ?? null);
        if (written !== value)
          errors.push(`undo replaced '${value}' of ${id}, although the run had written '${written}'`);
      }
    }
  }
}

const byId = (all: readonly ObjectState[]) => new Map(all.map((one) => [one.id, one]));

/** The changed fields with their former values. */
function changeOf(was: ObjectState | undefined, is: ObjectState | undefined): [string, string | null][] {
  const tokenAt = (one: ObjectState | undefined, path: string) => tokenOf(path, one?.fields[path] ?? null);
  return PATHS.flatMap((path): [string, string | null][] =>
    tokenAt(was, path) === tokenAt(is, path) ? [] : [[path, tokenAt(was, path)]],
  );
}
