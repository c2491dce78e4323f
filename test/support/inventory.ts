import { command } from '../../domain/kernel/command.ts';
import type { TestServices } from './harness.ts';

/** The columns of a stored card; `parent` names the card above it. */
type StoredCard = { parent?: string; attributes?: object; lifecycle?: object; [column: string]: unknown };
export type StoredRelation = [type: string, source: string, target: string, attributes?: object];

/** Stores cards by type and name, and relations of these, without the rules of requests. @returns ids by name. */
export async function storeInventory(
  t: TestServices,
  cards: Record<string, Record<string, StoredCard>>,
  relations: StoredRelation[] = [],
): Promise<Record<string, string>> {
  const named = Object.entries(cards).flatMap(([type, each]) =>
    Object.entries(each).map(([name, card]) => ({ type, name, ...card })),
  );
  return await command(await t.ctx(), async ({ sql, raise }) => {
    const rows = named.map(({ parent: _, attributes = {}, lifecycle, ...columns }) => ({
      ...columns,
      attributes: JSON.stringify(attributes),
      lifecycle: lifecycle ? JSON.stringify(lifecycle) : null,
    }));
    const stored = await sql('cards').insert(rows).returning(['id', 'name']);
    const ids: Record<string, string> = Object.fromEntries(stored.map(({ id, name }) => [name, id]));
    for (const { name, parent } of named) {
      if (parent) await sql('cards').where({ id: ids[name] }).update({ parent_id: ids[parent] });
    }
    for (const [type, source, target, attributes = {}] of relations) {
      const ends = { source_id: ids[source], target_id: ids[target] };
      await sql('relations').insert({ type, ...ends, attributes: JSON.stringify(attributes) });
    }
    for (const type of Object.keys(cards)) raise(`cards:${type}`);
    for (const [type] of relations) raise(`relations:${type}`);
    return ids;
  });
}
