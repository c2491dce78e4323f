import Type, { type Static } from 'typebox';
import { MANAGE_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import { loadMapping } from '../../../../domain/exchange/itsm/itsm.load.ts';
import { createEvaluate, findCardField } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { survivingCard } from '../../../../domain/inventory/cards/merge/merge.redirect.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { may, requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import {
  arrayOf,
  Choice,
  component,
  Nullable,
  OpenObject,
  object,
  Uuid,
} from '../../../../domain/kernel/shapes.ts';
import { embed, query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { RemoteTools } from '../connections/connections.open.ts';
import { callRemote, loadActive } from '../connections/connections.remote.ts';
import type { Connector } from '../connectors/connector.ts';
import { pagesOf, recordIn } from '../connectors/responses.ts';
import { convertRecord, localFields, mapValues, type TransformContext, toRemote } from '../engine/fields.ts';
import type { LocalCard } from '../engine/model.types.ts';
import type { Match, MatchItem } from '../engine/plan.types.ts';
import { identityIndex, matchByIdentity } from '../engine/plan.unmatched.ts';
import { openCards } from '../port/local.cards.ts';
import type { RemoteRecord } from '../remote.ts';
import { loadReferences } from '../store/sync-state.ts';

/** Which records and cards to preview. */
export interface PreviewRequest {
  /** Maximum number of records, and of cards. */
  limit: number;
  /** Comma-separated ids of records; by default the first that match the filter. */
  remote_ids?: string;
}

const Reasons = Type.Record(Type.String(), Type.String(), {
  description: 'By field, why its value cannot be converted',
});
const NullableText = Nullable(Type.String());

/** How a mapping converts and matches records, and converts cards. */
export const MappingPreview = component('ItsmMappingPreview', {
  records: arrayOf({
    remote_id: Type.String(),
    remote_data: { ...OpenObject, description: 'By column' },
    mapped: { ...OpenObject, description: 'By the card’s field' },
    problems: Reasons,
    match: object({
      kind: Choice(
        ['linked', 'link', 'new', 'stage'],
        '`linked`: already paired; `link`: matched by its identity fields; `new`: a new card; `stage`: needs a user’s decision',
      ),
      card_id: Nullable(Uuid),
      card_name: NullableText,
      why: Type.String(),
      candidates: arrayOf({
        card_id: Uuid,
        card_name: NullableText,
        score: Type.Number(),
        why: Type.String(),
      }),
    }),
  }),
  total: Type.Integer({ description: 'The number of returned records' }),
  cards: arrayOf(
    {
      card_id: Uuid,
      card_name: Type.String(),
      mapped: { ...OpenObject, description: 'By column' },
      problems: Reasons,
    },
    { description: 'Cards without a record, as they would be written to the remote' },
  ),
});
export type MappingPreview = Static<typeof MappingPreview>;
type PreviewedRecord = MappingPreview['records'][number];
type PreviewedCard = MappingPreview['cards'][number];

/** Maximum number of cards that records are matched with. */
const CARDS = 20_000;
const CHUNK = 5_000;
/** Maximum pages of records that are read for a sample. */
const MAX_PAGES = 20;

/**
 * Converts records of the remote to cards, matches them, and converts cards without a record to records. Nothing is written
 * to either side.
 * @throws EstateError `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function previewMapping(
  ctx: Ctx,
  tools: RemoteTools,
  id: string,
  request: PreviewRequest,
): Promise<MappingPreview> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  requirePermission(ctx.caller, 'inventory.view');
  const mapping = await loadMapping(ctx.db, ctx.metamodel, id);
  if (mapping.broken !== null) throw new EstateError('wrong_state', mapping.broken);
  const connection = await loadActive(ctx, tools, mapping.connection_id);
  const shown = withoutCosts(ctx, mapping);
  const records = await callRemote(tools, connection, (remote) => readSample(remote, shown, request));
  const cards = await readCards(ctx, shown);
  const references = await loadReferences(ctx.db, shown, records, [...cards.values()]);
  const context = { ...references, evaluate: createEvaluate() };
  const matches = await matchSample(ctx, shown, records, cards, context);
  const isPushed = shown.sync_direction !== 'pull' && !request.remote_ids;
  return {
    records: records.map((record) => previewRecord(shown, record, context, matches)),
    total: records.length,
    cards: isPushed ? await previewCards(ctx, shown, cards, context, request.limit) : [],
  };
}

/** Removes fields that contain costs if the caller may not see costs. */
function withoutCosts({ caller, metamodel }: Ctx, mapping: Mapping): Mapping {
  if (may(caller, 'costs.view')) return mapping;
  const type = metamodel.cardTypes.get(mapping.card_type_key)!;
  const fields = mapping.fields.filter(({ card_field }) => !findCardField(type, card_field)?.cost);
  return { ...mapping, fields };
}

async function readSample(
  remote: Connector,
  mapping: Mapping,
  { limit, remote_ids }: PreviewRequest,
): Promise<RemoteRecord[]> {
  const fields = [...new Set(mapping.fields.map(({ remote_field: remote }) => remote))];
  if (remote_ids) {
    const ids = [...new Set(remote_ids.split(',').map((id) => id.trim()))].filter((id) => id !== '');
    const lookups = await remote.readByIds(mapping.remote_table, ids.slice(0, limit), fields);
    return [...lookups.values()].flatMap((lookup) => recordIn(lookup) ?? []);
  }
  const request = { table: mapping.remote_table, fields, limit, filter: mapping.filter_query ?? undefined };
  const records: RemoteRecord[] = [];
  let pages = 0;
  // a page can be empty although more records follow, where the first keys of a table are unused
  for await (const page of pagesOf((cursor) => remote.readPage({ ...request, cursor }))) {
    records.push(...page.records);
    pages += 1;
    if (pages === MAX_PAGES || records.length >= limit) break;
  }
  return records.slice(0, limit);
}

async function readCards(ctx: Ctx, mapping: Mapping): Promise<Map<string, LocalCard>> {
  const reader = await openCards(ctx, mapping, mapping.card_filter);
  const cards = new Map<string, LocalCard>();
  for (let after: string | null = null; cards.size < CARDS; ) {
    const chunk: LocalCard[] = await reader.page(ctx.db, after, CHUNK);
    for (const card of chunk) cards.set(card.id, card);
    if (chunk.length < CHUNK) break;
    after = chunk.at(-1)!.id;
  }
  return cards;
}

interface Matches {
  linked: ReadonlyMap<string, string>;
  found: ReadonlyMap<string, Match>;
  names: ReadonlyMap<string, string>;
}

async function matchSample(
  { db }: Ctx,
  mapping: Mapping,
  records: readonly RemoteRecord[],
  cards: ReadonlyMap<string, LocalCard>,
  context: TransformContext,
): Promise<Matches> {
  const rows = await query(db).rows<{ remote_id: string; card_id: string }>`
       select remote_id, card_id from itsm_pairs where mapping_id = ${mapping.id}
       and (remote_id = any(${records.map(({ id }) => id)}::text[]) or state in ('linked', 'quarantined'))`;
  const linked = new Map(rows.map(({ remote_id, card_id }) => [remote_id, card_id]));
  const taken = new Set(linked.values());
  const items = [...cards.values()].map(
    (card): MatchItem => ({ id: card.id, fields: localFields(mapping, card) }),
  );
  const index = identityIndex(mapping.fields);
  const unpaired = records
    .filter(({ id }) => !linked.has(id))
    .map((record) => ({ id: record.id, fields: convertRecord(mapping, record, context).fields }));
  for (const record of unpaired) index.add('records', record);
  for (const card of items) index.add(taken.has(card.id) ? 'paired' : 'cards', card);
  const found = new Map(
    unpaired.map((record): [string, Match] => [
      record.id,
      matchByIdentity(index.find(record)) ?? { kind: 'new' },
    ]),
  );
  const cardIds = [
    ...records.flatMap(({ id }) => linked.get(id) ?? []),
    ...[...found.values()].flatMap((match) => {
      if (match.kind === 'link') return match.cardId;
      return match.kind === 'stage' ? match.candidates.map(({ cardId }) => cardId) : [];
    }),
  ];
  const cardRows = await db('cards').whereIn('id', cardIds).select('id', 'name');
  return { linked, found, names: new Map(cardRows.map((row) => [row.id, row.name])) };
}

function previewRecord(
  mapping: Mapping,
  record: RemoteRecord,
  context: TransformContext,
  matches: Matches,
): PreviewedRecord {
  const { fields, problems } = convertRecord(mapping, record, context);
  return {
    remote_id: record.id,
    remote_data: mapValues(record.fields, ({ value }) => value),
    mapped: fields,
    problems,
    match: previewMatch(record.id, matches),
  };
}

function previewMatch(id: string, { linked, found, names }: Matches): PreviewedRecord['match'] {
  const cardOf = (card_id: string) => ({ card_id, card_name: names.get(card_id) ?? null });
  const none = { card_id: null, card_name: null, candidates: [] };
  const pairCard = linked.get(id);
  if (pairCard !== undefined)
    return { ...none, ...cardOf(pairCard), kind: 'linked', why: 'It already has a pair.' };
  const match = found.get(id);
  if (match?.kind === 'link') return { ...none, ...cardOf(match.cardId), kind: 'link', why: match.reason };
  if (match?.kind !== 'stage') return { ...none, kind: 'new', why: 'No card has the same identity fields.' };
  const candidates = match.candidates.map(({ cardId, ...one }) => ({ ...one, ...cardOf(cardId) }));
  return { ...none, kind: 'stage', why: match.reason, candidates };
}

async function previewCards(
  { db }: Ctx,
  mapping: Mapping,
  cards: ReadonlyMap<string, LocalCard>,
  context: TransformContext,
  limit: number,
): Promise<PreviewedCard[]> {
  const rows = await query(db).rows<{ id: string; name: string }>`
       select c.id, c.name from unnest(${[...cards.keys()]}::uuid[]) with ordinality as q(id, n) join cards c on c.id = q.id
     where c.id not in (select ${embed(survivingCard('p.card_id'))} from itsm_pairs p where p.mapping_id = ${mapping.id})
     order by q.n limit ${limit}`;
  return rows.map(({ id, name }) => {
    const values = localFields(mapping, cards.get(id)!);
    const shown: PreviewedCard = { card_id: id, card_name: name, mapped: {}, problems: {} };
    for (const field of mapping.fields) {
      const converted = toRemote(field, values[field.card_field] ?? null, context);
      if (converted.ok) shown.mapped[field.remote_field] = converted.value;
      else shown.problems[field.remote_field] = converted.problem;
    }
    return shown;
  });
}
