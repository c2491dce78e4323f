import { embed, fragment, query } from '../../../../platform/database.ts';
import type { Work } from '../../../kernel/context.ts';
import { enqueueJob } from '../../../kernel/jobs/jobs.enqueue.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import { isRemovalDue } from '../../../kernel/metamodel/deprecations.ts';
import type { CardType, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { loadMetamodel } from '../../../kernel/metamodel/metamodel.store.ts';
import { loadCards } from '../../cards/cards.load.ts';
import { rescored } from '../../cards/cards.rows.ts';
import { saveCards } from '../../cards/cards.save.ts';
import { loadRelations } from '../../relations/relations.load.ts';
import type { StoredRelation } from '../../relations/relations.model.ts';
import { type NamedEnd, saveRelations } from '../../relations/relations.save.ts';
import { withHiddenTypes } from '../metamodel.hidden.ts';
import { announcesMore, removalNoticesJob } from '../notices/notices.job.ts';
import { breaks, consumersOf, inUse } from '../usage/consumers.ts';
import { partsBrokenBy } from '../usage/parts.ts';
import { type ChangeRun, changeWork, LargeChange, requireChangeRights } from './changes.types.ts';
import {
  changesNothing,
  convertAttributes,
  countRows,
  touchedRows,
  type ValueChanges,
} from './values.diff.ts';

/** The effect of a change of the metamodel on the stored data of one type. */
export interface StoredChanges {
  cards?: { type: string; values: ValueChanges; removedSubtypes: ReadonlySet<string> };
  relations?: { type: string; values: ValueChanges };
}

interface CardTask {
  type: CardType;
  /** Which of its cards are checked, over the alias `t`. */
  where: Fragment;
  /** Of these, those whose values change. */
  touched: Fragment;
  values: ValueChanges | undefined;
  removedSubtypes: ReadonlySet<string>;
}

const CHUNK = 500;
const all: Fragment = fragment`true`;
const none: Fragment = fragment`false`;

/**
 * Updates cards and relations to the metamodel as it is written in this transaction: values of removed fields and
 * options are deleted, values of changed fields converted, and data quality is recomputed for every type whose weights
 * have changed. The exclusive metamodel lock blocks other writers, so rows need not be locked. Every changed card and
 * relation has its event. From here on `work.metamodel` is the new one.
 * @returns how many cards and relations were checked; a dry run only counts them.
 * @throws LargeChange if they exceed the run's limit; EstateError `in_use` if it breaks consumers, `forbidden` if the change grants rights that the
 * caller does not have.
 */
export async function updateInventory(
  run: ChangeRun,
  stored: StoredChanges = {},
): Promise<{ cards: number; relations: number }> {
  const { work } = run;
  const before = work.metamodel;
  const after = await loadMetamodel(work.sql);
  await findBroken(run, before, after);
  if (breaks(run.unannounced) && !run.force && !run.dryRun) throw inUse(run.unannounced);
  if (announcesMore(before, after)) await enqueueJob(run.ctx, work, removalNoticesJob, {});
  if (!run.dryRun) {
    requireChangeRights(run.ctx, before, after);
    await hideNewCosts(work, before, after);
  }
  const tasks = cardTasks(before, after, stored.cards);
  const relationTask =
    stored.relations && !changesNothing(stored.relations.values)
      ? { ...stored.relations, where: touchedRows(stored.relations.values) }
      : undefined;
  const counts = { cards: 0, relations: 0 };
  for (const { type, where } of tasks) {
    counts.cards += await countRows({ work }, { table: 'cards', type: type.key }, where);
  }
  if (relationTask) {
    const { type, where } = relationTask;
    counts.relations = await countRows({ work }, { table: 'relations', type }, where);
  }
  const total = counts.cards + counts.relations;
  if (!run.dryRun && total > run.limit) throw new LargeChange(total);
  if (!run.dryRun && total > 0) {
    const writing: Work = { ...(await changeWork(run, total)), metamodel: transitional(before, after) };
    let done = 0;
    const step = async (rows: number) => {
      await run.held?.flush();
      done += rows;
      run.progress(done, total);
    };
    for (const task of run.deferred ? later(tasks, run.deferred) : tasks) {
      await convertCards(run, writing, task, step);
    }
    if (relationTask) await convertRelations(run, writing, relationTask, step);
  }
  work.metamodel = after;
  return counts;
}

/** Finds the consumers that a change breaks, and those that it breaks before the announced day. */
async function findBroken(run: ChangeRun, before: Metamodel, after: Metamodel): Promise<void> {
  const parts = partsBrokenBy(before, after);
  const due = new Set([...parts].filter((path) => isRemovalDue(before, path)));
  const { ctx, work } = run;
  run.broken = await consumersOf(ctx, work.sql, before, parts);
  run.unannounced =
    due.size > 0 && breaks(run.broken) ? await consumersOf(ctx, work.sql, before, parts, due) : run.broken;
}

/** Marks the values of fields that become costs in the events so far, so that who may not see costs does not read them there. */
async function hideNewCosts(work: Work, before: Metamodel, after: Metamodel): Promise<void> {
  const kinds = [
    ['relation_id is null and card_type', before.cardTypes, after.cardTypes],
    ['relation_type', before.relationTypes, after.relationTypes],
  ] as const;
  for (const [ofType, old, types] of kinds)
    for (const { key, costKeys } of types.values()) {
      const known = old.get(key)?.costKeys ?? costKeys;
      const added = costKeys.filter((cost) => !known.includes(cost)).map((cost) => `attributes.${cost}`);
      if (added.length === 0) continue;
      await query(work.sql).run`update events
        set cost_keys = array(select distinct k from unnest(cost_keys || ${added}::text[]) k order by k)
        where ${embed(ofType)} = ${key} and jsonb_exists_any(data -> 'changes', ${added}::text[])`;
    }
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
  return fragment`${embed(touchedRows(values))} or t.subtype = any(${[...removedSubtypes]}::text[])`;
}

/** The tasks without the cards whose data quality alone changes; their types are recorded. */
function later(tasks: CardTask[], deferred: string[]): CardTask[] {
  return tasks.map((task) => {
    if (task.where !== all) return task;
    deferred.push(task.type.key);
    return { ...task, where: task.touched };
  });
}

/** The parts of a type that determine its cards' data quality. */
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
 * The new metamodel for writing: cards of hidden types are written too, and a former cost remains a cost in the events
 * of its removal.
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

async function convertCards(
  { ctx }: ChangeRun,
  writing: Work,
  task: CardTask,
  step: (rows: number) => Promise<void>,
): Promise<void> {
  const { type, where, values, removedSubtypes } = task;
  if (where === none) return;
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const ids = await query(writing.sql).column<string>`select t.id from cards t
      where t.type = ${type.key} and t.id > ${last}::uuid and (${embed(where)}) order by t.id
      limit ${embed(CHUNK)}`;
    if (ids.length === 0) return;
    const cards = await loadCards(writing, ctx, ids);
    // No user has changed their content, so approvals remain.
    const writes = [...cards.values()].map((before) => {
      const gone = before.subtype !== null && removedSubtypes.has(before.subtype);
      const attributes = values ? convertAttributes(before.attributes, values) : before.attributes;
      const after = { ...before, attributes, subtype: gone ? null : before.subtype };
      return { before, after: rescored(type, after) };
    });
    await saveCards(writing, ctx, writes);
    await step(ids.length);
    if (ids.length < CHUNK) return;
    last = ids.at(-1)!;
  }
}

