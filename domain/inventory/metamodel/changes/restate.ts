import { queryRows } from '../../../../platform/database.ts';
import type { Work } from '../../../kernel/context.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import type { CardType, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { loadMetamodel } from '../../../kernel/metamodel/metamodel.store.ts';
import { loadCards } from '../../cards/cards.load.ts';
import { rescored } from '../../cards/cards.rows.ts';
import { saveCards } from '../../cards/cards.save.ts';
import { withHiddenTypes } from '../metamodel.hidden.ts';
import { requireChangeReach } from './changes.reach.ts';
import { type ChangeRun, LargeChange, workOf } from './changes.types.ts';
import { restateRelations } from './restate.relations.ts';
import { changesNothing, restatedAttributes, touchedRows, type ValueChanges } from './values.diff.ts';

/** What a change of the metamodel does to what is stored under one type. */
export interface StoredChanges {
  cards?: { type: string; values: ValueChanges; removedSubtypes: ReadonlySet<string> };
  relations?: { type: string; values: ValueChanges };
}

interface CardTask {
  type: CardType;
  /** Which of its cards are looked at, over the alias `c`. */
  where: Fragment;
  /** Of these, those whose values change. */
  touched: Fragment;
  values: ValueChanges | undefined;
  removedSubtypes: ReadonlySet<string>;
}

const CHUNK = 500;
const all: Fragment = { sql: 'true', bindings: [] };
const none: Fragment = { sql: 'false', bindings: [] };

/**
 * Brings cards and relations in line with the metamodel as it stands written in this transaction: values of fields
 * and options that are gone are taken away, values of changed fields converted, and the data quality of every type is
 * computed anew whose share of anything has changed. Nobody writes beside it, so nothing needs to be locked. Every
 * card and relation that changes has its event. From here on `work.metamodel` is the new one.
 * @returns how many cards and relations were looked at; a dry run only counts them.
 * @throws LargeChange when they are more than the run's limit; EstateError `forbidden` where the change leads to rights
 * that the caller does not hold.
 */
export async function restateInventory(
  run: ChangeRun,
  stored: StoredChanges = {},
): Promise<{ cards: number; relations: number }> {
  const { work } = run;
  const before = work.metamodel;
  const after = await loadMetamodel(work.sql);
  if (!run.dryRun) requireChangeReach(run.ctx, before, after);
  const tasks = cardTasks(before, after, stored.cards);
  const relationTask =
    stored.relations && !changesNothing(stored.relations.values)
      ? { ...stored.relations, where: touchedRows('r', stored.relations.values) }
      : undefined;
  const counts = {
    cards: await countCards(work, tasks),
    relations: relationTask ? await countRelations(work, relationTask.type, relationTask.where) : 0,
  };
  const total = counts.cards + counts.relations;
  if (!run.dryRun && total > run.limit) throw new LargeChange(total);
  if (!run.dryRun && total > 0) {
    const writing: Work = { ...(await workOf(run, total)), metamodel: transitional(before, after) };
    let done = 0;
    const step = async (rows: number) => {
      await run.held?.flush();
      done += rows;
      run.progress(done, total);
    };
    for (const task of run.deferred ? later(tasks, run.deferred) : tasks) {
      await restateCards(run, writing, task, step);
    }
    if (relationTask) await restateRelations(run, writing, relationTask, step);
  }
  work.metamodel = after;
  return counts;
}

function cardTasks(before: Metamodel, after: Metamodel, stored: StoredChanges['cards']): CardTask[] {
  return [...after.cardTypes.values()].flatMap((type): CardTask[] => {
    const old = before.cardTypes.get(type.key);
    if (!old) return [];
    const own = stored?.type === type.key ? stored : undefined;
    const removedSubtypes = own?.removedSubtypes ?? new Set<string>();
    const touched = own ? touchedCards(own.values, removedSubtypes) : none;
    const scores = scoring(old) !== scoring(type);
    if (!scores && touched === none) return [];
    return [{ type, values: own?.values, removedSubtypes, touched, where: scores ? all : touched }];
  });
}

