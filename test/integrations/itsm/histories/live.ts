import type { Path, Side } from '../../../../integrations/itsm/engine/model.types.ts';
import { isChange } from '../../../../integrations/itsm/engine/plan.ts';
import type { Plan } from '../../../../integrations/itsm/engine/plan.types.ts';
import { KEY, type Landscape, PATHS, type Shown, spelled, tokenOf } from './landscape.ts';
import { type Before, judgeChanges, type Life, type People, tokens } from './life.ts';
import { createLineage } from './lineage.ts';
import type { History, RunStep } from './steps.ts';
import { watchedUndo } from './undo.ts';

/** Runs in a row after which everything must have come to rest. */
const PATIENCE = 40;

/**
 * Lives a history through: people's acts and runs with their troubles, then runs without trouble until nothing is
 * left to be done, where every open conflict is decided.
 * @returns what was found wrong; nothing when all is well.
 */
export async function live(
  { steps, setting }: History,
  landscape: Landscape,
  finish: (life: Life) => Promise<void>,
): Promise<Life> {
  const life: Life = {
    landscape,
    setting,
    lineage: createLineage(),
    madeByPeople: new Set(),
    removedByPeople: new Set(),
    restoredByDecision: new Set(),
    touchedKeys: new Set(),
    unmade: new Set(),
    unmadeKeys: new Set(),
    agreedBefore: new Set(),
    frozen: new Map(),
    faults: [],
    log: [],
  };
  const people = createPeople(life);
  for (const step of steps) {
    if (step.do === 'run') await watchedRun(life, step, people);
    else if (step.do === 'undo') await watchedUndo(life, step, people);
    else await people(step, false);
  }
  await settle(life, people);
  if (life.faults.length === 0) await finish(life);
  return life;
}

async function settle(life: Life, people: People): Promise<void> {
  const { landscape } = life;
  for (let round = 0; round < PATIENCE; round += 1) {
    const complete = round % 3 !== 2;
    const plan = await watchedRun(life, { do: 'run', complete, between: null, trouble: [] }, people);
    if (!plan || plan.rows.some(isChange) || Object.keys(plan.closing.absences).length > 0) continue;
    const conflicts = await landscape.conflicts();
    if (conflicts.length === 0) {
      const waiting = (await landscape.pairs()).some(({ state }) => state.kind === 'quarantined');
      // a pair waits for its time, or the last delta was without what a complete reading shows
      if (!waiting && complete) return;
      continue;
    }
    for (let at = 0; at < conflicts.length; at += 1) {
      await people({ do: 'decide', at, winner: (round + at) % 2 === 0 ? 'local' : 'remote' }, false);
    }
  }
  life.faults.push(`after ${PATIENCE} runs there is still something to be done`);
}

const pick = <T>(items: readonly T[], at: number): T | undefined =>
  items.length === 0 ? undefined : items[at % items.length];

