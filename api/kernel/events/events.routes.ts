import Type from 'typebox';
import { extensions } from '../../../domain/app/extensions.ts';
import { myCardEventList } from '../../../domain/collaboration/views/events.mine.ts';
import { changesParams, readChanges, summariseChanges } from '../../../domain/kernel/events/changes.ts';
import { eventTypes } from '../../../domain/kernel/events/events.catalogue.ts';
import {
  activityList,
  activityMembers,
  auditList,
  auditMembers,
  eventSchemas,
} from '../../../domain/kernel/events/events.queries.ts';
import { createTicket } from '../../../domain/kernel/events/tickets.ts';
import { JOB_STATE_CHANNEL } from '../../../domain/kernel/jobs/jobs.lease.ts';
import { readJobStates } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  arrayOf,
  Count,
  component,
  FilledText,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { invalidField } from '../../../platform/errors.ts';
import { sendJsonChunks } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { createStreams, type Streams } from './stream.open.ts';
import { TicketParameter, TicketSchema } from './ticket.schemas.ts';

const STREAM_URL = '/api/v1/events/stream';

/** Minimum time between two notifications, in milliseconds; changes in between are combined. */
const DEBOUNCE_MS = 100;

const watchedWith = new Map(extensions.jobs.map((kind) => [kind.kind, kind.watchedWith]));

/**
 * Sends `job.updated` frames to the owner of a job and to users who may watch its kind.
 * @returns a function that stops it.
 */
function notifyJobStates(services: Services, streams: Streams): () => void {
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const sendStates = async () => {
    const ids = [...pending];
    pending.clear();
    for (const { owner_id, scopes, ...state } of await readJobStates(services.db, ids)) {
      const permission = watchedWith.get(state.kind);
      streams.broadcast(
        'job.updated',
        state,
        ({ userId, hasPermission, coversScopes }) =>
          (userId === owner_id && coversScopes(scopes)) ||
          (permission !== undefined && hasPermission(permission)),
      );
    }
  };
  const startTimer = () => {
    timer = setTimeout(() => {
      timer = undefined;
      if (pending.size > 0) startTimer();
    }, DEBOUNCE_MS);
    sendStates().catch((error: unknown) => services.log.warn({ err: error }, 'job states could not be sent'));
  };
  const off = services.signals.on(JOB_STATE_CHANNEL, (id) => {
    if (id === '' || !streams.anyOpen()) return;
    pending.add(id);
    if (!timer) startTimer();
  });
  return () => {
    off();
    clearTimeout(timer);
  };
}

const AuditEventSchema = itemComponent('AuditEvent', eventSchemas(auditMembers));

/** An event of a followed card. */
const FollowedEventSchema = itemComponent('FollowedEvent', {
  id: Uuid,
  position: Position,
  card_id: Uuid,
  card_name: Type.String(),
  event_type: Type.String(),
  data: OpenObject,
  user_display_name: Nullable(Type.String()),
  created_at: Timestamp,
});

const ChangesSchema = component('Changes', {
  items: Type.Array(
    object({
      position: Position,
      event_type: Type.String(),
      card_id: Nullable(Uuid),
      peer_card_id: Nullable(Uuid),
      relation_id: Nullable(Uuid),
      at: Timestamp,
      actor: Nullable(object({ id: Uuid, display_name: Type.String() })),
      data: OpenObject,
    }),
  ),
  next: Position,
  has_more: Type.Boolean(),
});

const ChangesSummarySchema = component('ChangesSummary', {
  next: Position,
  total: Count,
  card_count: Type.Integer({ minimum: 0, description: 'Different cards' }),
  own_count: Type.Integer({ minimum: 0, description: 'Changes by the caller' }),
  by_event_type: arrayOf({ event_type: Type.String(), count: Count }),
  by_card_type: arrayOf({ card_type: Type.String(), count: Count }),
  is_truncated: Type.Boolean({ description: 'Whether only the latest 10,000 events were counted' }),
});

const ActivitySchema = itemComponent('Activity', eventSchemas(activityMembers));

const Names = (description: string) => Type.Optional(Type.String({ maxLength: 2000, description }));

const names = (text: string | undefined) =>
  text === undefined
    ? undefined
    : text
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean);

/** Event types and their prefixes, including transient ones that are sent and not stored. */
const knownEvents = new Set(
  [...Object.keys(eventTypes), 'job.updated', 'stream.ready', 'stream.end'].flatMap((type) => [
    type,
    type.split('.')[0]!,
  ]),
);

