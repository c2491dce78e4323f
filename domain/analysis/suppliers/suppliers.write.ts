import { randomUUID } from 'node:crypto';
import { embed, query, type Transaction } from '../../../platform/database.ts';
import type { FoundProduct, FoundSupplier } from './suppliers.types.ts';

/** Maximum rows of one statement. */
const BATCH = 5_000;

/** The results of a run. */
export interface FoundSuppliers {
  suppliers: readonly FoundSupplier[];
  /** Null if the run did not search for products: the stored ones remain. */
  products: readonly FoundProduct[] | null;
}

/** Runs a statement with rows as its JSON parameter. */
type StoreRows = (statement: string, rows: readonly object[]) => Promise<void>;

/**
 * Replaces the stored results by those of a run. A supplier retains its id as long as it shares names, a product as
 * long as its supplier has it.
 * @param breathe called between statements; throws if the run has to stop.
 */
export async function storeSuppliers(
  sql: Transaction,
  { suppliers, products }: FoundSuppliers,
  breathe: () => void,
): Promise<void> {
  const store: StoreRows = async (statement, rows) => {
    for (let from = 0; from < rows.length; from += BATCH) {
      breathe();
      await sql.raw(statement, [JSON.stringify(rows.slice(from, from + BATCH))]);
    }
  };
  // Two runs that end at the same time are serialised.
  await query(sql).run`select pg_advisory_xact_lock(7203052, 0)`;
  const ids = await knownIds(sql, suppliers);
  await query(sql).run`delete from suppliers where vendor_type <> 'product' and id <> all(${ids}::uuid[])`;
  await query(sql).run`delete from suppliers where vendor_type = 'product' and parent_id is null`;
  const now = new Date().toISOString();
  await store(
    UPSERT,
    suppliers.map((supplier, at) => ({
      id: ids[at],
      canonical_name: supplier.canonicalName,
      vendor_type: supplier.kind,
      parent_reason: supplier.parentReason,
      group_name: supplier.group,
      confidence: supplier.confidence,
      category: supplier.categorised?.category,
      sub_category: supplier.categorised?.sub_category,
      category_confidence: supplier.categorised?.confidence,
      reasoning: supplier.categorised?.reasoning,
      categorised_at: supplier.categorised && now,
      placed_at: supplier.placed ? now : null,
    })),
  );
  await store(
    `update suppliers s set parent_id = p.parent_id
     from jsonb_to_recordset(?::jsonb) as p(id uuid, parent_id uuid) where s.id = p.id`,
    suppliers.flatMap(({ parent }, at) => (parent === null ? [] : [{ id: ids[at], parent_id: ids[parent] }])),
  );
  for (const table of ['supplier_names', 'supplier_cards'])
    await query(sql).run`delete from ${embed(table)} n using suppliers s
      where s.id = n.supplier_id and s.vendor_type <> 'product'`;
  await store(
    insertInto('supplier_names'),
    suppliers.flatMap(({ names }, at) =>
      names.map(({ key: name_key, cards: _, ...name }) => ({ supplier_id: ids[at], name_key, ...name })),
    ),
  );
  await storeCards(store, suppliers, ids);
  if (products) await storeProducts(sql, products, suppliers, ids, store);
}

/** Inserts rows with all columns of a table. */
const insertInto = (table: string, alias = 't') =>
  `insert into ${table} as ${alias} select * from jsonb_populate_recordset(null::${table}, ?::jsonb)`;

const UPSERT = `
  ${insertInto('suppliers', 's')}
  on conflict (id) do update set
    canonical_name = excluded.canonical_name, vendor_type = excluded.vendor_type, parent_id = excluded.parent_id,
    parent_reason = excluded.parent_reason, group_name = excluded.group_name, confidence = excluded.confidence,
    category = coalesce(excluded.category, s.category),
    sub_category = case when excluded.category is null then s.sub_category else excluded.sub_category end,
    category_confidence =
      case when excluded.category is null then s.category_confidence else excluded.category_confidence end,
    reasoning = case when excluded.category is null then s.reasoning else excluded.reasoning end,
    categorised_at = coalesce(excluded.categorised_at, s.categorised_at),
    placed_at = coalesce(excluded.placed_at, s.placed_at)`;

/** The ids of the stored suppliers that share the most names with those found, each used once; new ids for the rest. */
async function knownIds(sql: Transaction, suppliers: readonly FoundSupplier[]): Promise<string[]> {
  const rows = await query(sql).rows<{ name_key: string; supplier_id: string }>`select distinct n.name_key,
    n.supplier_id from supplier_names n join suppliers s on s.id = n.supplier_id
     where s.vendor_type <> 'product'`;
  const byKey = new Map(rows.map(({ name_key, supplier_id }) => [name_key, supplier_id]));
  const shared = suppliers.flatMap(({ names }, at) => {
    const counts = new Map<string, number>();
    for (const key of new Set(names.map((name) => name.key))) {
      const id = byKey.get(key);
      if (id) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return [...counts].map(([id, count]) => ({ at, id, count }));
  });
  shared.sort((a, b) => b.count - a.count || a.at - b.at || (a.id < b.id ? -1 : 1));
  const ids = new Map<number, string>();
  const given = new Set<string>();
  for (const { at, id } of shared) {
    if (ids.has(at) || given.has(id)) continue;
    ids.set(at, id);
    given.add(id);
  }
  return suppliers.map((_, at) => ids.get(at) ?? randomUUID());
}

async function storeCards(
  store: StoreRows,
  suppliers: readonly { cards: readonly string[]; supplied: FoundSupplier['supplied'] }[],
  ids: readonly string[],
): Promise<void> {
  const rows = suppliers.flatMap(({ cards, supplied }, at) => [
    ...cards.map((card_id) => ({ supplier_id: ids[at], card_id, role: 'provider', shared_by: 1 })),
    ...supplied.map(({ card: card_id, sharedBy: shared_by }) => ({
      supplier_id: ids[at],
      card_id,
      role: 'supplied',
      shared_by,
    })),
  ]);
  await store(insertInto('supplier_cards'), rows);
}

async function storeProducts(
  sql: Transaction,
  products: readonly FoundProduct[],
  suppliers: readonly FoundSupplier[],
  supplierIds: readonly string[],
  store: StoreRows,
): Promise<void> {
  const rows = await query(sql).rows<{ id: string; parent_id: string; product_key: string }>`select id,
    parent_id, product_key from suppliers where vendor_type = 'product'`;
  const known = new Map(rows.map(({ id, parent_id, product_key }) => [`${parent_id} ${product_key}`, id]));
  const ids = products.map(
    ({ supplier, key }) => known.get(`${supplierIds[supplier]} ${key}`) ?? randomUUID(),
  );
  await query(sql).run`delete from suppliers where vendor_type = 'product' and id <> all(${ids}::uuid[])`;
  await query(sql).run`delete from supplier_cards k using suppliers s
    where s.id = k.supplier_id and s.vendor_type = 'product'`;
  await store(
    UPSERT,
    products.map(({ supplier, key, name }, at) => ({
      id: ids[at],
      canonical_name: name,
      vendor_type: 'product',
      parent_id: supplierIds[supplier],
      parent_reason: 'what the supplier supplies is named so, but for versions, environments and regions',
      group_name: suppliers[supplier]!.group,
      product_key: key,
      confidence: 1,
      placed_at: new Date().toISOString(),
    })),
  );
  const others = products.map(({ supplied }) => ({ cards: [], supplied }));
  await storeCards(store, others, ids);
}
