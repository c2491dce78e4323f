import type { TestApp } from '../../support/harness.ts';

export type CardRow = { id?: string; type?: string; name: string; [column: string]: unknown };

/** Puts a card into the database as it is; the reads under test do not depend on how it got there. */
export async function putCard(t: TestApp, row: CardRow): Promise<string> {
  const [card] = await t.services
    .db('cards')
    .insert({
      type: 'Application',
      ...row,
      ...(row.attributes ? { attributes: JSON.stringify(row.attributes) } : {}),
    })
    .returning('id');
  await raise(t, `cards:${row.type ?? 'Application'}`);
  return card.id;
}

/** Raises topics as a command does. */
export async function raise(t: TestApp, ...topics: string[]): Promise<void> {
  await t.services.db.raw("select record_events('[]'::jsonb, ?::text[])", [topics]);
}

export async function putRelation(t: TestApp, type: string, source: string, target: string): Promise<string> {
  const [relation] = await t.services
    .db('relations')
    .insert({ type, source_id: source, target_id: target })
    .returning('id');
  return relation.id;
}

export async function putStakeholder(t: TestApp, card: string, user: string, role: string): Promise<void> {
  await t.services.db('stakeholders').insert({ card_id: card, user_id: user, role });
  await raise(t, 'cards:Application');
}

export const names = (body: { items: { name: string }[] }): string[] => body.items.map((item) => item.name);
