import { extensions } from '../../../../domain/app/extensions.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

const { cardReferences } = extensions;

/** Columns that refer to cards and have their own code in a merge. */
const custom = ['cards.parent_id', 'relations.source_id', 'relations.target_id', 'card_tags.card_id'];

/** Columns that name a card but follow it in no way: their rows tell of the past, or lead on from the old id. */
const left = new Set([
  'card_merges.survivor_id',
  'card_old_values.card_id',
  'card_redirects.card_id',
  'card_redirects.survivor_id',
  // read anew by the next scan
  'compliance_readings.card_id',
  'events.card_id',
  'events.peer_card_id',
  'import_card_plan.card_id',
  // shown without cards that are gone, and the next search groups the others anew
  'duplicate_clusters.card_ids',
  // drawings are never changed: whoever reads one is led on from the old id
  'diagram_drawings.card_ids',
  // rows of a running import, whose card is checked when they are written
  'import_cost_plan.card_id',
  'import_cost_rows.card_id',
  // the synchronisation goes on from the old id to where its redirect leads, and asks anew with each run
  'itsm_decisions.card_id',
  'itsm_pairs.card_id',
  'itsm_plan_rows.card_id',
  'itsm_review_items.card_id',
  // the next run of the analysis finds them anew
  'modernizations.card_id',
  // about what was proposed for the one card
  'modernization_decisions.card_id',
  'notifications.card_id',
  'supplier_cards.card_id',
]);

it('every column that refers to cards has its way in a merge', async () => {
  const { rows } = await t.services.db.raw(`select conrelid::regclass || '.' || attname as name
     from pg_constraint join pg_attribute on attrelid = conrelid and attnum = any(conkey)
     where contype = 'f' and confrelid = 'cards'::regclass
     union
     select table_name || '.' || column_name from information_schema.columns
     where table_schema = 'public' and (column_name like '%card_id' or column_name like '%card_ids')`);
  const known = new Set([
    ...cardReferences.map(({ table, column }) => `${table}.${column}`),
    ...custom,
    ...left,
  ]);
  const columns: string[] = rows.map(({ name }: { name: string }) => name).sort();
  // a name that is missing here belongs into the cardReferences of an extension, or its rows go with a merged card
  expect(columns.filter((name) => !known.has(name))).toEqual([]);
  for (const { table, column } of cardReferences) expect(columns).toContain(`${table}.${column}`);
});

it('every table that moves has an id, and the columns by which doubles are told', async () => {
  for (const { table, once } of cardReferences) {
    const columns = Object.keys(await t.services.db(table).columnInfo());
    expect(columns).toContain('id');
    for (const column of once?.by ?? []) expect(columns).toContain(column);
  }
});