/** Cards whose values or subtype change. */
function touchedCards(values: ValueChanges, removedSubtypes: ReadonlySet<string>): Fragment {
  if (changesNothing(values) && removedSubtypes.size === 0) return none;
  const touched = touchedRows('c', values);
  return {
    sql: `${touched.sql} or c.subtype = any(?::text[])`,
    bindings: [...touched.bindings, [...removedSubtypes]],
  };
}

/** The tasks without the cards that are only scored anew, whose types are noted. */
function later(tasks: CardTask[], deferred: string[]): CardTask[] {
  return tasks.map((task) => {
    if (task.where !== all) return task;
    deferred.push(task.type.key);
    return { ...task, where: task.touched };
  });
}

/** All of a type that its cards' data quality is made of. */
function scoring(type: CardType): string {
  return JSON.stringify([
    [...type.fields.values()]
      .filter(({ weight }) => weight > 0)
      .map(({ key, weight }) => [key, weight])
      .sort(),
    [...type.hiddenFields].map(([subtype, fields]) => [subtype, [...fields].sort()]).sort(),
    Object.entries(type.section_config.__dataQuality ?? {}).sort(),
    type.mandatoryRelations.map(({ relationType, side }) => `${relationType}/${side}`).sort(),
    type.mandatoryTagGroups.map(({ id }) => id).sort(),
    type.stakeholderRoles.map(({ key }) => key).sort(),
  ]);
}

/**
 * The new metamodel as writing under it needs it: cards of hidden types are written too, and what was a cost stays
 * one in the events of its removal.
 */
function transitional(before: Metamodel, after: Metamodel): Metamodel {
  const withCosts = <T extends { key: string; costKeys: string[] }>(
    types: ReadonlyMap<string, T>,
    old: ReadonlyMap<string, T>,
  ) =>
    new Map(
      [...types].map(([key, type]) => [
        key,
        { ...type, costKeys: [...new Set([...type.costKeys, ...(old.get(key)?.costKeys ?? [])])] },
      ]),
    );
  return {
    ...withHiddenTypes(after),
    cardTypes: withCosts(after.cardTypes, before.cardTypes),
    relationTypes: withCosts(after.relationTypes, before.relationTypes),
  };
}

async function countCards({ sql }: Work, tasks: CardTask[]): Promise<number> {
  let total = 0;
  for (const { type, where } of tasks) {
    const rows = await queryRows<{ total: number }>(
      sql,
      `select count(*) as total from cards c where c.type = ? and (${where.sql})`,
      [type.key, ...where.bindings],
    );
    total += rows[0]!.total;
  }
  return total;
}

async function countRelations({ sql }: Work, type: string, where: Fragment): Promise<number> {
  const rows = await queryRows<{ total: number }>(
    sql,
    `select count(*) as total from relations r where r.type = ? and (${where.sql})`,
    [type, ...where.bindings],
  );
  return rows[0]!.total;
}

async function restateCards(
  { ctx }: ChangeRun,
  writing: Work,
  task: CardTask,
  step: (rows: number) => Promise<void>,
): Promise<void> {
  const { type, where, values, removedSubtypes } = task;
  if (where === none) return;
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await queryRows<{ id: string }>(
      writing.sql,
      `select c.id from cards c where c.type = ? and c.id > ?::uuid and (${where.sql}) order by c.id limit ${CHUNK}`,
      [type.key, last, ...where.bindings],
    );
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    const cards = await loadCards(writing, ctx, ids);
    // nobody has changed their content by hand, so approvals stay
    const writes = [...cards.values()].map((before) => {
      const gone = before.subtype !== null && removedSubtypes.has(before.subtype);
      const attributes = values ? restatedAttributes(before.attributes, values) : before.attributes;
      const after = { ...before, attributes, subtype: gone ? null : before.subtype };
      return { before, after: rescored(type, after) };
    });
    await saveCards(writing, ctx, writes);
    await step(ids.length);
    if (ids.length < CHUNK) return;
    last = ids.at(-1)!;
  }
}
