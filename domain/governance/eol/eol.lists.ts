import { query, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { createMatcher, folded, type KnownName, type Matcher } from './eol.match.ts';

const products = 'eol_products p';
const text = (sql: string): SortField => ({ sql, type: 'text' });
const name: SortField = { ...text('p.name'), immutable: true };

export const cycleSorts: Record<string, SortField> = {
  releaseDate: text('y.release_date::text'),
  cycle: { ...text('y.cycle'), immutable: true },
  eol: text('y.eol_from::text'),
};

/** The products with facts. */
export const productList = defineList({
  name: 'eol-products',
  from: products,
  id: 'p.name',
  idType: 'text',
  sorts: {
    name,
    label: text('lower(p.label)'),
    category: text('p.category'),
  },
  defaultSort: 'name',
  members: {
    name: 'p.name',
    label: 'p.label',
    category: 'p.category',
    aliases: 'to_json(p.aliases)',
    link: 'p.link',
    cycles: '(select count(*) from eol_cycles y where y.product = p.name)',
    source: 'p.source',
    checked_at: 'utc(p.checked_at)',
    changed_at: 'utc(p.changed_at)',
  },
  search: `fold(concat_ws(' ', p.name, p.label, p.category, array_to_string(p.aliases, ' ')))`,
});

/** A date if it is known, otherwise the flag. */
const dated = (date: string, flag: string) => `coalesce(to_jsonb(${date}), to_jsonb(${flag}))`;

/** The cycles of one product, within which their names are unique. */
const cycleList = (product: string): ListSpec => ({
  name: 'eol-cycles',
  from: `(select * from eol_cycles where product = ${textLiteral(product)}) y`,
  id: 'y.cycle',
  idType: 'text',
  sorts: cycleSorts,
  defaultSort: 'releaseDate',
  defaultDir: 'desc',
  members: {
    cycle: 'y.cycle',
    releaseDate: 'y.release_date',
    eol: dated('y.eol_from', 'y.is_eol'),
    latest: 'y.latest',
    latestReleaseDate: 'y.latest_release_date',
    lts: dated('y.lts_from', 'y.is_lts'),
    support: dated('y.support_until', 'y.is_supported'),
    discontinued: dated('y.discontinued_from', 'y.is_discontinued'),
    codename: 'y.codename',
    link: 'y.link',
  },
  search: `fold(concat_ws(' ', y.cycle, y.codename))`,
});

/** The release cycles of a product, which may be named by an alias. @throws EstateError `not_found`. */
export async function listCycles(ctx: Ctx, product: string, params: ListParams): Promise<JsonText> {
  const [known] = await query(ctx.db).rows<{ name: string }>`select name from eol_products
    where name = ${product} or ${product} = any(aliases) order by name <> ${product} limit 1`;
  if (!known) throw notFound('product', product);
  return await runList(ctx, cycleList(known.name), [], params, { asked: [known.name] });
}

/** The lowest score of listed products. */
const LEAST_SCORE = 0.3;
const MOST_MATCHES = 200;

/** The products that match a text, with a score from 0 to 1. @throws EstateError `validation_failed`. */
export async function findProducts(
  ctx: Ctx,
  { search, ...params }: ListParams & { search: string },
): Promise<JsonText> {
  if (folded(search).trim().length < 2) {
    throw invalidField('search', 'too_short', 'must hold at least two characters');
  }
  const matcher = await loadMatcher(ctx.db);
  const found = JSON.stringify(matcher.find(search, MOST_MATCHES, LEAST_SCORE));
  const { search: _, ...products } = productList;
  const matches: ListSpec = {
    ...products,
    name: 'eol-product-matches',
    from: `eol_products p join jsonb_to_recordset(${textLiteral(found)}::jsonb) as m(name text, score numeric)
           on m.name = p.name`,
    sorts: { score: { sql: 'm.score', type: 'numeric', filled: true }, name },
    defaultSort: 'score',
    defaultDir: 'desc',
    members: { name: 'p.name', label: 'p.label', score: 'm.score' },
  };
  return await runList(ctx, matches, [], params, { asked: [folded(search)] });
}

/** A matcher of all products by their names. */
export async function loadMatcher(sql: Sql): Promise<Matcher> {
  const names = await query(sql).rows<KnownName>`select p.name, p.label, to_json(p.aliases) as aliases,
       (select coalesce(json_agg(json_build_object('cycle', y.cycle, 'codename', y.codename)), '[]')
        from eol_cycles y where y.product = p.name) as cycles
     from eol_products p order by p.name`;
  return createMatcher(names);
}
