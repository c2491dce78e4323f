import type { Path, Side } from '../../../../integrations/itsm/engine/model.types.ts';
import { KEY, type Landscape, PATHS, type Shown, tokenOf } from './landscape.ts';
import type { Lineage } from './lineage.ts';
import type { History, PersonAct } from './steps.ts';

/** What a history does to a landscape, and what is remembered of it to judge the end by. */
export interface Life {
  landscape: Landscape;
  /** What the history began with. */
  setting: History['setting'];
  lineage: Lineage;
  /** Objects that a person has made, changed the last word of, or removed, by id. */
  madeByPeople: Set<string>;
  removedByPeople: Set<string>;
  /** Archived cards that the answer to a conflict restores, also beside another card of the same key. */
  restoredByDecision: Set<string>;
  /** Keys of things of which a person has removed a side or merged it into another. */
  touchedKeys: Set<string>;
  /** Cards and records that a run which is taken back has made: they may go with it. */
  unmade: Set<string>;
  /** Keys of all such things: they were on both sides, and may come back. */
  unmadeKeys: Set<string>;
  /** Records of which both sides agree on what they agreed on before a run that was taken back. */
  agreedBefore: Set<string>;
  /** Cards and records that were taken apart, with the values they must keep. */
  frozen: Map<string, Record<Path, string | null>>;
  faults: string[];
  /** What happened, for the reader of a failure. */
  log: string[];
}

/** Does what a person does. */
export type People = (act: PersonAct, inRun: boolean) => Promise<void>;

/** Both sides before something is done to them by the engine. */
export type Before = Record<Side, Shown[]>;

export const tokens = ({ fields }: Shown): Record<Path, string | null> =>
  Object.fromEntries(PATHS.map((path) => [path, tokenOf(path, fields[path] ?? null)]));

/** What the engine may not have done, whatever its plan was. */
export async function judgeChanges(life: Life, before: Before): Promise<void> {
  const { landscape, faults } = life;
  for (const side of ['local', 'remote'] as const) {
    const after = await landscape.shown(side);
    const known = new Set(before[side].map(({ id }) => id));
    for (const made of after) {
      if (known.has(made.id) || life.madeByPeople.has(made.id)) continue;
      if (life.restoredByDecision.has(made.id)) continue;
      const double = after.find(({ id, fields }) => id !== made.id && fields[KEY] === made.fields[KEY]);
      if (double && !life.frozen.has(double.id)) {
        faults.push(`${made.id} was made beside ${double.id} of the same key`);
      }
    }
    const there = new Map(after.map((one) => [one.id, one]));
    for (const one of before[side]) {
      if (!there.has(one.id) && !life.removedByPeople.has(one.id)) judgeRemoval(life, one);
    }
    for (const one of after) {
      const frozen = life.frozen.get(one.id);
      if (frozen && JSON.stringify(frozen) !== JSON.stringify(tokens(one))) {
        faults.push(`${one.id} was taken apart and is written nevertheless`);
      }
    }
  }
}

function judgeRemoval(life: Life, one: Shown): void {
  const mode = life.landscape.mapping.sync_mode;
  if (life.unmade.has(one.id)) return;
  if (!life.touchedKeys.has(String(one.fields[KEY]))) {
    life.faults.push(`${one.id} was removed though nobody removed its counterpart`);
  }
  if (mode === 'additive') life.faults.push(`${one.id} was removed by a mapping that removes nothing`);
  if (mode === 'conservative' && life.madeByPeople.has(one.id)) {
    life.faults.push(`${one.id} was removed by a mapping that only removes what it has made`);
  }
  if (life.frozen.has(one.id)) life.faults.push(`${one.id} was taken apart and is removed nevertheless`);
}
