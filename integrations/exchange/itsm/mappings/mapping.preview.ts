import { MANAGE_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import { loadMapping, referencedMappings } from '../../../../domain/exchange/itsm/itsm.load.ts';
import { findCardField } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { survivingCard } from '../../../../domain/inventory/cards/merge/merge.redirect.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { may, requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { RemoteTools } from '../connections/connections.open.ts';
import { callRemote, loadActive } from '../connections/connections.remote.ts';
import type { Connector } from '../connectors/connector.ts';
import { optionalFilter, pagesOf, recordIn } from '../connectors/responses.ts';
import { convertRecord, localFields, type TransformContext, toRemote } from '../engine/fields.ts';
import { matchIdentities } from '../engine/match.ts';
import type { LocalCard } from '../engine/model.types.ts';
import type { Match, MatchItem } from '../engine/plan.types.ts';
import { indexPairs, type PairIndex } from '../engine/state.ts';
import { openCards } from '../port/local.cards.ts';
import type { RemoteRecord } from '../remote.ts';
import { loadPairs } from '../store/sync-state.ts';
import { createEvaluate } from './expressions.ts';

/** Which records and cards to preview. */
export interface PreviewRequest {
  /** Maximum number of records, and of cards. */
  limit: number;
  /** Comma-separated ids of records; by default the first that match the filter. */
  remote_ids?: string;
}

/** A record as a run would convert and match it. */
interface PreviewedRecord {
  remote_id: string;
  remote_data: Record<string, Value>;
  /** By card field. */
  mapped: Record<string, Value>;
  /** By card field, why a value cannot be converted. */
  problems: Record<string, string>;
  match: {
    kind: 'linked' | 'link' | 'new' | 'stage';
    card_id: string | null;
    card_name: string | null;
    why: string;
    candidates: { card_id: string; card_name: string | null; score: number; why: string }[];
  };
}

/** A card without a record, as it would be written to the remote. */
interface PreviewedCard {
  card_id: string;
  card_name: string;
  /** By column. */
  mapped: Record<string, Value>;
  problems: Record<string, string>;
}

export interface MappingPreview {
  records: PreviewedRecord[];
  /** Number of returned records. */
  total: number;
  cards: PreviewedCard[];
}

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
  const context = await createTransformContext(ctx, shown, records, cards);
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
  return {
    ...mapping,
    fields: mapping.fields.filter(({ card_field }) => !findCardField(type, card_field)?.cost),
  };
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
  const request = { table: mapping.remote_table, fields, limit, ...optionalFilter(mapping.filter_query) };
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

/** Finds the pairs that reference fields need, of the mapping itself and of the mappings that it refers to. */
async function createTransformContext(
  { db }: Ctx,
  mapping: Mapping,
  records: readonly RemoteRecord[],
  cards: ReadonlyMap<string, LocalCard>,
): Promise<TransformContext> {
  const known: PairIndex[] = [];
  for (const [path, mappingId] of Object.entries(referencedMappings(mapping))) {
    const column = mapping.fields.find((field) => field.card_field === path)!.remote_field;
    const texts = (values: unknown[]) =>
      values.filter((value): value is string => typeof value === 'string' && value !== '');
    const choice = {
      remoteIds: texts(records.map((record) => record.fields[column]?.value)),
      cardIds: texts([...cards.values()].map((card) => card.fields[path])),
    };
    const { pairs, redirects } = await loadPairs(db, mappingId, choice);
    known.push(indexPairs(pairs, redirects));
  }
  return {
    cardOf: (id) => known.map((one) => one.cardOf(id)).find((found) => found !== undefined),
    recordOf: (id) => known.map((one) => one.recordOf(id)).find((found) => found !== undefined),
    evaluate: createEvaluate(),
  };
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
  const { rows } = await db.raw(
    `select remote_id, card_id from itsm_pairs where mapping_id = ? and (remote_id = any(?::text[])
       or state in ('linked', 'quarantined'))`,
    [mapping.id, records.map(({ id }) => id)],
  );
  const linked = new Map<string, string>(
    rows.map((row: { remote_id: string; card_id: string }) => [row.remote_id, row.card_id]),
  );
  const taken = new Set(linked.values());
  const items = [...cards.values()].map(
    (card): MatchItem => ({ id: card.id, fields: localFields(mapping, card) }),
  );
  const found = matchIdentities(mapping, {
    records: records
      .filter(({ id }) => !linked.has(id))
      .map((record) => ({ id: record.id, fields: convertRecord(mapping, record, context).fields })),
    cards: items.filter(({ id }) => !taken.has(id)),
    paired: items.filter(({ id }) => taken.has(id)),
  });
  const cardIds = [
    ...records.flatMap(({ id }) => linked.get(id) ?? []),
    ...[...found.values()].flatMap((match) =>
      match.kind === 'link'
        ? [match.cardId]
        : match.kind === 'stage'
          ? match.candidates.map((one) => one.cardId)
          : [],
    ),
  ];
  const cardRows = await db('cards').whereIn('id', cardIds).select('id', 'name');
  return { linked, found, names: new Map(cardRows.map((row) => [row.id, row.name])) };
}

function previewRecord(
  mapping: Mapping,
  record: RemoteRecord,
  context: TransformContext,
  { linked, found, names }: Matches,
): PreviewedRecord {
  const view = convertRecord(mapping, record, context);
  const nameOf = (id: string) => names.get(id) ?? null;
  const pairCard = linked.get(record.id);
  const match = found.get(record.id);
  const none = { card_id: null, card_name: null, candidates: [] };
  return {
    remote_id: record.id,
    remote_data: Object.fromEntries(
      Object.entries(record.fields).map(([column, { value }]) => [column, value]),
    ),
    mapped: view.fields,
    problems: view.problems,
    match:
      pairCard !== undefined
        ? {
            ...none,
            kind: 'linked',
            card_id: pairCard,
            card_name: nameOf(pairCard),
            why: 'It already has a pair.',
          }
        : match?.kind === 'link'
          ? {
              ...none,
              kind: 'link',
              card_id: match.cardId,
              card_name: nameOf(match.cardId),
              why: match.reason,
            }
          : match?.kind === 'stage'
            ? {
                ...none,
                kind: 'stage',
                why: match.reason,
                candidates: match.candidates.map(({ cardId, score, why }) => ({
                  card_id: cardId,
                  card_name: nameOf(cardId),
                  score,
                  why,
                })),
              }
            : { ...none, kind: 'new', why: 'No card has the same identity fields.' },
  };
}

async function previewCards(
  { db }: Ctx,
  mapping: Mapping,
  cards: ReadonlyMap<string, LocalCard>,
  context: TransformContext,
  limit: number,
): Promise<PreviewedCard[]> {
  const { rows } = await db.raw(
    `select c.id, c.name from unnest(?::uuid[]) with ordinality as q(id, n) join cards c on c.id = q.id
     where c.id not in (select ${survivingCard('p.card_id')} from itsm_pairs p where p.mapping_id = ?) order by q.n limit ?`,
    [[...cards.keys()], mapping.id, limit],
  );
  return rows.map(({ id, name }: { id: string; name: string }) => {
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
