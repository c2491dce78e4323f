import type { PlanRow } from '../../../../integrations/itsm/engine/plan.types.ts';
import { KEY, PATHS, type Shown, tokenOf, type Undone } from './landscape.ts';
import { type Before, judgeChanges, type Life, type People } from './life.ts';
import type { UndoStep } from './steps.ts';

/** A run is taken back, with a look at both sides before and after it. */
export async function watchedUndo(life: Life, step: UndoStep, people: People): Promise<void> {
  const { landscape, log } = life;
  const before: Before = { local: await landscape.shown('local'), remote: await landscape.shown('remote') };
  log.push(`undo ${JSON.stringify(step)}`);
  const isAlone = step.trouble.length === 0 && !(await landscape.pending());
  const undone = await landscape.undo(step, async (act) => await people(act, true));
  if (undone) {
    log.push(`  of ${undone.of.id}`);
    for (const { no, action, side, cardId, remoteId, diff, reason, drops } of undone.back.rows) {
      const end = undone.outcomes?.get(no);
      const told = `${no} ${action} ${side ?? ''} ${cardId} ${remoteId} ${JSON.stringify(diff)} ${drops} ${reason}`;
      log.push(`  ${told}: ${end?.progress} ${end?.message ?? ''}`);
    }
    for (const { action, cardId, remoteId, side, drops, diff } of undone.back.rows) {
      if (action === 'delete') life.unmadeKeys.add(String(diff[KEY]?.old));
      if (action === 'delete') life.unmade.add((side === 'local' ? cardId : remoteId) ?? '');
      if (action === 'agree' || action === 'unlink') life.agreedBefore.add(remoteId ?? '');
      for (const one of drops) life.agreedBefore.add(one);
    }
  }
  await judgeChanges(life, before);
  if (!undone?.outcomes) return;
  life.unmade.clear();
  if (isAlone) await judgeUndo(life, undone, undone.outcomes, before);
}

/** What was applied is back where it was written, nothing else was touched, and what nobody took back says why. */
async function judgeUndo(
  { landscape, faults }: Life,
  { of, back }: Undone,
  outcomes: NonNullable<Undone['outcomes']>,
  before: Before,
): Promise<void> {
  const idOf = ({ side, cardId, remoteId }: PlanRow) => (side === 'local' ? cardId : remoteId);
  const rows = back.rows.filter(({ no }) => outcomes.get(no)?.progress === 'applied');
  for (const { no } of back.rows) {
    const { progress, message } = outcomes.get(no) ?? { progress: 'pending', message: null };
    if (progress !== 'applied' && message === null)
      faults.push(`undo row ${no} is ${progress}, without a reason`);
  }
  const made = new Set(rows.map(({ no }) => outcomes.get(no)?.createdId));
  for (const side of ['local', 'remote'] as const) {
    const was = byId(before[side]);
    const is = byId(await landscape.shown(side));
    const mine = rows.filter((row) => row.side === side);
    for (const row of mine) {
      const one = is.get(idOf(row) ?? outcomes.get(row.no)?.createdId ?? '');
      const there = row.action !== 'delete';
      if (there !== (one !== undefined))
        faults.push(`undo row ${row.no}: ${there ? 'not back' : 'still there'}`);
      if (!one) continue;
      for (const [path, { new: value }] of Object.entries(row.diff)) {
        if (tokenOf(path, one.fields[path] ?? null) !== tokenOf(path, value)) {
          faults.push(`undo row ${row.no}: ${path} is ${one.fields[path]} instead of ${value}`);
        }
      }
    }
    for (const id of new Set([...was.keys(), ...is.keys()])) {
      const row = mine.find((one) => idOf(one) === id);
      const change = changeOf(was.get(id), is.get(id));
      if (change.length > 0 && !row && !made.has(id))
        faults.push(`undo changed ${id}, of which it says nothing`);
      const origin = row && of.rows[Number(/^Undoes row (\d+)/.exec(row.reason)?.[1])];
      if (!origin || origin.action === 'restore') continue;
      for (const [path, value] of change) {
        const left = tokenOf(path, origin.diff[path]?.new ?? null);
        if (left !== value)
          faults.push(`undo took '${value}' of ${id} with it, though the run left '${left}'`);
      }
    }
  }
}

const byId = (all: readonly Shown[]) => new Map(all.map((one) => [one.id, one]));

/** Which fields have changed, or gone, and what they held. */
function changeOf(was: Shown | undefined, is: Shown | undefined): [string, string | null][] {
  const held = (one: Shown | undefined, path: string) => tokenOf(path, one?.fields[path] ?? null);
  return PATHS.flatMap((path): [string, string | null][] =>
    held(was, path) === held(is, path) ? [] : [[path, held(was, path)]],
  );
}
