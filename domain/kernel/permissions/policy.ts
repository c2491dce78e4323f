import { EstateError } from '../../../platform/errors.ts';
import type { Caller, Ctx } from '../context.ts';
import type { AppPermission, CardPermission, TokenScope } from './permissions.data.ts';

/** Whether the caller holds the application permission. */
export function may(caller: Caller, permission: AppPermission): boolean {
  return caller.permissions === '*' || caller.permissions.has(permission);
}

/** Those of the permissions that the caller holds. */
export const heldOf = (caller: Caller, ...permissions: AppPermission[]): AppPermission[] =>
  permissions.filter((permission) => may(caller, permission));

/**
 * Whether the scopes of the presented token hold the scope. A right that comes from a role on a card, or from the caller's
 * own things, counts only within the scope of the application permission that the operation names for it.
 */
export function inScope({ scopes }: Caller, scope: TokenScope): boolean {
  return scopes === undefined || scopes.has(scope);
}

/** The caller's id as a holder of roles on cards, for conditions on `stakeholders`; null, which no row has, out of scope. */
export function holderWithin(caller: Caller, permission: AppPermission): string | null {
  return inScope(caller, permission) ? caller.userId : null;
}

/** @throws EstateError `forbidden` naming the scope. */
export function requireScope(caller: Caller, scope: TokenScope): void {
  if (inScope(caller, scope)) return;
  throw new EstateError('forbidden', `The scopes of the token do not include ${scope}.`, {
    extra: { permission: scope, missing_scope: scope },
  });
}

/** A refusal that names a permission, with the note that the scopes of the token do not include it where that is so. */
export function withMissingScope(caller: Caller, error: EstateError): EstateError {
  const { permission, missing_scope: known } = error.extra;
  if (error.code !== 'forbidden' || typeof permission !== 'string' || known !== undefined) return error;
  if (inScope(caller, permission as TokenScope)) return error;
  const detail = `${error.message} The scopes of the token do not include ${permission}.`;
  return new EstateError('forbidden', detail, { extra: { ...error.extra, missing_scope: permission } });
}

/** The refusal that names the missing permission; `more` are further members of its problem document. */
export function forbidden(permission: string, more: Record<string, unknown> = {}): EstateError {
  return new EstateError('forbidden', `You need the permission ${permission}.`, {
    extra: { permission, ...more },
  });
}

/** @throws EstateError `forbidden` naming the permission. */
export function requirePermission(caller: Caller, permission: AppPermission): void {
  if (!may(caller, permission)) throw forbidden(permission);
}

export interface CardRight {
  app: AppPermission;
  card: CardPermission;
}

/**
 * The card rights that stakeholder roles give on one card.
 * `roles` are the keys of the roles that the caller holds on the card, `type` is the card's type.
 */
export function cardRights(ctx: Ctx, type: string, roles: string[]): Set<string> {
  const held = new Set<string>();
  for (const definition of ctx.metamodel.cardTypes.get(type)?.stakeholderRoles ?? []) {
    if (roles.includes(definition.key)) for (const key of definition.permissions) held.add(key);
  }
  return held;
}

/** A card as far as deciding about it goes. */
export interface CardForPolicy {
  id: string;
  type: string;
  /** Keys of the stakeholder roles that the caller holds on it. */
  myRoles: string[];
}

/** Whether the application permission, or a stakeholder role on the card, allows it. */
export function mayOnCard(ctx: Ctx, right: CardRight, card: CardForPolicy): boolean {
  if (may(ctx.caller, right.app)) return true;
  return inScope(ctx.caller, right.app) && cardRights(ctx, card.type, card.myRoles).has(right.card);
}

/** @throws EstateError `forbidden` naming the application permission. */
export function requireOnCard(ctx: Ctx, right: CardRight, card: CardForPolicy): void {
  if (!mayOnCard(ctx, right, card)) throw forbidden(right.app);
}

/** How many cards a refusal names. */
const MAX_NAMED = 100;

/** @throws EstateError `forbidden` naming the application permission, and the first of the cards that lack the right. */
export function requireOnCards(ctx: Ctx, right: CardRight, cards: Iterable<CardForPolicy>): void {
  if (may(ctx.caller, right.app)) return;
  const refused = [...cards].filter((card) => !mayOnCard(ctx, right, card));
  if (refused.length > 0) {
    throw forbidden(right.app, { card_ids: refused.slice(0, MAX_NAMED).map((card) => card.id) });
  }
}

/** The stakeholder role that people take by themselves when they follow a card. */
export const OBSERVER = 'observer';

/** Whether a stakeholder role shows the cost values of its card. The one that anybody takes by himself does not. */
export const showsCosts = (role: string): boolean => role !== OBSERVER;

/**
 * Whether a user, the one binding, holds a role that shows costs on one of the cards, as an SQL condition.
 * @param cardIds SQL of the cards' ids, separated by commas.
 */
export const holdsCostRole = (cardIds: string): string =>
  `exists (select from stakeholders h where h.user_id = ?::uuid and h.card_id in (${cardIds}) and h.role <> '${OBSERVER}')`;

/** Whether the caller sees the card's cost values: by permission, or by a stakeholder role on the card. */
export function seesCosts(ctx: Ctx, card: CardForPolicy): boolean {
  return (
    may(ctx.caller, 'costs.view') || (inScope(ctx.caller, 'costs.view') && card.myRoles.some(showsCosts))
  );
}
