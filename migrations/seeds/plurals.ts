import { cardTypeSeeds, pluralSeeds } from '../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { query, type Sql } from '../../platform/database.ts';

/** Adds what several cards are called to the built-in types that have their own label still. */
export async function addPlurals(sql: Sql): Promise<void> {
  for (const { key, label } of cardTypeSeeds) {
    const plural = JSON.stringify({ plural: pluralSeeds[key] });
    await query(sql).run`update card_types set translations = translations || ${plural}::jsonb
      where key = ${key} and label = ${label} and not jsonb_exists(translations, 'plural')`;
  }
  await query(sql).run`select raise_topics(array['metamodel'])`;
}
