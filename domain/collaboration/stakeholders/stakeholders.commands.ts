import Type from 'typebox';
import { fragment, unlessTaken } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import {
  loadCards,
  lockCards,
  requireCard,
  type StoredCard,
  typeOf,
} from '../../inventory/cards/cards.load.ts';
import { rescoreCards } from '../../inventory/cards/cards.save.ts';
import { labelsIn } from '../../inventory/metamodel/metamodel.list.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import { defineLabelled, defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import {
  forbidden,
  OBSERVER,
  requireOnCard,
  seesCosts,
  showsCosts,
} from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { asPartOf, ofVisibleCard, requireVisibleCard } from '../cards.access.ts';
import { Stakeholder, type StakeholderRow } from '../collaboration.model.ts';
import { requireActiveUser, type WrittenItem } from '../items.ts';

/** Who holds which role on a card. */
export const stakeholderList = defineList({
  name: 'stakeholders',
  permission: 'stakeholders.view',
  from: `stakeholders s join users u on u.id = s.user_id join cards k on k.id = s.card_id
         left join stakeholder_role_definitions d on d.card_type_key = k.type and d.key = s.role`,
  id: 's.id',
  sorts: {
    ...columnSorts('s', Stakeholder, 'role', 'created_at'),
    user_display_name: { sql: 'fold(u.display_name)', type: 'text' },
  },
  defaultSort: 'role',
  search: "fold(u.display_name || ' ' || u.email)",
  members: {
    ...columnMembers('s', Stakeholder),
    user_display_name: 'u.display_name',
    user_email: 'u.email',
    role_label: 'coalesce(d.label, s.role)',
  },
  where: ofVisibleCard('s.card_id'),
});

/** The label of a role on cards of the type; its key where the type no longer has the role. */
function roleLabel(type: CardType, role: string): string {
  return type.stakeholderRoles.find(({ key }) => key === role)?.label ?? role;
}

/**
 * The event of one assignment: added without `before`, removed without `after`, else its role was changed.
 * @param name the display name of the user.
 */
export function stakeholderEvent(
  card: { id: string; name: string },
  type: CardType,
  name: string,
  before: StakeholderRow | null,
  after: StakeholderRow | null,
): EventDraft {
  const { id, user_id, role } = (after ?? before)!;
  const label = roleLabel(type, role);
  const [event_type, summary] =
    before === null
      ? (['stakeholder.added', `${name} is ${label}`] as const)
      : after === null
        ? (['stakeholder.removed', `${name} is no longer ${label}`] as const)
        : ([
            'stakeholder.role_changed',
            `${name} is ${label}, no longer ${roleLabel(type, before.role)}`,
          ] as const);
  return {
    event_type,
    card_id: card.id,
    card_type: type.key,
    data: {
      id,
      stakeholder_id: id,
      card_name: card.name,
      user_id,
      user_display_name: name,
      role,
      role_label: label,
      summary,
      changes: rowChanges(before, after),
    },
  };
}

/**
 * The roles that can be given on cards of shown types, each once by its key, as the first type in order names it; or
 * those of one type.
 */
export const stakeholderRoleList = defineLabelled((language) => {
  const label = labelsIn(language).text('d', 'label');
  return defineList({
    name: 'stakeholder-roles',
    from: 'stakeholder_role_definitions d join card_types t on t.key = d.card_type_key',
    id: 'd.id',
    sorts: {
      sort_order: { sql: 'd.sort_order', type: 'numeric' },
      label: { sql: `fold(${label})`, type: 'text' },
      key: { sql: 'd.key', type: 'text', immutable: true },
    },
    defaultSort: 'sort_order',
    filters: { type_key: [Type.String({ minLength: 1, maxLength: 100 }), 'd.card_type_key = ?'] },
    search: `fold(d.key || ' ' || ${label})`,
    members: { key: 'd.key', label, translations: 'd.translations' },
    where({ metamodel }, { type_key }) {
      if (type_key !== undefined && !metamodel.cardTypes.has(type_key)) {
        throw invalidField('type_key', 'unknown_value', `"${type_key}" is not known`);
      }
      const given = fragment`not d.is_archived and not t.is_hidden`;
      const first = fragment`not exists (
        select from stakeholder_role_definitions o join card_types p on p.key = o.card_type_key
        where o.key = d.key and not o.is_archived and not p.is_hidden
          and (p.sort_order, p.key) < (t.sort_order, t.key))`;
      return type_key === undefined ? [given, first] : [given];
    },
  });
});

