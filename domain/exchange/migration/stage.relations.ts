import type { Knex } from 'knex';
import { limitedSides } from '../../inventory/relations/relations.rules.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { insertRecords, type NewRecord } from './records.ts';
import type { StoredRefs } from './stage.cards.ts';
import { type Found, lookUp } from './stage.lookup.ts';
import type { Staging } from './stage.types.ts';

interface Naming {
  line: number;
  /** The record of the card itself, of which this may be a further row. */
  card_line: number;
  name: string | null;
  source_id: string;
  sheet: string;
  row: number;
  relations: NonNullable<StoredRefs['relations']>;
}

/** The next cards that name others, behind the line. */
export async function namingBehind(
  sql: Knex.Transaction,
  migrationId: string,
  line: number,
  limit: number,
): Promise<Naming[]> {
  const { rows } = await sql.raw(
    `select line, coalesce(source_line, line) as card_line, display_name as name, source_id, sheet, "row",
       refs -> 'relations' as relations
     from migration_records
     where migration_id = ? and entity_kind = 'card' and line > ? and refs -> 'relations' is not null
     order by line limit ${limit}`,
    [migrationId, line],
  );
  return rows;
}

/** Makes a record of each relation that cards name. */
export async function stageRelations(
  staging: Staging,
  sql: Knex.Transaction,
  cards: Naming[],
): Promise<void> {
  const { relationTypes } = staging.ctx.metamodel;
  const wanted = new Map<string, Set<string>>();
  const each = cards.flatMap((card) =>
    card.relations.flatMap((named) => {
      const type = relationTypes.get(named.type);
      if (!type) return [];
      const other = named.reversed ? type.source_type_key : type.target_type_key;
      const texts = wanted.get(other) ?? new Set();
      wanted.set(other, texts);
      return named.items.map((item) => {
        texts.add(item);
        return { card, named, other, item };
      });
    }),
  );
  const found = new Map<string, Map<string, Found>>();
  for (const [type, texts] of wanted) found.set(type, await lookUp(sql, staging.migrationId, type, texts));
  const records = each.map(({ card, named, other, item }): NewRecord => {
    const meant = found.get(other)!.get(item)!;
    const self = { line: card.card_line, card: null };
    const own = card.name ?? card.source_id;
    const end =
      'fault' in meant ? { line: null, card: null } : { line: meant.line ?? null, card: meant.card ?? null };
    const [source, target] = named.reversed ? [end, self] : [self, end];
    const line = staging.nextLine;
    staging.nextLine += 1;
    return {
      line,
      entity_kind: 'relation',
      source_id: `${card.source_id}:${named.column}:${item}`,
      source_type: named.column,
      display_name: named.reversed ? `${item} → ${own}` : `${own} → ${item}`,
      sheet: card.sheet,
      row: card.row,
      relation_type: named.type,
      payload: named.values ? { ...named.values } : null,
      action: 'fault' in meant ? 'conflict' : 'create',
      error_message: 'fault' in meant ? `${named.column}: “${item.slice(0, 200)}”: ${meant.fault}` : null,
      source_line: source.line,
      source_card: source.card,
      target_line: target.line,
      target_card: target.card,
    };
  });
  await insertRecords(sql, staging.migrationId, records);
}

/** Notes what would become of relations: `select` yields `line, action, message, id`; only open ones are touched. */
async function judge(
  sql: Knex.Transaction,
  migrationId: string,
  select: string,
  bindings: unknown[],
): Promise<void> {
  await sql.raw(
    `with judged (line, action, message, id) as (${select})
     update migration_records r set action = j.action, error_message = j.message, target_id = j.id
     from judged j where r.migration_id = ? and r.line = j.line and r.action = 'create'`,
    [...bindings, migrationId],
  );
}

/**
 * Says what would become of each relation once the cards are known: what is told twice or there already is skipped, what
 * lacks an end or room is a conflict.
 */
export async function judgeRelations(
  sql: Knex.Transaction,
  migrationId: string,
  metamodel: Metamodel,
): Promise<void> {
  // an end in the file that is a card already is that card
  for (const side of ['source', 'target']) {
    await sql.raw(
      `update migration_records r set ${side}_card = c.target_id from migration_records c
       where r.migration_id = ? and r.entity_kind = 'relation' and c.migration_id = r.migration_id
         and c.line = r.${side}_line and c.target_id is not null`,
      [migrationId],
    );
    await judge(
      sql,
      migrationId,
      `select r.line, case c.action when 'skip' then 'skip' else 'conflict' end,
         case c.action when 'skip' then 'one of its cards is left out' else 'one of its cards cannot be made' end, null::uuid
       from migration_records r join migration_records c on c.migration_id = r.migration_id and c.line = r.${side}_line
       where r.migration_id = ? and r.entity_kind = 'relation' and c.target_id is null and c.action in ('conflict', 'skip')`,
      [migrationId],
    );
  }
  const key = (side: string) => `coalesce(${side}_card::text, ${side}_line::text)`;
  const open = `migration_id = ? and entity_kind = 'relation' and action = 'create'`;
  await judge(
    sql,
    migrationId,
    `select line, 'conflict', 'a card has no relation to itself', null::uuid from migration_records
     where ${open} and ${key('source')} = ${key('target')}`,
    [migrationId],
  );
  await judge(
    sql,
    migrationId,
    // the one that tells values counts
    `select line, case when differs then 'conflict' else 'skip' end,
       case when differs then 'another row tells other values of it' else 'told by another row already' end, null::uuid
     from (
       select line, row_number() over told as n, payload <> first_value(payload) over told as differs
       from migration_records where ${open}
       window told as (partition by relation_type, ${key('source')}, ${key('target')} order by payload is null, line)
     ) told where n > 1`,
    [migrationId],
  );
  await judge(
    sql,
    migrationId,
    `select m.line, case when r.attributes @> coalesce(m.payload -> 'attributes', '{}')
         and (m.payload ->> 'description' is null or m.payload ->> 'description' = r.description)
       then 'skip' else 'update' end, null, r.id from migration_records m
     join relations r on r.type = m.relation_type and r.source_id = m.source_card and r.target_id = m.target_card
     where m.${open.replaceAll(' and ', ' and m.')}`,
    [migrationId],
  );
  await judgeRoom(sql, migrationId, metamodel, key);
}

/** What a relation type allows a card no further relation for; those of one partner on either side are seen to side by side. */
async function judgeRoom(
  sql: Knex.Transaction,
  migrationId: string,
  metamodel: Metamodel,
  key: (side: string) => string,
): Promise<void> {
  const limited = [...metamodel.relationTypes.values()];
  for (const side of ['target', 'source'] as const) {
    const types = limited.filter((type) => limitedSides(type).includes(side)).map((type) => type.key);
    if (types.length === 0) continue;
    await judge(
      sql,
      migrationId,
      `select line, 'conflict', 'one of its cards has another relation of this type, which allows one', null::uuid from (
         select m.line, row_number() over (partition by m.relation_type, ${key(`m.${side}`)} order by m.line) as n,
           exists (select from relations r where r.type = m.relation_type and r.${side}_id = m.${side}_card) as "full"
         from migration_records m where m.migration_id = ? and m.entity_kind = 'relation' and m.action = 'create'
           and m.relation_type = any(?::text[])) placed where "full" or n > 1`,
      [migrationId, types],
    );
  }
}
