import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList, listFor, readOne } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { settingDefaults, storedKey } from '../../kernel/settings/settings.read.ts';
import { Choice, FilledText, Uuid } from '../../kernel/shapes.ts';
import { invisibleCardError, visibleCards } from '../cards/cards.projection.ts';
import { loadEnds } from '../relations/relations.load.ts';
import { DataFlow, directions } from './data-flows.model.ts';

const id = (description: string) => Type.Optional(Type.String({ ...Uuid, description }));
const end = (alias: string) =>
  `json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'name', ${alias}.name)`;

/** The active cards that the caller sees, as a subquery over the alias `c`. */
const shownCards = (ctx: Ctx, list: string, condition: string): Fragment =>
  fragment`(select ${embed(list)} from cards c
    where ${embed(condition)} and c.status = 'ACTIVE' and (${embed(visibleCards(ctx))}))`;

const ways = ['incoming', 'outgoing'] as const;

/** The cards of the flow `t`. */
export const flowMembers = {
  source: end('s'),
  target: end('d'),
  interface: (ctx: Ctx) => shownCards(ctx, end('c'), 'c.id = t.interface_id'),
  data_objects: (ctx: Ctx) =>
    shownCards(
      ctx,
      `coalesce(json_agg(${end('c')} order by c.name_key, c.id), '[]')`,
      'c.id = any(t.data_object_ids)',
    ),
};

/** The place of a flow's frequency in the setting, whose keys are read once. */
const frequencyRank = `array_position(array(select o.value ->> 'key' from jsonb_array_elements(coalesce(
  (select value from settings where key = '${storedKey('flow_frequencies')}'),
  ${textLiteral(JSON.stringify(settingDefaults.flow_frequencies))}::jsonb)) with ordinality o (value, n) order by o.n), t.frequency)`;

/** Flows with their cards; of interfaces and data objects those that are active and visible. */
const base = {
  name: 'data-flows',
  from: 'data_flows t join cards s on s.id = t.source_id join cards d on d.id = t.target_id',
  id: 't.id',
  sorts: {
    ...columnSorts('t', DataFlow, 'created_at'),
    frequency: { sql: frequencyRank, type: 'bigint' as const },
    source: { sql: 's.name_key', type: 'text' as const, filled: true },
    target: { sql: 'd.name_key', type: 'text' as const, filled: true },
  },
  defaultSort: 'created_at',
  search:
    "s.name_key || ' ' || d.name_key || fold(coalesce(' ' || t.description, '') || coalesce(' ' || t.external_id, ''))",
  members: {
    ...columnMembers('t', DataFlow.shown),
    ...flowMembers,
  },
};

/** The condition that the caller sees both ends of a flow. */
function visible(ctx: Ctx): Condition[] {
  const cards = visibleCards(ctx);
  if (cards.sql === 'true') return [cards];
  const ends = fragment`(select count(*) from cards c where c.id in (t.source_id, t.target_id) and (${embed(cards)})) = 2`;
  return [{ ...ends, visibility: true }];
}

const filters = {
  direction: [Choice(directions, 'Only those of this direction'), 't.direction = ?'],
  frequency: [FilledText(100, 'Only those of this frequency'), 't.frequency = ?'],
} as const;

/** The condition of the flows over an interface, or of a data object, that the caller sees. */
const over = (ctx: Ctx, card: string, is: string): Fragment =>
  fragment`exists (select from cards c where c.id = ${card}::uuid and ${embed(is)} and (${embed(visibleCards(ctx))}))`;

const active: Condition = fragment`s.status = 'ACTIVE' and d.status = 'ACTIVE'`;

/** The data flows between active cards that the caller sees. */
export const dataFlowList = defineList({
  ...base,
  permission: 'relations.view',
  filters: {
    ...filters,
    source_id: [Type.String({ ...Uuid, description: 'Only those from this card' }), 't.source_id = ?::uuid'],
    target_id: [Type.String({ ...Uuid, description: 'Only those to this card' }), 't.target_id = ?::uuid'],
    interface_id: id('Only those over this interface'),
    data_object_id: id('Only those of this data object'),
    card_type: [FilledText(100, 'Only those from or to cards of this type'), 's.type = ? or d.type = ?'],
  },
  visible,
  where(ctx: Ctx, params) {
    requirePermission(ctx.caller, 'inventory.view');
    const { interface_id, data_object_id } = params;
    return [
      active,
      ...(interface_id ? [over(ctx, interface_id, 't.interface_id = c.id')] : []),
      ...(data_object_id ? [over(ctx, data_object_id, 'c.id = any(t.data_object_ids)')] : []),
    ];
  },
});

/** The data flows that have a card as an end, as interface or as data object. */
export const cardFlowList = defineList({
  ...base,
  permission: 'relations.view',
  filters: {
    ...filters,
    way: Type.Optional(
      Choice(
        ways,
        'Only those that bring data to the card, or take data from it; `bidirectional` ones do both',
      ),
    ),
  },
  visible,
  async where(ctx: Ctx, { way }, card?: string) {
    requirePermission(ctx.caller, 'inventory.view');
    const seen = (await loadEnds(ctx.db, ctx, [card!])).size > 0;
    if (!seen) throw invisibleCardError(ctx, notFound('card', card!));
    const into = fragment`t.target_id = ${card}::uuid or t.direction = 'bidirectional' and t.source_id = ${card}::uuid`;
    const out = fragment`t.source_id = ${card}::uuid or t.direction = 'bidirectional' and t.target_id = ${card}::uuid`;
    const any = fragment`t.source_id = ${card}::uuid or t.target_id = ${card}::uuid
      or t.interface_id = ${card}::uuid or t.data_object_ids @> array[${card}::uuid]`;
    const asked = way === 'incoming' ? into : way === 'outgoing' ? out : any;
    return [active, fragment`(${embed(asked)})`];
  },
});

/** One data flow, also with an archived end. @throws EstateError `forbidden`, `not_found`. */
export async function readDataFlow(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'inventory.view');
  return await readOne(ctx, { ...base, permission: 'relations.view', visible }, 'data flow', id);
}

/** A data flow as its JSON text after a write, equal to what reads return. */
export const writtenFlow = (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(sql, listFor(ctx, base), 'data flow', id);
