import type { Ctx } from '../../domain/context.ts';
import { raw, sql } from '../../domain/filters/filters.sql.ts';
import { notFound } from '../../platform/errors.ts';
import type { EntitySet, ODataModel, ODataProperty } from './model/model.types.ts';
import { contextOf } from './odata.context.ts';
import { isThere, selection, type Via } from './odata.page.ts';
import { runStatement } from './odata.run.ts';
import type { Wire } from './odata.wire.ts';
import type { NestedOptions } from './query/query.types.ts';
import { entityJson, etagOfEntity } from './sql/sql.entity.ts';
import { createWriting, ROOT } from './sql/sql.ways.ts';

export interface EntityQuestion {
  model: ODataModel;
  set: EntitySet;
  /** The entity's own key, or the way by which it is reached. */
  key?: string;
  via?: Via;
  options: NestedOptions;
  wire: Wire;
  references?: boolean;
}

export interface ReadEntity {
  /** The body; undefined where a way leads nowhere. */
  text: string | undefined;
  etag: string | undefined;
}

/**
 * One entity.
 * @throws EstateError `not_found` where it, or the one that leads to it, is not there.
 */
export async function readEntity(ctx: Ctx, question: EntityQuestion): Promise<ReadEntity> {
  const { model, set, key, via, options, wire } = question;
  const writing = createWriting(ctx, model);
  const { from, where } = selection(writing, question);
  const { item, joins } = question.references
    ? {
        item: sql`json_build_object('@odata.id', ${`${wire.root}/${set.name}(`}::text || c.id || ')')::text`,
        joins: [],
      }
    : entityJson(writing, set, ROOT, options, wire);
  const tables = joins.reduce((all, join) => sql`${all} ${join}`, from);
  const version = question.references ? raw('null::text') : etagOfEntity(set, ROOT);
  const own = key === undefined ? raw('') : sql` and c.id = ${key}::uuid`;
  const there = via ? isThere(writing, via.set, via.key) : raw('true');
  const [row] = await runStatement<{ item: string | null; etag: string; there: boolean }>(
    ctx,
    sql`select ${there} as there, found.item, found.etag from (select 1) once
      left join lateral (select ${item} as item, ${version} as etag from ${tables} where ${where}${own} limit 1) found on true`,
  );
  if (!row!.there) throw notFound(via!.set.name, via!.key);
  if (row!.item === null) {
    if (!via) throw notFound(set.name, key!);
    return { text: undefined, etag: undefined };
  }
  const context = question.references
    ? contextOf(wire, '$ref')
    : contextOf(wire, set.name, options, '/$entity');
  // what is expanded changes without the entity
  const etag = options.expand.length > 0 || question.references ? undefined : row!.etag;
  return { text: `{${[...context, row!.item.slice(1)].join(',')}`, etag };
}

/**
 * One property's value as JSON text with a context, and bare as text; undefined for none.
 * @throws EstateError `not_found`.
 */
export async function readProperty(
  ctx: Ctx,
  {
    model,
    set,
    key,
    property,
    wire,
  }: { model: ODataModel; set: EntitySet; key: string; property: ODataProperty; wire: Wire },
): Promise<{ json: string; bare: string } | undefined> {
  const writing = createWriting(ctx, model);
  const options = { filter: undefined, search: undefined } as NestedOptions;
  const { from, where } = selection(writing, { set, options });
  const text = property.text(ROOT);
  const exact = wire.exactNumbers && property.type === 'Edm.Decimal';
  const [row] = await runStatement<{ json: string | null; bare: string | null }>(
    ctx,
    sql`select found.json, found.json::json #>> '{}' as bare
      from (select ${text} as json from ${from} where ${where} and c.id = ${key}::uuid) found`,
  );
  if (!row) throw notFound(set.name, key);
  if (row.bare === null) return undefined;
  const shown = exact ? JSON.stringify(row.bare) : row.json!;
  const context = contextOf(wire, `${set.name}(${key})/${property.name}`);
  return { json: `{${[...context, `"value":${shown}`].join(',')}}`, bare: row.bare };
}