const MANAGE = { app: 'stakeholders.manage', card: 'card.manage_stakeholders' } as const;

/**
 * Gives a user a role on a card, and recomputes the card's data quality. Only callers who see the card's costs may give a role
 * that shows them.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed`, `duplicate_stakeholder`.
 */
export async function addStakeholder(
  ctx: Ctx,
  cardId: string,
  input: { user_id: string; role: string },
): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const card = await lockedCard(work, ctx, cardId);
    requireOnCard(ctx, MANAGE, card);
    requireRole(work, card, input.role);
    requireSeenCosts(ctx, card, input.role);
    const user = await requireActiveUser(work.sql, input.user_id, 'user_id');
    return await assign(work, ctx, card, user, input.role);
  });
}

/** Writes an assignment after all checks. @throws EstateError `duplicate_stakeholder`. */
async function assign(
  work: Work,
  ctx: Ctx,
  card: StoredCard,
  user: { id: string; display_name: string },
  role: string,
): Promise<WrittenItem> {
  const write = insertRow(work.sql, Stakeholder, { card_id: card.id, user_id: user.id, role });
  const row = await unlessTaken(write, alreadyAssigned);
  await emitStakeholder(work, ctx, card, user.display_name, null, row);
  return { id: row.id, text: (await findItem(work.sql, stakeholderList, row.id))! };
}

/**
 * Changes the role of an assignment by the rules of giving one. `user_id` may be sent, but must be unchanged.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`, `duplicate_stakeholder`.
 */
export async function changeStakeholder(
  ctx: Ctx,
  id: string,
  input: { role: string; user_id?: string },
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { card, row, name } = await lockedAssignment(work, ctx, id);
    if (input.user_id !== undefined && input.user_id.toLowerCase() !== row.user_id) {
      const message = 'cannot be changed; remove the assignment and create another';
      throw invalidField('user_id', 'immutable', message);
    }
    if (input.role !== row.role) {
      requireRole(work, card, input.role);
      requireSeenCosts(ctx, card, input.role);
      const write = updateRow(work.sql, Stakeholder, { id: row.id }, { role: input.role });
      const after = await unlessTaken(write, alreadyAssigned);
      await emitStakeholder(work, ctx, card, name, row, after);
    }
    return (await findItem(work.sql, stakeholderList, row.id))!;
  });
}

/** Takes a role from its holder. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function removeStakeholder(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { card, row, name } = await lockedAssignment(work, ctx, id);
    await unassign(work, ctx, card, name, row);
  });
}

/** Deletes an assignment whose card is locked. */
async function unassign(
  work: Work,
  ctx: Ctx,
  card: StoredCard,
  name: string,
  row: StakeholderRow,
): Promise<void> {
  await deleteRows(work.sql, Stakeholder, (query) => query.where({ id: row.id }));
  await emitStakeholder(work, ctx, card, name, row, null);
}

/** A card of a visible type, locked because its score depends on its stakeholders. @throws EstateError `not_found`. */
async function lockedCard(work: Work, ctx: Ctx, id: string): Promise<StoredCard> {
  await lockCards(work, [id]);
  return requireCard(await loadCards(work, ctx, [id]), id);
}