const RELATION_CHUNK = 1_000;

type Step = (rows: number) => Promise<void>;

/** Updates the attributes of the relations of a type, with an event for each changed one. */
async function convertRelations(
  { ctx }: ChangeRun,
  writing: Work,
  task: { type: string; values: ValueChanges; where: Fragment },
  step: Step,
): Promise<void> {
  await eachChunk(writing, task.type, task.where, async (relations, ends) => {
    const writes = relations.map((before) => ({
      before,
      after: { ...before, attributes: convertAttributes(before.attributes, task.values) },
    }));
    await saveRelations(writing, ctx, writes, ends);
    await step(relations.length);
  });
}

/** Deletes every relation of a type, with an event for each. */
export async function deleteInstances(
  { ctx }: ChangeRun,
  writing: Work,
  type: string,
  step: Step,
): Promise<void> {
  await eachChunk(writing, type, fragment`true`, async (relations, ends) => {
    const deletions = relations.map((before) => ({ before, after: null }));
    await saveRelations(writing, ctx, deletions, ends);
    await step(relations.length);
  });
}

async function eachChunk(
  { sql }: Work,
  type: string,
  where: Fragment,
  write: (relations: StoredRelation[], ends: Map<string, NamedEnd>) => Promise<void>,
): Promise<void> {
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const condition = fragment`t.type = ${type} and t.id > ${last}::uuid and (${embed(where)})`;
    const { relations, ends } = await loadRelations(sql, condition, RELATION_CHUNK);
    if (relations.length > 0) await write(relations, ends);
    if (relations.length < RELATION_CHUNK) return;
    last = relations.at(-1)!.id;
  }
}