/** @throws EstateError `validation_failed` for a name that could never match. */
function checkNames(field: string, given: string[] | undefined, isKnown: (name: string) => boolean): void {
  const unknown = given?.find((name) => !isKnown(name));
  if (unknown !== undefined) throw invalidField(field, 'unknown_option', `there is no "${unknown}"`);
}

/** The audit log, the change feed and the live stream. */
export function registerEventRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Events', permission: 'inventory.view' });

  const streams = createStreams(services);
  const stopNotifying = notifyJobStates(services, streams);
  app.addHook('preClose', async () => {
    stopNotifying();
    streams.close();
  });

  routes.list('listEvents', '/api/v1/events', auditList, {
    summary: 'List the audit log, newest first',
    permission: 'admin.events',
    responses: page('Events', AuditEventSchema),
  });

  routes.list('listMyCardEvents', '/api/v1/events/my-cards', myCardEventList, {
    summary: 'List what happened to the cards that I follow, newest first',
    description: 'Cards on which I have a role, and my favorites.',
    permission: 'login',
    responses: page('Events', FollowedEventSchema),
  });

  routes.list('listActivity', '/api/v1/events/activity', activityList, {
    summary: 'List what happened in the inventory, newest first',
    description: 'Continue with `cursor`: pages by number count all events first.',
    responses: page('Events', ActivitySchema),
  });

  routes.get('readChanges', '/api/v1/changes', {
    summary: 'Read the change feed after a position, in commit order',
    description:
      'Continue with `next` while `has_more` is true, and poll with it later. Deleted objects leave a tombstone. The manifest of a full export contains the position to continue from.',
    query: object(changesParams),
    responses: ok('Changes', ChangesSchema),
    errors: ['position_expired'],
    handler: async ({ ctx, query, reply }) => sendJsonChunks(reply, await readChanges(ctx, query)),
  });

  routes.get('summariseChanges', '/api/v1/changes/summary', {
    summary: 'Count the changes after a position, for badges',
    description: 'Events that are visible to the caller. Poll with `next` of the previous response.',
    query: object({ after: FilledText(20, 'A position, such as `next` of `/changes?after=now`') }),
    responses: ok('The counts', ChangesSummarySchema),
    errors: ['position_expired'],
    handler: ({ ctx, query }) => summariseChanges(ctx, query.after),
  });

  routes.post('createStreamTicket', '/api/v1/events/ticket', {
    summary: 'Get a single-use ticket that opens the stream without a header',
    secretResponse: true,
    responses: { 201: { description: 'The ticket', schema: TicketSchema } },
    handler: ({ ctx, request }) => createTicket(ctx, request.credential!, 'stream', STREAM_URL),
  });

  routes.get('streamEvents', STREAM_URL, {
    summary: 'Follow changes live as server-sent events',
    description:
      'Each frame has `id` (the feed position), `event` (its type) and `data` (JSON). Send `Last-Event-ID` to resume with nothing lost or repeated. A comment is sent every 15 seconds. The stream ends when the token does. `job.updated` frames report the state of own jobs, and of ITSM synchronisation runs to users with `itsm_sync.view`; they have no id, and a slow client does not get them. A user can have at most 8 open streams per API process. Stored events are sent as fast as the client reads them; a client that reads nothing for a minute is disconnected after a `stream.end` frame, whose id is the position to resume from.',
    ticket: 'stream',
    query: object({
      ticket: TicketParameter,
      events: Names('Comma-separated event types or their prefixes, such as card,relation.created'),
      types: Names('Comma-separated card types'),
    }),
    responses: {
      200: { description: 'Server-sent events', schema: Type.String(), mediaType: 'text/event-stream' },
    },
    errors: ['position_expired', 'too_many_requests', 'unavailable'],
    handler: async ({ query, request, reply }) => {
      if (request.method === 'HEAD') return reply.type('text/event-stream').send();
      const events = names(query.events);
      const types = names(query.types);
      checkNames('events', events, (name) => knownEvents.has(name));
      checkNames('types', types, (name) => request.ctx.metamodel.cardTypes.has(name));
      await streams.open(request, reply, request.credential!, {
        ...(events ? { events } : {}),
        ...(types ? { types } : {}),
      });
      return reply;
    },
  });
}