async function lockedAssignment(work: Work, ctx: Ctx, id: string) {
  const known = await work.sql('stakeholders').where({ id }).first('card_id');
  if (!known) throw notFound('stakeholder', id);
  const card = await asPartOf('stakeholder', id, lockedCard(work, ctx, known.card_id));
  requireOnCard(ctx, MANAGE, card);
  const row = await lockRow(work.sql, Stakeholder, { id: id.toLowerCase() });
  // another transaction may have removed it before this one got the lock of the card
  if (!row) throw notFound('stakeholder', id);
  if (ctx.ifMatch) checkIfMatch(ctx, (await findItem(work.sql, stakeholderList, id))!);
  const user = await work.sql('users').where({ id: row.user_id }).first('display_name');
  return { card, row, name: user.display_name as string };
}

/** Emits the event of a written assignment, and updates what depends on it. */
export async function emitStakeholder(
  work: Work,
  ctx: Ctx,
  card: StoredCard,
  name: string,
  before: StakeholderRow | null,
  after: StakeholderRow | null,
): Promise<void> {
  const type = typeOf(work.metamodel, card);
  work.emit(stakeholderEvent(card, type, name, before, after));
  work.raise(cardsTopic(type.key));
  await rescoreCards(work, ctx, [card.id]);
  await work.extensions.stakeholdersChanged(work, type.key, [card.id]);
}

function requireRole(work: Work, card: StoredCard, role: string): void {
  const roles = typeOf(work.metamodel, card).stakeholderRoles.map(({ key }) => key);
  if (roles.includes(role)) return;
  const message = `is not a role on cards of the type ${card.type}: ${roles.join(', ')}`;
  throw invalidField('role', 'unknown_value', message);
}

function requireSeenCosts(ctx: Ctx, card: StoredCard, role: string): void {
  if (showsCosts(role) && !seesCosts(ctx, card)) throw forbidden('costs.view');
}

const alreadyAssigned = () =>
  new EstateError('duplicate_stakeholder', 'The user already has this role on the card.');

interface Observing {
  is_observer: boolean;
  /** Whether the card's type has the role. */
  observer_role_available: boolean;
}

/** Whether the caller follows a card as its observer. @throws EstateError `not_found`, `forbidden`. */
export async function readObserving(ctx: Ctx, cardId: string): Promise<Observing> {
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  return {
    is_observer: card.myRoles.includes(OBSERVER),
    observer_role_available: canObserve(ctx, card.type),
  };
}

/**
 * Follows a card that the caller sees.
 * @throws EstateError `not_found`, `forbidden`, `observer_role_unavailable`, `duplicate_stakeholder`.
 */
export async function observe(ctx: Ctx, cardId: string): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const visible = await requireVisibleCard(work.sql, ctx, cardId);
    if (!canObserve({ metamodel: work.metamodel }, visible.type)) {
      const detail = `Cards of the type ${visible.type} have no observers.`;
      throw new EstateError('observer_role_unavailable', detail);
    }
    const card = await lockedCard(work, ctx, visible.id);
    const user = { id: ctx.caller.userId!, display_name: ctx.caller.displayName };
    return await assign(work, ctx, card, user, OBSERVER);
  });
}

/** Stops following a card; writes nothing where the caller does not follow it. @throws EstateError `not_found`, `forbidden`. */
export async function stopObserving(ctx: Ctx, cardId: string): Promise<void> {
  await command(ctx, async (work) => {
    const visible = await requireVisibleCard(work.sql, ctx, cardId);
    const card = await lockedCard(work, ctx, visible.id);
    const where = { card_id: card.id, user_id: ctx.caller.userId!, role: OBSERVER };
    const row = await lockRow(work.sql, Stakeholder, where);
    if (row) await unassign(work, ctx, card, ctx.caller.displayName, row);
  });
}

function canObserve({ metamodel }: Pick<Ctx, 'metamodel'>, type: string): boolean {
  return metamodel.cardTypes.get(type)?.stakeholderRoles.some(({ key }) => key === OBSERVER) ?? false;
}
