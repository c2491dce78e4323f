import { embed, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import {
  type CardForPolicy,
  type CardRight,
  mayOnCard,
  requireOnCard,
} from '../../kernel/permissions/policy.ts';
import { lockCalculationsOf } from '../calculations/calculations.lock.ts';
import { cardMembers } from './cards.projection.ts';
import type { CardState } from './rules/diff.ts';
import type { FilledSlots } from './rules/quality.ts';

// Above 7203001 (feed) to 7203005, so that locks of different purposes never collide.
const HIERARCHY_LOCK = 7203010;

/**
 * Locks the hierarchy until the transaction ends; acquired before any row lock. Commands that move, archive, restore or
 * delete cards lock it `exclusive`: ancestors and descendants read afterwards do not change, so concurrent moves cannot
 * create a cycle. Commands that only add cards below existing ones lock it `shared`.
 */
export async function lockHierarchy(sql: Sql, mode: 'shared' | 'exclusive'): Promise<void> {
  await query(sql)
    .run`select pg_advisory_xact_lock${embed(mode === 'shared' ? '_shared' : '')}(${embed(HIERARCHY_LOCK)})`;
}

/**
 * Locks card rows in the order of their ids, so that concurrent commands do not deadlock.
 * @param strength `update` to delete the cards; `share` prevents changes by others but can be shared by several
 * transactions.
 */
export async function lockCards(
  work: Pick<Work, 'sql' | 'metamodel'>,
  ids: Iterable<string>,
  strength: 'update' | 'no key update' | 'share' = 'no key update',
): Promise<void> {
  const wanted = [...ids];
  if (wanted.length === 0) return;
  await lockCalculationsOf(work, wanted);
  await query(work.sql).run`select from cards where id = any(${wanted}::uuid[])
    order by id for ${embed(strength)}`;
}

/** A card with the data that is needed to write it. */
export interface StoredCard extends CardState, CardForPolicy {
  /** The id of the operation that archived it. */
  archive_batch_id: string | null;
  filled: FilledSlots;
  /** Sums of rows in other tables, by the key of the attribute that shows them; null for no rows. */
  sums?: Readonly<Record<string, number | null>>;
}

interface LoadedRow extends Omit<StoredCard, 'filled' | 'myRoles'> {
  my_roles: string[];
  roles: string[];
  tag_groups: string[];
  relations: string[];
}

/**
 * Reads cards to be written; ids that do not exist or are of a hidden type are omitted. Call it in a statement after
 * `lockCards`: a statement that waited for the lock itself would see related rows as they were before.
 */
export async function loadCards(
  { sql, metamodel }: { sql: Sql; metamodel: Metamodel },
  ctx: Ctx,
  ids: Iterable<string>,
): Promise<Map<string, StoredCard>> {
  const rows = await query(sql).rows<LoadedRow>`select c.id, c.number, c.type, c.subtype, c.name, c.alias,
    c.description, c.parent_id, c.lifecycle, c.attributes,
       c.status, c.approval_status, c.data_quality, c.external_id, utc(c.archived_at) as archived_at,
       c.archive_batch_id, case when c.type = 'Initiative' then ppm_sums(c.id) else '{}' end
         || case when exists (select from costs k where k.card_id = c.id) then cost_sums(c.id, null)
            else '{}' end as sums,
       array(select s.role from stakeholders s
       where s.card_id = c.id and s.user_id = ${ctx.caller.userId}::uuid) as my_roles,
       array(select distinct s.role from stakeholders s where s.card_id = c.id) as roles,
       array(select distinct t.tag_group_id from card_tags k join tags t on t.id = k.tag_id
             where k.card_id = c.id)::text[] as tag_groups,
       array(select distinct r.type || '/source' from relations r
             where r.source_id = c.id and r.type = any(${mandatoryTypes(metamodel, 'source')}::text[])
             union all
             select distinct r.type || '/target' from relations r
             where r.target_id = c.id
             and r.type = any(${mandatoryTypes(metamodel, 'target')}::text[])) as relations
     from cards c where c.id = any(${[...ids]}::uuid[]) and c.type = any(${metamodel.visibleTypes}::text[])`;
  return new Map(
    rows.map(({ my_roles, roles, tag_groups, relations, ...card }) => [
      card.id,
      {
        ...card,
        myRoles: my_roles,
        filled: { roles: new Set(roles), tagGroups: new Set(tag_groups), relations: new Set(relations) },
      },
    ]),
  );
}

/** Locks a card to which a record refers. @returns undefined if it does not exist or the caller may not see it. */
export async function lockReferredCard(work: Work, ctx: Ctx, id: string): Promise<StoredCard | undefined> {
  await lockCards(work, [id], 'share');
  const card = (await loadCards(work, ctx, [id])).get(id);
  return card && mayOnCard(ctx, { app: 'inventory.view', card: 'card.view' }, card) ? card : undefined;
}

/** Keys of the relation types that are mandatory on the side for some card type. */
export function mandatoryTypes(metamodel: Metamodel, side: 'source' | 'target'): string[] {
  return [...metamodel.cardTypes.values()].flatMap((type) =>
    type.mandatoryRelations.filter((slot) => slot.side === side).map((slot) => slot.relationType),
  );
}

/** One of the loaded cards. @throws EstateError `not_found`. */
export function requireCard(cards: Map<string, StoredCard>, id: string): StoredCard {
  const card = cards.get(id.toLowerCase());
  if (!card) throw notFound('card', id);
  return card;
}

/** Locks one card, and loads it as {@link loadChangeable}. */
export async function lockCard(work: Work, ctx: Ctx, id: string, right: CardRight): Promise<StoredCard> {
  await lockCards(work, [id]);
  return await loadChangeable(work, ctx, id, right);
}

/**
 * Loads one card on which the caller has the right and whose state matches `If-Match`.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`.
 */
export async function loadChangeable(
  work: Work,
  ctx: Ctx,
  id: string,
  right: CardRight,
): Promise<StoredCard> {
  const card = requireCard(await loadCards(work, ctx, [id]), id);
  requireOnCard(ctx, right, card);
  if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, card.id));
  return card;
}

/** The type of a loaded card; it always exists. */
export function typeOf(metamodel: Metamodel, card: { type: string }): CardType {
  return metamodel.cardTypes.get(card.type)!;
}

/**
 * The JSON text of a written card, in the form that reads return: a caller who may write a card gets it even without
 * the right to view cards.
 */
export const writtenCard = (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(sql, { from: 'cards c', id: 'c.id', members: cardMembers(ctx) }, 'card', id);
