import Type, { type TSchema } from 'typebox';
import { fragment } from '../../../platform/database.ts';
import type { Ctx } from '../context.ts';
import { defineList } from '../lists/lists.define.ts';
import type { Filters, ListSpec } from '../lists/lists.types.ts';
import { may } from '../permissions/policy.ts';
import { Choice, Nullable, OpenObject, Position, Timestamp, Uuid } from '../shapes.ts';
import { eventTypesIn } from './events.catalogue.ts';
import { visibleData, visibleEvents } from './events.visible.ts';

/** The members of events in lists: SQL and schema. */
const eventMembers = {
  id: ['e.id', Uuid],
  position: ['e.position::text', Position],
  event_type: ['e.event_type', Type.String()],
  scope: ['e.scope', Choice(['inventory', 'audit', 'user'])],
  card_id: ['e.card_id', Nullable(Uuid)],
  card_name: [
    `case e.event_type when 'card.deleted' then e.data #>> '{changes,name,old}' else c.name end`,
    Nullable(Type.String()),
  ],
  card_type: ['e.card_type', Nullable(Type.String())],
  peer_card_id: ['e.peer_card_id', Nullable(Uuid)],
  relation_id: ['e.relation_id', Nullable(Uuid)],
  data: ['e.data', OpenObject],
  user_id: ['e.user_id', Nullable(Uuid)],
  user_display_name: ['u.display_name', Nullable(Type.String())],
  request_id: ['e.request_id', Nullable(Type.String())],
  batch_id: ['e.batch_id', Nullable(Uuid)],
  job_id: ['e.job_id', Nullable(Uuid)],
  origin: ['e.origin', Nullable(Type.String())],
  created_at: ['utc(e.at)', Timestamp],
} satisfies Record<string, [string, TSchema]>;
type EventMember = keyof typeof eventMembers;

/** The schemas of these members. */
export const eventSchemas = (names: readonly EventMember[]): Record<string, TSchema> =>
  Object.fromEntries(names.map((name) => [name, eventMembers[name][1]]));

/** A list of events, newest first, with these members. */
export function eventListOf(name: string, members: readonly EventMember[]): ListSpec {
  return {
    name,
    from: 'events e left join users u on u.id = e.user_id left join cards c on c.id = e.card_id',
    id: 'e.position',
    idType: 'bigint',
    sorts: { position: { sql: 'e.position', type: 'bigint', immutable: true } },
    defaultSort: 'position',
    defaultDir: 'desc',
    members: Object.fromEntries(members.map((member) => [member, eventMembers[member][0]])),
  };
}

/** The list without cost values, for callers who may not see costs. */
export function withVisibleCosts(spec: ListSpec, { caller }: Ctx): ListSpec {
  if (may(caller, 'costs.view')) return spec;
  const data = 'cut_costs(e.data, coalesce(e.cost_keys, array[]::text[]))';
  return { ...spec, members: { ...spec.members, data } };
}

/** The members of events in the audit log. */
export const auditMembers = (Object.keys(eventMembers) as EventMember[]).filter(
  (name) => name !== 'batch_id' && name !== 'card_type',
);
const eventFilters = {
  card_id: [Uuid, 'e.card_id = ?::uuid or e.peer_card_id = ?::uuid'],
  user_id: [Uuid, 'e.user_id = ?::uuid'],
  event_type: [
    Type.String({ maxLength: 2000, description: 'Comma-separated event types' }),
    `e.event_type = any(string_to_array(?::text, ','))`,
  ],
  since: [Type.String({ format: 'date-time' }), 'e.at >= ?::timestamptz'],
  until: [Type.String({ format: 'date-time' }), 'e.at < ?::timestamptz'],
} satisfies Filters;

/** The audit log: all events of all scopes, newest first. Cost values are shown according to the caller's rights. */
export const auditList = defineList({
  ...eventListOf('events', auditMembers),
  filters: eventFilters,
  members: (ctx) => withVisibleCosts(eventListOf('events', auditMembers), ctx).members,
  where(_ctx, { event_type }) {
    if (event_type !== undefined) eventTypesIn(event_type);
    return [];
  },
});

/** The members of events in the activity of the inventory. */
export const activityMembers = [
  'id',
  'position',
  'event_type',
  'card_id',
  'card_name',
  'card_type',
  'peer_card_id',
  'relation_id',
  'data',
  'user_id',
  'user_display_name',
  'batch_id',
  'origin',
  'created_at',
] as const satisfies EventMember[];
const activity = eventListOf('activity', activityMembers);

/** What happened in the inventory as far as the caller sees it, newest first. */
export const activityList = defineList({
  ...activity,
  permission: 'inventory.view',
  filters: {
    ...eventFilters,
    card_type: [
      Type.String({
        maxLength: 2000,
        description: 'Comma-separated types of the card or the card at the other end',
      }),
      `e.card_type = any(string_to_array(?::text, ',')) or e.peer_card_type = any(string_to_array(?::text, ','))`,
    ],
  },
  members: (ctx) => ({ ...activity.members, data: visibleData(ctx) }),
  where(ctx, { event_type }) {
    if (event_type !== undefined) eventTypesIn(event_type);
    return [fragment`e.scope = 'inventory'`, { ...visibleEvents(ctx), visibility: true }];
  },
});
