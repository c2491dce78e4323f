import type { Caller } from '../context.ts';
import { may } from '../permissions/policy.ts';
import { kindPermissions } from './events.catalogue.ts';

/** The kinds whose events the caller may not read, because a permission is missing. */
const hiddenKinds = (caller: Caller): string[] =>
  [...kindPermissions].flatMap(([kind, permissions]) =>
    permissions.every((permission) => may(caller, permission)) ? [] : [kind],
  );

/** Whether the caller lacks a permission that events of this type need besides that for their card. */
export function isHiddenType(caller: Caller, eventType: string): boolean {
  return hiddenKinds(caller).includes(eventType.slice(0, eventType.indexOf('.')));
}

/** The same as an SQL condition over the alias `e` of `events`, with a leading `and`; empty where nothing is hidden. */
export function readableTypes(caller: Caller): string {
  const hidden = hiddenKinds(caller);
  if (hidden.length === 0) return '';
  return `and split_part(e.event_type, '.', 1) not in (${hidden.map((kind) => `'${kind}'`).join(', ')})`;
}
