import { query, unlessTaken } from '../../../platform/database.ts';
import { EstateError, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, seesCosts } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { loadSettings } from '../../kernel/settings/settings.read.ts';
import { lockCard } from '../cards/cards.load.ts';
import { EDIT } from '../cards/cards.write.ts';
import { requireManage, seesRelationCosts } from '../relations/relations.admit.ts';
import { lockRelation } from '../relations/relations.load.ts';
import type { NamedEnd } from '../relations/relations.save.ts';
import { type CostOwner, costEvent } from './costs.attached.ts';
import { writtenCost } from './costs.list.ts';
import { COSTS_TOPIC, Cost, type CostInput, type CostRow, MAX_COSTS } from './costs.model.ts';
import { costErrors } from './costs.rules.ts';
import { refreshCardCosts, refreshRelationCosts } from './costs.sums.ts';

/** A locked card or relation whose costs the caller may write. */
interface LockedOwner extends CostOwner {
  /** The column that refers to it. */
  key: Pick<CostRow, 'card_id' | 'relation_id'>;
  /** Writes the sum of its costs. */
  refresh(): Promise<void>;
}

/** @throws EstateError `not_found`, `forbidden` without the right to edit the card and to see its costs. */
async function lockCardOwner(work: Work, ctx: Ctx, id: string): Promise<LockedOwner> {
  const card = await lockCard(work, { ...ctx, ifMatch: undefined }, id, EDIT);
  if (!seesCosts(ctx, card)) throw forbidden('costs.view');
  return {
    card,
    key: { card_id: card.id, relation_id: null },
    refresh: () => refreshCardCosts(work, ctx, [card.id]),
  };
}

/** @throws EstateError `not_found`, `forbidden` without the right to change the relation and to see its costs. */
async function lockRelationOwner(work: Work, ctx: Ctx, id: string): Promise<LockedOwner> {
  const { relation, source, target } = await lockRelation(work, ctx, id);
  requireManage(ctx, source, target);
  if (!seesRelationCosts(ctx, source, target)) throw forbidden('costs.view');
  const ends = new Map<string, NamedEnd>([source, target].map((end) => [end.id, end]));
  return {
    card: source,
    target,
    key: { card_id: null, relation_id: relation.id },
    refresh: () => refreshRelationCosts(work, ctx, [relation.id], ends),
  };
}

const lockOwner = { card: lockCardOwner, relation: lockRelationOwner } as const;

/** A cost of a request; it is in the currency of the workspace unless it names another one. */
export type NewCost = Pick<CostInput, 'kind' | 'period_start' | 'period_end' | 'amount'> &
  Partial<Pick<CostInput, 'currency' | 'description' | 'external_id'>>;

/**
 * Adds a cost to a card or a relation, and updates its annual cost.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed`, `external_id_taken`, `limit_reached`.
 */
export async function addCost(
  ctx: Ctx,
  what: 'card' | 'relation',
  ownerId: string,
  input: NewCost,
): Promise<{ id: string; text: JsonText }> {
  return await command(ctx, async (work) => {
    const owner = await lockOwner[what](work, ctx, ownerId);
    const { values: settings } = await loadSettings(work.sql);
    const values = {
      ...owner.key,
      ...input,
      currency: input.currency ?? settings.currency,
      description: input.description ?? null,
      external_id: input.external_id ?? null,
    };
    const errors = costErrors(settings, values);
    if (errors.length > 0) throw invalidFields(errors);
    await requireRoom(work, owner);
    const row = await guardExternalId(values.external_id, insertRow(work.sql, Cost, values));
    await record(work, owner, null, row);
    return { id: row.id, text: await writtenCost(work.sql, row.id) };
  });
}

/**
 * Changes the given members of a cost, and updates the annual cost.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`, `external_id_taken`.
 */
export async function patchCost(ctx: Ctx, id: string, input: Partial<CostInput>): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { owner, row } = await lockCost(work, ctx, id);
    const { values: settings } = await loadSettings(work.sql);
    const errors = costErrors(settings, { ...row, ...input }, row);
    if (errors.length > 0) throw invalidFields(errors);
    const changed = differingMembers<CostRow>(row, input);
    if (Object.keys(changed).length > 0) {
      const write = updateRow(work.sql, Cost, { id: row.id }, changed);
      await record(work, owner, row, await guardExternalId(input.external_id, write));
    }
    return await writtenCost(work.sql, row.id);
  });
}

/** Deletes a cost, and updates the annual cost. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteCost(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { owner, row } = await lockCost(work, ctx, id);
    await deleteRows(work.sql, Cost, (rows) => rows.where({ id: row.id }));
    await record(work, owner, row, null);
  });
}

/** A cost with its card or relation, all locked. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
async function lockCost(work: Work, ctx: Ctx, id: string): Promise<{ owner: LockedOwner; row: CostRow }> {
  const known = await work.sql('costs').where({ id }).first('card_id', 'relation_id');
  if (!known) throw notFound('cost', id);
  const locked = known.card_id
    ? lockCardOwner(work, ctx, known.card_id)
    : lockRelationOwner(work, ctx, known.relation_id);
  const owner = await locked.catch((error: unknown) => {
    throw error instanceof EstateError && error.code === 'not_found' ? notFound('cost', id) : error;
  });
  const row = await lockRow(work.sql, Cost, { id: id.toLowerCase() });
  // a merge may have moved it in the meantime
  if (!row || row.card_id !== owner.key.card_id || row.relation_id !== owner.key.relation_id) {
    throw notFound('cost', id);
  }
  if (ctx.ifMatch) checkIfMatch(ctx, await writtenCost(work.sql, row.id));
  return { owner, row };
}

/** Emits the event of a write after updating the sum, because an undo runs backwards. */
async function record(
  work: Work,
  owner: LockedOwner,
  before: CostRow | null,
  after: CostRow | null,
): Promise<void> {
  await owner.refresh();
  work.emit(costEvent(owner, before, after));
  work.raise(COSTS_TOPIC);
}

/** @throws EstateError `limit_reached`. */
async function requireRoom({ sql }: Work, { key }: LockedOwner): Promise<void> {
  const n = await query(sql).value<number>`select count(*)::int from costs
    where card_id = ${key.card_id}::uuid or relation_id = ${key.relation_id}::uuid`;
  if (n >= MAX_COSTS) {
    throw new EstateError('limit_reached', `A card or relation can have at most ${MAX_COSTS} costs.`);
  }
}

/** Awaits a write. @throws EstateError `external_id_taken`. */
const guardExternalId = <T>(externalId: string | null | undefined, write: Promise<T>): Promise<T> =>
  unlessTaken(
    write,
    () => new EstateError('external_id_taken', `A cost with the external id ${externalId} exists.`),
    'costs_external_id',
  );
