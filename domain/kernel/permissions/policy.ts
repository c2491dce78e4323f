import { embed, fragment } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Caller, Ctx } from '../context.ts';
import type { AppPermission, CardPermission, TokenScope } from './permissions.data.ts';

/** Whether the caller has the application permission. */
export function may(caller: Caller, permission: AppPermission): boolean {
  return caller.permissions === '*' || caller.permissions.has(permission);
}

/** Which of the permissions the caller has. */
export const heldPermissions = (caller: Caller, ...permissions: AppPermission[]): AppPermission[] =>
  permissions.filter((permission) => may(caller, permission));

/**
 * Whether the scopes of the presented token include the scope. A right from a role on a card, or from ownership, only
 * applies within the scope of the application permission that the operation names for it.
 */
export function inScope({ scopes }: Caller, scope: TokenScope): boolean {
  return scopes === undefined || scopes.has(scope);
}

/**
 * The caller's id as the user of stakeholder roles, for conditions on `stakeholders`; null, which matches no row, if
 * out of scope.
 */
export function userWithinScope(caller: Caller, permission: AppPermission): string | null {
  return inScope(caller, permission) ? caller.userId : null;
}

/** @throws EstateError `forbidden` naming the scope. */
export function requireScope(caller: Caller, scope: TokenScope): void {
  if (inScope(caller, scope)) return;
  throw new EstateError('forbidden', `The scopes of the token do not include ${scope}.`, {
    extra: { permission: scope, missing_scope: scope },
  });
}

/** An error that names a permission and, if that is the reason, says that the scopes of the token do not include it. */
export function withMissingScope(caller: Caller, error: EstateError): EstateError {
  const { permission, missing_scope: known } = error.extra;
  if (error.code !== 'forbidden' || typeof permission !== 'string' || known !== undefined) return error;
  if (inScope(caller, permission as TokenScope)) return error;
  const detail = `${error.message} The scopes of the token do not include ${permission}.`;
  return new EstateError('forbidden', detail, { extra: { ...error.extra, missing_scope: permission } });
}

/** The error that names the missing permission; `more` are additional members of its problem document. */
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
 * `roles` are the keys of the caller's roles on the card, `type` is the card's type.
 */
export function cardRights(ctx: Ctx, type: string, roles: string[]): Set<string> {
  const held = new Set<string>();
  for (const definition of ctx.metamodel.cardTypes.get(type)?.stakeholderRoles ?? []) {
    if (roles.includes(definition.key)) for (const key of definition.permissions) held.add(key);
  }
  return held;
}

/** The properties of a card that determine the rights on it. */
export interface CardForPolicy {
  id: string;
  type: string;
  /** Keys of the caller's stakeholder roles on it. */
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

/** The maximum number of cards that an error names. */
const MAX_NAMED = 100;

/**
 * @throws EstateError `forbidden` naming the application permission, and the first of the cards on which the right is
 * missing.
 */
export function requireOnCards(ctx: Ctx, right: CardRight, cards: Iterable<CardForPolicy>): void {
  if (may(ctx.caller, right.app)) return;
  const refused = [...cards].filter((card) => !mayOnCard(ctx, right, card));
  if (refused.length > 0) {
    throw forbidden(right.app, { card_ids: refused.slice(0, MAX_NAMED).map((card) => card.id) });
  }
}

/** The stakeholder role that users assign to themselves to follow a card. */
export const OBSERVER = 'observer';

/**
 * Whether a stakeholder role shows the cost values of its card. The observer role never does, because users assign it
 * to themselves.
 */
export const showsCosts = (role: string): boolean => role !== OBSERVER;

/**
 * The condition that the caller has a role that shows costs on one of the cards.
 * @param cardIds SQL of the cards' ids, separated by commas.
 */
export const hasCostRole = (caller: Caller, cardIds: string) =>
  fragment`exists (select from stakeholders h where h.user_id = ${userWithinScope(caller, 'costs.view')}::uuid
    and h.card_id in (${embed(cardIds)}) and h.role <> ${embed(`'${OBSERVER}'`)})`;

/** Whether the caller may see the card's cost values: by permission, or by a stakeholder role on the card. */
export function seesCosts(ctx: Ctx, card: CardForPolicy): boolean {
  return (
    may(ctx.caller, 'costs.view') || (inScope(ctx.caller, 'costs.view') && card.myRoles.some(showsCosts))
  );
}
