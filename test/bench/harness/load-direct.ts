import { cardEvent, cardsTopic } from '../../../domain/inventory/cards/cards.events.ts';
import { hasLevels, LEVEL_FIELD, levelAt } from '../../../domain/inventory/cards/rules/capability.ts';
import { type CardState, diffCard, type Lifecycle } from '../../../domain/inventory/cards/rules/diff.ts';
import { dataQuality, noFacts } from '../../../domain/inventory/cards/rules/quality.ts';
import {
  type NamedEnd,
  relationEvent,
  relationsTopic,
} from '../../../domain/inventory/relations/relations.save.ts';
import type { EventDraft } from '../../../domain/kernel/events/row-changes.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { loadMetamodel } from '../../../domain/kernel/metamodel/metamodel.store.ts';
import { type Db, openDatabase } from '../../../platform/database.ts';
import { type BenchCard, benchCards } from '../landscape/cards.ts';
import { type BenchRelation, benchRelations } from '../landscape/relations.ts';
import type { LandscapeLoad } from './scenario.ts';

const BATCH = 2_000;

/** A loaded card, as its children and relations need it. */
interface Loaded extends NamedEnd {
  /** 1 for a root. */
  depth: number;
}

function* batchesOf<T>(rows: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

async function newIds(db: Db, count: number): Promise<string[]> {
  const { rows } = await db.raw('select uuidv7() as id from generate_series(1, ?::int)', [count]);
  return rows.map(({ id }: { id: string }) => id);
}

function cardState(metamodel: Metamodel, card: BenchCard, id: string, parent: Loaded | undefined): CardState {
  const type = metamodel.cardTypes.get(card.type)!;
  const attributes = { ...card.attributes };
  if (hasLevels(type)) {
    attributes[LEVEL_FIELD] = levelAt({ depth: (parent?.depth ?? 0) + 1, underMacro: false });
  }
  const values = {
    subtype: card.subtype ?? null,
    name: card.name,
    alias: card.alias ?? null,
    description: card.description,
    parent_id: parent?.id ?? null,
    lifecycle: (card.lifecycle as Lifecycle | undefined) ?? null,
    attributes,
    external_id: card.external_id,
  };
  return {
    id,
    type: card.type,
    ...values,
    status: card.status,
    approval_status: 'DRAFT',
    data_quality: dataQuality(type, values, {
      ...noFacts,
      filledRoles: card.stakeholders?.length ?? 0,
    }),
    archived_at: card.status === 'ARCHIVED' ? new Date().toISOString() : null,
  };
}

const record = (db: Db, events: EventDraft[], topics: Iterable<string>) =>
  db.raw('select record_events(?::jsonb, ?::text[])', [JSON.stringify(events), [...topics]]);

/** Texts such as `Group/Tag` or `role:email` of a batch of cards, beside the cards' ids. */
function pairs(states: CardState[], cards: BenchCard[], key: 'tags' | 'stakeholders') {
  const ids: string[] = [];
  const texts: string[] = [];
  for (const [at, card] of cards.entries()) {
    for (const text of card[key] ?? []) {
      ids.push(states[at]!.id);
      texts.push(text);
    }
  }
  return [ids, texts];
}

async function loadCards(
  db: Db,
  metamodel: Metamodel,
  cards: Iterable<BenchCard>,
): Promise<Map<string, Loaded>> {
  const loaded = new Map<string, Loaded>();
  const { rows: admins } = await db.raw(`select id from users where role = 'admin' limit 1`);
  for (const batch of batchesOf(cards)) {
    const ids = await newIds(db, batch.length);
    const states = batch.map((card, at) => {
      const parent = card.parent_external_id === undefined ? undefined : loaded.get(card.parent_external_id)!;
      const state = cardState(metamodel, card, ids[at]!, parent);
      loaded.set(card.external_id, {
        id: state.id,
        name: card.name,
        type: card.type,
        depth: (parent?.depth ?? 0) + 1,
      });
      return state;
    });
    await db.raw(
      `insert into cards (id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status,
                          approval_status, data_quality, external_id, archived_at, created_by, updated_by)
       select v.id, v.type, v.subtype, v.name, v.alias, v.description, v.parent_id, nullif(v.lifecycle, 'null'),
              v.attributes, v.status, v.approval_status, v.data_quality, v.external_id, v.archived_at, ?::uuid, ?::uuid
       from jsonb_to_recordset(?::jsonb) as v(id uuid, type text, subtype text, name text, alias text,
         description text, parent_id uuid, lifecycle jsonb, attributes jsonb, status text, approval_status text,
         data_quality numeric, external_id text, archived_at timestamptz)`,
      [admins[0].id, admins[0].id, JSON.stringify(states)],
    );
    await db.raw(
      `insert into card_tags (card_id, tag_id)
       select v.card_id, t.id from unnest(?::uuid[], ?::text[]) as v(card_id, tag)
       join (select t.id, g.name || '/' || t.name as tag from tags t join tag_groups g on g.id = t.tag_group_id) t
         using (tag)`,
      pairs(states, batch, 'tags'),
    );
    await db.raw(
      `insert into stakeholders (card_id, user_id, role)
       select v.card_id, u.id, split_part(v.holder, ':', 1)
       from unnest(?::uuid[], ?::text[]) as v(card_id, holder)
       join users u on u.email = split_part(v.holder, ':', 2)`,
      pairs(states, batch, 'stakeholders'),
    );
    await record(
      db,
      states.map((state) =>
        cardEvent('card.created', metamodel.cardTypes.get(state.type)!, state, diffCard(null, state)),
      ),
      new Set(states.map(({ type }) => cardsTopic(type))),
    );
  }
  return loaded;
}

async function loadRelations(
  db: Db,
  metamodel: Metamodel,
  relations: Iterable<BenchRelation>,
  cards: ReadonlyMap<string, Loaded>,
): Promise<void> {
  for (const batch of batchesOf(relations)) {
    const ids = await newIds(db, batch.length);
    const stored = batch.map((relation, at) => ({
      id: ids[at]!,
      type: relation.type,
      source_id: cards.get(relation.source_external_id)!.id,
      target_id: cards.get(relation.target_external_id)!.id,
      attributes: relation.attributes,
      description: relation.description ?? null,
    }));
    await db.raw(
      `insert into relations (id, type, source_id, target_id, attributes, description)
       select v.* from jsonb_to_recordset(?::jsonb) as v(id uuid, type text, source_id uuid, target_id uuid,
         attributes jsonb, description text)`,
      [JSON.stringify(stored)],
    );
    await record(
      db,
      stored.map((relation, at) =>
        relationEvent(
          metamodel.relationTypes.get(relation.type)!,
          {
            source: cards.get(batch[at]!.source_external_id)!,
            target: cards.get(batch[at]!.target_external_id)!,
          },
          null,
          relation,
        ),
      ),
      new Set(stored.map(({ type }) => relationsTopic(type))),
    );
  }
}

/**
 * The bench's way past the import, chosen by `--load direct`: writes the landscape, its tags, stakeholders and
 * events, straight into the tables. It is quicker when the import itself is not looked at, and ends with the same
 * rows. The workspace must be prepared.
 */
export async function loadDirect(
  databaseUrl: string,
  options: { cards: number; relations: number; seed: number },
): Promise<LandscapeLoad> {
  const db = openDatabase({ url: databaseUrl, name: 'bench loader', poolMax: 1 });
  try {
    const metamodel = await loadMetamodel(db);
    const start = performance.now();
    const cards = await loadCards(db, metamodel, benchCards(options));
    const between = performance.now();
    await loadRelations(db, metamodel, benchRelations(options), cards);
    const end = performance.now();
    await db.raw('vacuum analyze');
    return { cardsMs: between - start, relationsMs: end - between };
  } finally {
    await db.destroy();
  }
}
