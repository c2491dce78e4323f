import type { Writable } from 'node:stream';
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { visibleAttributes, visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import { visibleRelationAttributes } from '../../../domain/inventory/relations/relations.list.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../domain/kernel/events/changes.ts';
import { projection } from '../../../domain/kernel/lists/lists.sql.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { type StartedFile, startStream, writeChunks } from '../../kernel/formats/chunk-streams.ts';
import { exportName, mediaTypes } from './exports.job.ts';
import { planExtraction } from './extraction.plan.ts';
import { type CardSelection, selectedCards } from './extraction.rows.ts';
import { prepareExtraction } from './extraction.write.ts';

/** An extraction that is streamed. */
export type ExtractQuery = Pick<
  ExportRequest,
  'format' | 'kind' | 'filter' | 'profile' | 'neutralise' | 'bom' | 'after'
> & {
  /** Comma-separated keys. */
  types?: string | undefined;
  /** Comma-separated names. */
  columns?: string;
};

const listed = (text: string | undefined): string[] =>
  text
    ?.split(',')
    .map((part) => part.trim())
    .filter(Boolean) ?? [];

/** The export request of a streamed extraction. */
export function extractRequest({ types, columns, ...query }: ExtractQuery): ExportRequest {
  return { ...query, types: listed(types), columns: listed(columns), include: [] };
}

/**
 * Starts to write an export from one snapshot; see {@link startStream}.
 * @throws EstateError as {@link planExtraction}, before anything is written.
 */
export async function streamExport(
  services: Services,
  ctx: Ctx,
  request: ExportRequest,
): Promise<StartedFile> {
  const plan = await planExtraction(ctx, request);
  await recordStream(ctx, { ...request });
  const file = { name: exportName(request, new Date()), mediaType: mediaTypes[request.format] };
  return await stream(services, ctx, file, async (snapshot) => {
    const position = await snapshotPosition(snapshot, request.after);
    const { write } = await prepareExtraction(snapshot, ctx, plan, position);
    return { position, write: (out) => write(out, {}) };
  });
}

/**
 * Starts to write cards as one JSON array.
 * @throws EstateError as {@link planJson}, before anything is written.
 */
export async function streamJson(services: Services, ctx: Ctx, query: JsonQuery): Promise<StartedFile> {
  const selection = await planJson(ctx, query);
  await recordStream(ctx, { format: 'json', ...query });
  const name = `estate-cards-${new Date().toISOString().slice(0, 10)}.json`;
  const file = { name, mediaType: 'application/json; charset=utf-8' };
  return await stream(services, ctx, file, async (snapshot) => ({
    position: await snapshotPosition(snapshot),
    write: (out) => writeChunks(jsonChunks(snapshot, ctx, selection, query), out, undefined),
  }));
}

/** Records that an extraction is streamed. The event must be durable before the first row is sent. */
async function recordStream(ctx: Ctx, data: Record<string, unknown>): Promise<void> {
  await command(ctx, async ({ emit }) => emit({ event_type: 'export.streamed', data }));
}

/** Starts to write what `prepare` returns, from one snapshot. */
async function stream(
  { db }: Services,
  ctx: Ctx,
  file: { name: string; mediaType: string },
  prepare: (snapshot: Snapshot) => Promise<{ position: string; write: (out: Writable) => Promise<void> }>,
): Promise<StartedFile> {
  return await startStream(ctx.caller, (out, start) =>
    withSnapshot(db, async (snapshot) => {
      const { position, write } = await prepare(snapshot);
      start({ ...file, position, out });
      await write(out);
    }),
  );
}

const BATCH = 1_000;
const MAX_TYPES = 20;
/** The stakeholder role that is shown as a card's owner. */
const OWNER_ROLE = 'responsible';
/** The type whose related cards are shown as providers. */
const PROVIDER_TYPE = 'Provider';

interface JsonQuery {
  /** Comma-separated card types. */
  types: string;
  filter: string;
  include_relations: boolean;
  include_stakeholders: boolean;
}

/**
 * Checks a request for cards as one JSON document.
 * @throws EstateError `validation_failed` naming the parameter, `forbidden` for what the caller may not see.
 */
async function planJson(ctx: Ctx, query: JsonQuery): Promise<CardSelection> {
  if (query.include_relations) requirePermission(ctx.caller, 'relations.view');
  if (query.include_stakeholders) requirePermission(ctx.caller, 'stakeholders.view');
  const types = [...new Set(query.types.split(',').map((type) => type.trim()))].filter(Boolean);
  if (types.length === 0 || types.length > MAX_TYPES) {
    throw invalidField('types', 'count', `names 1 to ${MAX_TYPES} card types, separated by commas`);
  }
  const unknown = types.find((type) => !ctx.metamodel.cardTypes.has(type));
  if (unknown !== undefined) throw invalidField('types', 'unknown_type', `there is no type "${unknown}"`);
  const filter = await prepareFilter(ctx, query.filter);
  return { types, conditions: filter ? [filter] : [] };
}

/** Yields the cards of a selection as the text of one JSON array in chunks, oldest first. */
async function* jsonChunks(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
  query: JsonQuery,
): AsyncGenerator<string> {
  const where = selectedCards(ctx, selection);
  const item = itemOf(ctx, query);
  const statement = fragment`select ${embed(item)}::text from cards c where ${embed(where)} order by c.id`;
  const batches = snapshot.batches(statement.sql, statement.bindings, BATCH);
  yield '[';
  let first = true;
  for await (const rows of batches) {
    yield `${first ? '' : ','}${rows.map(([text]) => text as string).join(',')}`;
    first = false;
  }
  yield ']';
}

/** SQL of one card as JSON, with the people and relations that the caller may see. */
function itemOf(ctx: Ctx, query: JsonQuery): Fragment {
  const people = may(ctx.caller, 'stakeholders.view');
  const owner = (column: string): string =>
    people
      ? `(select u.${column} from stakeholders s join users u on u.id = s.user_id
          where s.card_id = c.id and s.role = '${OWNER_ROLE}' order by lower(u.display_name), u.id limit 1)`
      : 'null';
  const own = ['id', 'type', 'subtype', 'name', 'description', 'lifecycle'];
  const members: Record<string, Fragment | string> = {
    ...Object.fromEntries(own.map((name) => [name, `c.${name}`])),
    attributes: visibleAttributes(ctx),
    status: 'c.status',
    data_quality: 'c.data_quality',
    updated_at: 'utc(c.updated_at)',
    tags: `(select coalesce(json_agg(json_build_object('name', t.name, 'color', t.color, 'group_name', g.name)
          order by lower(g.name), lower(t.name), t.id), '[]')
        from card_tags k join tags t on t.id = k.tag_id join tag_groups g on g.id = t.tag_group_id
        where k.card_id = c.id)`,
    owner: owner('display_name'),
    owner_email: owner('email'),
    provider_names: may(ctx.caller, 'relations.view') ? providers(ctx) : `'[]'::json`,
  };
  if (query.include_relations) members.relations = relations(ctx);
  if (query.include_stakeholders) {
    members.stakeholders = `(select coalesce(json_agg(json_build_object('user_id', s.user_id, 'display_name', u.display_name,
          'email', u.email, 'role', s.role) order by s.role, lower(u.display_name), s.id), '[]')
        from stakeholders s join users u on u.id = s.user_id where s.card_id = c.id)`;
  }
  return projection(members);
}

/** The relations of the card `k` to cards that the caller sees, as rows with the other card `c`. */
const peers = (ctx: Ctx, members: Fragment, more: string): Fragment =>
  fragment`(select coalesce(json_agg(item order by sort, id), '[]') from (
        select ${embed(members)} as item, c.name_key as sort, r.id
        from (select id from cards where id = k.id) own
        join lateral (
          select r.*, r.target_id as peer_id, 'outgoing' as direction from relations r where r.source_id = own.id
          union all
          select r.*, r.source_id, 'incoming' from relations r where r.target_id = own.id) r on true
        join cards c on c.id = r.peer_id
        where r.type = any(${ctx.metamodel.visibleRelationTypes}::text[]) and c.status = 'ACTIVE'
          and (${embed(visibleCards(ctx))}) ${embed(more)}) found)`;

/** Wraps a fragment over the card `c` for use where that card's alias is `k`. */
const ofOuter = (value: Fragment): Fragment =>
  fragment`(select x.v from (select c.id) k, lateral (select ${embed(value)} as v) x)`;

const providers = (ctx: Ctx): Fragment =>
  ofOuter(peers(ctx, fragment`c.name`, `and c.type = '${PROVIDER_TYPE}'`));

function relations(ctx: Ctx): Fragment {
  const item = fragment`json_build_object('id', r.id, 'type', r.type, 'direction', r.direction, 'peer_id', c.id,
    'peer_type', c.type, 'peer_name', c.name, 'attributes', ${embed(visibleRelationAttributes(ctx))},
    'description', r.description)`;
  return ofOuter(peers(ctx, item, ''));
}