function createPeople(life: Life): People {
  const { landscape, lineage } = life;
  let serial = 0;
  const newFields = (side: Side): Record<Path, string> => {
    const fields: Record<Path, string> = {};
    for (const path of PATHS) {
      serial += 1;
      fields[path] = String(spelled(side, path, serial));
      lineage.write(tokenOf(path, fields[path])!, null);
    }
    return fields;
  };
  const excuse = ({ fields }: Shown) => {
    for (const path of PATHS) lineage.excuse(tokenOf(path, fields[path] ?? null) ?? '');
  };
  /** A thing that is only on the other side, and never was here. */
  const lonely = async (side: Side, at: number): Promise<string | undefined> => {
    if (await landscape.pending()) return undefined;
    const other = side === 'local' ? 'remote' : 'local';
    const paired = new Set((await landscape.pairs()).flatMap(({ cardId, remoteId }) => [cardId, remoteId]));
    const all = (await landscape.shown(other)).filter(({ id }) => !paired.has(id));
    const here = new Set((await landscape.shown(side)).map(({ fields }) => fields[KEY]));
    const key = pick(
      all.filter(({ fields }) => !here.has(fields[KEY] ?? null)),
      at,
    )?.fields[KEY];
    const wasHere = life.touchedKeys.has(String(key)) || life.unmadeKeys.has(String(key));
    return key === undefined || wasHere ? undefined : String(key);
  };
  const perform: People = async (act, inRun) => {
    if (act.do === 'create') {
      const twin = act.twin && !inRun ? await lonely(act.side, serial) : undefined;
      const fields = { ...newFields(act.side), [KEY]: twin ?? `k${serial}` };
      const id = await landscape.create(act.side, fields);
      life.madeByPeople.add(id);
      life.log.push(`${act.side} create ${id} ${JSON.stringify(fields)}`);
      return;
    }
    if (act.do === 'unmap') {
      const pair = pick(
        (await landscape.pairs()).filter(({ state }) => state.kind === 'linked'),
        act.at,
      );
      const card = (await landscape.shown('local')).find(({ id }) => id === pair?.cardId);
      if (!pair || !card) return;
      if (!(await landscape.unmap(card.id))) return;
      life.log.push(`unmap ${card.id} ${pair.remoteId}`);
      const apart = (await landscape.pairs()).filter(({ state }) => state.kind === 'unmapped');
      for (const side of ['local', 'remote'] as const) {
        for (const shown of await landscape.shown(side)) {
          if (apart.some(({ cardId, remoteId }) => cardId === shown.id || remoteId === shown.id)) {
            life.frozen.set(shown.id, tokens(shown));
          }
        }
      }
      return;
    }
    if (act.do === 'decide') {
      const row = pick(await landscape.conflicts(), act.at);
      if (!row) return;
      await landscape.decide(row, act.winner);
      life.log.push(`decide ${row.remoteId} ${row.path} for ${act.winner}: ${row.reason}`);
      if (row.path !== null) {
        const { old, new: other } = row.diff[row.path]!;
        lineage.excuse(tokenOf(row.path, act.winner === 'local' ? other : old) ?? '');
        return;
      }
      if (act.winner === 'remote' && row.cardId !== null) life.restoredByDecision.add(row.cardId);
      for (const side of ['local', 'remote'] as const) {
        const id = side === 'local' ? row.cardId : row.remoteId;
        const shown = (await landscape.shown(side)).find((one) => one.id === id);
        if (shown && side !== act.winner) excuse(shown);
      }
      return;
    }
    if (act.do === 'restore') {
      // a card beside another one of its key would be a double that a person has made
      const here = new Set((await landscape.shown('local')).map(({ fields }) => fields[KEY]));
      // so would one of which making it was taken back: it is made again
      const free = (await landscape.archived()).filter(
        ({ key }) => !here.has(key) && !life.unmadeKeys.has(String(key)),
      );
      const card = pick(free, act.at)?.id;
      if (card === undefined) return;
      await landscape.restore(card);
      life.removedByPeople.delete(card);
      life.log.push(`restore ${card}`);
      return;
    }
    const all = await landscape.shown(act.side);
    const one = pick(all, act.at);
    if (!one) return;
    if (act.do === 'edit') {
      const path = PATHS[act.field]!;
      serial += 1;
      const value = act.clear ? null : spelled(act.side, path, serial);
      const seen = tokenOf(path, one.fields[path] ?? null);
      if (act.clear) lineage.excuse(seen ?? '');
      else lineage.write(tokenOf(path, value)!, seen);
      await landscape.edit(act.side, one.id, path, value);
      const frozen = life.frozen.get(one.id);
      if (frozen) frozen[path] = tokenOf(path, value);
      life.log.push(`${act.side} edit ${one.id} ${path} ${one.fields[path]} -> ${value}`);
      return;
    }
    const into = act.do === 'merge' ? pick(all, act.into) : undefined;
    if (act.do === 'merge' && (!into || into.id === one.id)) return;
    life.removedByPeople.add(one.id);
    life.touchedKeys.add(String(one.fields[KEY]));
    life.frozen.delete(one.id);
    if (!into) {
      excuse(one);
      await landscape.remove(act.side, one.id, act.at % 2 === 0);
      life.log.push(`${act.side} delete ${one.id}`);
      return;
    }
    excuse(one);
    life.touchedKeys.add(String(into.fields[KEY]));
    await landscape.merge(act.side, one.id, into.id);
    const kept = life.frozen.get(into.id);
    const merged = kept && (await landscape.shown(act.side)).find(({ id }) => id === into.id);
    // a merge fills what is empty
    if (merged) for (const [path, value] of Object.entries(tokens(merged))) kept[path] ??= value;
    life.log.push(`${act.side} merge ${one.id} into ${into.id}`);
  };
  // a run writes several rows at once, but what befalls them meanwhile comes one after the other: whoever edits sees what was removed
  let last = Promise.resolve();
  return async (act, inRun) => {
    const done = last.then(async () => await perform(act, inRun));
    last = done.catch(() => undefined);
    await done;
  };
}

/** A run, with a look at both sides before and after it: what the engine did must be right at once, not only in the end. */
async function watchedRun(life: Life, step: RunStep, people: People): Promise<Plan | null> {
  const { landscape } = life;
  const before: Before = { local: await landscape.shown('local'), remote: await landscape.shown('remote') };
  life.log.push(`run ${step.complete ? 'complete' : 'delta'} ${JSON.stringify(step.trouble)}`);
  const plan = await landscape.run(step, async (act) => await people(act, true));
  for (const row of plan?.rows ?? []) {
    life.log.push(
      `  ${row.no} ${row.action} ${row.side ?? ''} ${row.cardId} ${row.remoteId} ${JSON.stringify(row.diff)} ${row.reason}`,
    );
  }
  if (plan) judgePlan(life, plan);
  await judgeChanges(life, before);
  if (plan) life.unmade.clear();
  return plan;
}

/** Two values are only in conflict when neither was written knowing the other. */
function judgePlan({ lineage, faults, landscape, setting, agreedBefore }: Life, plan: Plan): void {
  for (const row of plan.rows) {
    const paths = row.action === 'conflict' ? (row.path === null ? [] : [row.path]) : row.settled;
    for (const path of paths) {
      if (path === KEY) continue;
      const { old, new: other } = row.diff[path]!;
      const [left, right] = [tokenOf(path, old), tokenOf(path, other)];
      // emptied knowingly: what an empty value wins against goes with it
      if (right === null && left !== null && row.action !== 'conflict') lineage.excuse(left);
      if (left === null || right === null) continue;
      // without marks nobody can tell whether a write of which the answer was lost was seen by who wrote next
      const isKnown = setting.marks && !agreedBefore.has(row.remoteId ?? '');
      if (isKnown && (lineage.isBefore(left, right) || lineage.isBefore(right, left))) {
        faults.push(
          `${row.cardId}: a conflict of '${left}' and '${right}', of which one came from the other`,
        );
      }
      if (row.action !== 'conflict') lineage.excuse(left);
    }
  }
  if (landscape.mapping.id !== plan.mappingId) faults.push('the plan is of another mapping');
}
